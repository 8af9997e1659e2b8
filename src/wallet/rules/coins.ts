/** Coins in lists: their order, and which of them a filter lets through. */
import type { WalletCoin } from '../records.ts';
import type { CoinFilter, CoinPlace } from '../store.ts';
import { checkAccountFilter, isOfAccount } from './accounts.ts';
import { checkDepths, confirmations, isDeepEnough, isMature } from './confirmations.ts';
import { compareOutpoints } from './leases.ts';

/** By amount, then txid and index. */
export function compareCoins(a: CoinPlace, b: CoinPlace): number {
  return a.amount === b.amount ? compareOutpoints(a.outpoint, b.outpoint) : a.amount < b.amount ? -1 : 1;
}

/** Throws ACCOUNT_QUERY, INVALID_PARAM. */
export function checkCoinFilter(filter: CoinFilter): void {
  checkAccountFilter(filter);
  checkDepths(filter);
}

/** It lets through all coins but those of coinbases, whatever account they are of and however deep they are. */
export function isOpenFilter({ scope, minConfs = 0, maxConfs }: CoinFilter): boolean {
  return scope === undefined && minConfs === 0 && maxConfs === undefined;
}

/** The filter was checked. `syncedHeight`: null: the wallet is on no block. */
export function isFilteredCoin(
  coin: Pick<WalletCoin, 'account' | 'height' | 'isCoinbase'>,
  filter: CoinFilter,
  syncedHeight: number | null,
): boolean {
  const confs = confirmations(coin.height, syncedHeight);
  if (!isOfAccount(coin.account, filter) || !isDeepEnough(confs, filter)) return false;
  return isMature(coin.isCoinbase, confs, filter.coinbaseMaturity ?? 0);
}
