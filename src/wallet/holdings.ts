/**
 * What a wallet has, with the assets in its coins. Balances of the chain's coin are
 * sums that the store keeps; assets are added up from the coins, which a wallet
 * with assets has few of.
 */
import type { Asset } from '../ledgers/asset.ts';
import { toHex } from '../util/bytes.ts';
import { balanceJson, type WalletBalanceJson } from './documents.ts';
import type { FamilyWallets } from './family-wallets.ts';
import type { WalletBalance, WalletInfo } from './records.ts';

export interface WalletHoldings {
  readonly balance: WalletBalance;
  /** By policy and name; null: the chain has none. */
  readonly assets: readonly Asset[] | null;
}

export async function holdingsOf(wallets: FamilyWallets, { id }: WalletInfo): Promise<WalletHoldings> {
  const { store, now, coinbaseMaturity, hasAssets } = wallets;
  const filter = { now: now(), coinbaseMaturity };
  const balance = await store.balance(id, filter);
  return { balance, assets: hasAssets ? assetSums((await store.listCoins(id, filter)).flatMap(({ assets }) => assets)) : null };
}

export async function holdingsJson(wallets: FamilyWallets, wallet: WalletInfo): Promise<WalletBalanceJson> {
  const { balance, assets } = await holdingsOf(wallets, wallet);
  return balanceJson(balance, assets);
}

function assetSums(assets: readonly Asset[]): Asset[] {
  const sums = new Map<string, Asset>();
  for (const asset of assets) {
    const unit = `${toHex(asset.policy)}.${toHex(asset.name)}`;
    sums.set(unit, { ...asset, quantity: asset.quantity + (sums.get(unit)?.quantity ?? 0n) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, asset]) => asset);
}
