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
import type { WalletCoin, WalletId } from '../records.ts';
import { checkCoinFilter, isFilteredCoin } from '../rules/coins.ts';
import { isActive } from '../rules/leases.ts';
import type { CoinFilter } from '../store.ts';
import { syncedHeight } from './blocks.ts';
import { ChangedCoins, type EventRow, eventsAfter, newestEvent } from './coin-changes.ts';
import { withChangedCoins } from './coin-list.ts';
import { coinsAgain, unspentCoins } from './coins.ts';
import type { SqlTransaction } from './database.ts';

/** Coins of one wallet, in their order, with leases as they are stored, ended or not. */
interface CachedCoins {
  readonly coins: readonly WalletCoin[];
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

export class CoinCache {
  /** The one that was used last is last. */
  readonly #wallets = new Map<WalletId, CachedCoins>();

  /** Coins of the filter that are neither leased nor evicted, in their order. The wallet is locked. ACCOUNT_QUERY, INVALID_PARAM. */
  async freeCoins(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter): Promise<WalletCoin[]> {
    checkCoinFilter(filter);
    const synced = await syncedHeight(tx, walletId);
    const free: WalletCoin[] = [];
    for (const coin of await this.#coins(tx, walletId)) {
      if (coin.isEvicted || !isFilteredCoin(coin, filter, synced)) continue;
      if (coin.lease === null) free.push(coin);
      else if (!isActive(coin.lease, filter.now)) free.push({ ...coin, lease: null });
    }
    return free;
  }

  has(walletId: WalletId): boolean {
    return this.#wallets.has(walletId);
  }

  forget(walletId: WalletId): void {
    this.#wallets.delete(walletId);
  }

  async #coins(tx: SqlTransaction, walletId: WalletId): Promise<readonly WalletCoin[]> {
    const before = this.#wallets.get(walletId);
    // What is read here is committed, and nothing was written yet: it holds also if this transaction is undone.
    const now = (before && (await refreshed(tx, walletId, before))) ?? (await loaded(tx, walletId));
    this.#wallets.delete(walletId);
    if (now.event !== null) this.#wallets.set(walletId, { ...now, event: now.event });
    this.#dropOldest();
    return now.coins;
  }

  #dropOldest(): void {
    let count = 0;
    for (const { coins } of this.#wallets.values()) count += coins.length;
    for (const [walletId, { coins }] of this.#wallets) {
      if (count <= WALLET_CACHED_COINS_MAX) return;
      this.#wallets.delete(walletId);
      count -= coins.length;
    }
  }
}

/** All coins from the database. `event` is null if nothing of what happened in the wallet is known. */
async function loaded(tx: SqlTransaction, walletId: WalletId): Promise<Omit<CachedCoins, 'event'> & { readonly event: EventRow | null }> {
  const coins = await unspentCoins(tx, walletId);
  return { coins, event: (await newestEvent(tx, walletId)) ?? null, accounts: await accountState(tx, walletId) };
}

/** Null: too much has happened since. */
async function refreshed(tx: SqlTransaction, walletId: WalletId, before: CachedCoins): Promise<CachedCoins | null> {
  const events = await eventsAfter(tx, walletId, before.event, WALLET_CACHED_EVENTS_MAX);
  const accounts = await accountState(tx, walletId);
  if (events === null || accounts.names !== before.accounts.names) return null;
  const changed = new ChangedCoins(events);
  if (accounts.addresses !== before.accounts.addresses)
    for (const { account, outpoint } of before.coins) if (account === null) changed.addOutpoint(outpoint);
  await changed.addSpenders(tx, walletId);
  const event = events.at(-1) ?? before.event;
  if (changed.isEmpty) return { coins: before.coins, event, accounts };
  const { keys, coins } = await coinsAgain(tx, walletId, changed.txIds, changed.outpoints);
  return { coins: withChangedCoins(changed.withoutDeleted(before.coins), keys, coins), event, accounts };
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
