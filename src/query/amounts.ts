/**
 * Amounts in documents: the chain's own coin first, then assets, quantities as
 * decimal strings; and amounts as people read them.
 */
import { type Currency, hexOf } from './dialect.ts';
import type { AmountJson } from './json.ts';
import type { Balance } from './view.ts';

export function amountsJson(unit: string, value: string, assets: Balance['assets']): AmountJson[] {
  return [{ unit, quantity: value }, ...assets.map(assetAmountJson)];
}

export function assetAmountJson({ policy, name, quantity }: Balance['assets'][number]): AmountJson {
  const [policyId, assetName] = [hexOf(policy), hexOf(name)];
  return { unit: policyId + assetName, policy_id: policyId, asset_name: assetName, quantity: quantity.toString() };
}

/** An amount of the coin in coins, exact and with all decimals: `12.500000`. */
export function bareCoins(amount: bigint, { decimals }: Pick<Currency, 'decimals'>): string {
  const whole = 10n ** BigInt(decimals);
  return `${(amount / whole).toLocaleString('en-US')}.${(amount % whole).toString().padStart(decimals, '0')}`;
}
