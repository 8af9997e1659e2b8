/**
 * The coins of wallets that payments are made from, in the memory of the process:
 * a selection looks at all of them, and reading 100,000 rows takes far longer than
 * choosing among them. They are brought up to date under the lock of the wallet,
 * in the transaction that leases, by reading again what the events since the last
 * time touched (coin-changes.ts); so they are the coins of that very moment,
 * whichever process changed them. What is no event is not trusted: the statement
 * that takes a lease looks at the rows themselves (leases.ts).
 */
import { WALLET_CACHED_COINS_MAX, WALLET_CACHED_EVENTS_MAX } from '../../util/limits.ts';
import type { CoinColumns } from '../coin-columns.ts';
import type { WalletCoin, WalletId } from '../records.ts';
import { checkCoinFilter, isFilteredCoin, isOpenFilter } from '../rules/coins.ts';
import { isActive } from '../rules/leases.ts';
import type { CoinFilter } from '../store.ts';
import { syncedHeight } from './blocks.ts';
import { ChangedCoins, type EventRow, eventsAfter, newestEvent } from './coin-changes.ts';
import { CoinList } from './coin-list.ts';
import { coinsAgain, unspentCoins } from './coins.ts';
import type { SqlTransaction } from './database.ts';

/** Coins of one wallet, in their order, with leases as they are stored, ended or not. */
interface CachedCoins {
  readonly list: CoinList;
  /** The newest event that they show. */
  readonly event: EventRow;
  /** Of the accounts then. */
  readonly accounts: AccountState;
}

interface AccountState {
  /** All that coins tell of accounts. */
  readonly names: string;
  /** Changes when an address becomes one of an account. */
  readonly addresses: string;
}

/** Coins to choose from, and the same in columns. */
export interface FreeCoins {
  readonly coins: readonly WalletCoin[];
  readonly columns: CoinColumns;
}

export class CoinCache {
  /** The one that was used last is last. */
  readonly #wallets = new Map<WalletId, CachedCoins>();

  /** Coins of the filter that are neither leased nor evicted, in their order. The wallet is locked. ACCOUNT_QUERY, INVALID_PARAM. */
  async freeCoins(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter): Promise<FreeCoins> {
    checkCoinFilter(filter);
    const synced = await syncedHeight(tx, walletId);
    const { coins, columns } = await this.#coins(tx, walletId);
    const isOpen = isOpenFilter(filter);
    // As long as it can get, at once: an array that grows is copied again and again, and all of that is garbage.
    const free = new Array<WalletCoin>(coins.length);
    const positions = new Uint32Array(coins.length);
    let count = 0;
    for (let i = 0; i < coins.length; i++) {
      const coin = isOpen && columns.plain[i] === 1 ? coins[i] : freed(coins[i], filter, synced);
      if (coin === null) continue;
      free[count] = coin;
      positions[count++] = i;
    }
    free.length = count;
    return { coins: free, columns: columns.at(positions.subarray(0, count)) };
  }

  has(walletId: WalletId): boolean {
    return this.#wallets.has(walletId);
  }

  forget(walletId: WalletId): void {
    this.#wallets.delete(walletId);
  }

  async #coins(tx: SqlTransaction, walletId: WalletId): Promise<CoinList> {
    const before = this.#wallets.get(walletId);
    // What is read here is committed, and nothing was written yet: it holds also if this transaction is undone.
    const now = (before && (await refreshed(tx, walletId, before))) ?? (await loaded(tx, walletId));
    this.#wallets.delete(walletId);
    if (now.event !== null) this.#wallets.set(walletId, { ...now, event: now.event });
    this.#dropOldest();
    return now.list;
  }

  #dropOldest(): void {
    let count = 0;
    for (const { list } of this.#wallets.values()) count += list.coins.length;
    for (const [walletId, { list }] of this.#wallets) {
      if (count <= WALLET_CACHED_COINS_MAX) return;
      this.#wallets.delete(walletId);
      count -= list.coins.length;
    }
  }
}

/** The coin without a lease that has ended; null: the filter does not let it through, or it is leased or evicted. */
function freed(coin: WalletCoin, filter: CoinFilter, synced: number | null): WalletCoin | null {
  if (coin.isEvicted || !isFilteredCoin(coin, filter, synced)) return null;
  if (coin.lease === null) return coin;
  return isActive(coin.lease, filter.now) ? null : { ...coin, lease: null };
}

/** All coins from the database. `event` is null if nothing of what happened in the wallet is known. */
async function loaded(tx: SqlTransaction, walletId: WalletId): Promise<Omit<CachedCoins, 'event'> & { readonly event: EventRow | null }> {
  const list = new CoinList(await unspentCoins(tx, walletId));
  return { list, event: (await newestEvent(tx, walletId)) ?? null, accounts: await accountState(tx, walletId) };
}

/** Null: too much has happened since. */
async function refreshed(tx: SqlTransaction, walletId: WalletId, before: CachedCoins): Promise<CachedCoins | null> {
  const events = await eventsAfter(tx, walletId, before.event, WALLET_CACHED_EVENTS_MAX);
  const accounts = await accountState(tx, walletId);
  if (events === null || accounts.names !== before.accounts.names) return null;
  const changed = new ChangedCoins(events);
  if (accounts.addresses !== before.accounts.addresses)
    for (const { account, outpoint } of before.list.coins) if (account === null) changed.addOutpoint(outpoint);
  await changed.addSpenders(tx, walletId);
  const event = events.at(-1) ?? before.event;
  if (changed.isEmpty) return { list: before.list, event, accounts };
  const { keys, coins } = await coinsAgain(tx, walletId, changed.txIds, changed.outpoints);
  return { list: changed.withoutDeleted(before.list).changed(keys, coins), event, accounts };
}

async function accountState({ db }: SqlTransaction, walletId: WalletId): Promise<AccountState> {
  const rows = await db
    .selectFrom('accounts')
    .select(['id', 'account_name', 'next_external_index', 'next_internal_index'])
    .where('wallet_id', '=', walletId)
    .orderBy('id')
    .execute();
  return {
    names: JSON.stringify(rows.map((row) => [row.id, row.account_name])),
    addresses: JSON.stringify(rows.map((row) => [row.id, row.next_external_index, row.next_internal_index])),
  };
}
