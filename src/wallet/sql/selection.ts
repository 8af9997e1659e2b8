/** Choosing among the free coins of a wallet and leasing what was chosen, in the transaction that the caller began. */
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { isUnspentError } from '../../util/errors.ts';
import type { WalletId } from '../records.ts';
import type { ChooseCoins, CoinFilter, LeaseRequest } from '../store.ts';
import type { CoinCache } from './coin-cache.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { takeLeases } from './leases.ts';
import { lockWallet } from './locks.ts';

export interface CoinChoice<T> {
  readonly walletId: WalletId;
  readonly filter: CoinFilter;
  readonly choose: ChooseCoins<T>;
  readonly lease: LeaseRequest;
}

/** Locks the wallet. Throws as `takeLeases`, ACCOUNT_QUERY, and what `choose` throws. */
export async function chooseCoins<T extends { readonly coins: readonly Outpoint[] }>(
  tx: SqlTransaction,
  events: EventLog,
  cache: CoinCache,
  { walletId, filter, choose, lease }: CoinChoice<T>,
): Promise<T> {
  await lockWallet(tx, walletId);
  const wasCached = cache.has(walletId);
  const chosen = choose(await cache.freeCoins(tx, walletId, filter));
  try {
    await takeLeases(tx, events, walletId, chosen.coins, lease);
    return chosen;
  } catch (error) {
    cache.forget(walletId);
    if (!wasCached || !isUnspentError(error)) throw error;
  }
  // Something else than a store may have changed rows, which leaves no events: they are all read, and that counts.
  const second = choose(await cache.freeCoins(tx, walletId, filter));
  await takeLeases(tx, events, walletId, second.coins, lease);
  return second;
}
