/**
 * Amounts in documents: the chain's own coin first, then assets, quantities as
 * decimal strings.
 */
import { hexOf } from './dialect.ts';
import type { AmountJson } from './json.ts';
import type { Balance } from './view.ts';

export function amountsJson(unit: string, value: string, assets: Balance['assets']): AmountJson[] {
  const list: AmountJson[] = [{ unit, quantity: value }];
  for (const { policy, name, quantity } of assets) {
    const [policyId, assetName] = [hexOf(policy), hexOf(name)];
    list.push({ unit: policyId + assetName, policy_id: policyId, asset_name: assetName, quantity: quantity.toString() });
  }
  return list;
}
