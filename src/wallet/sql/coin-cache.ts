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
import type { FreeCoins } from '../free-coins.ts';
import type { WalletId } from '../records.ts';
import { checkCoinFilter } from '../rules/coins.ts';
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

export class CoinCache {
  /** The one that was used last is last. */
  readonly #wallets = new Map<WalletId, CachedCoins>();

  /** Coins of the filter that are neither leased nor evicted, in their order. The wallet is locked. ACCOUNT_QUERY, INVALID_PARAM. */
  async freeCoins(tx: SqlTransaction, walletId: WalletId, filter: CoinFilter): Promise<FreeCoins> {
    checkCoinFilter(filter);
    const synced = await syncedHeight(tx, walletId);
    return (await this.#coins(tx, walletId)).free(filter, synced);
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
    for (const { list } of this.#wallets.values()) count += list.count;
    for (const [walletId, { list }] of this.#wallets) {
      if (count <= WALLET_CACHED_COINS_MAX) return;
      this.#wallets.delete(walletId);
      count -= list.count;
    }
  }
}

/** All coins from the database. `event` is null if nothing of what happened in the wallet is known. */
async function loaded(tx: SqlTransaction, walletId: WalletId): Promise<Omit<CachedCoins, 'event'> & { readonly event: EventRow | null }> {
  const list = new CoinList();
  for await (const coins of unspentCoins(tx, walletId)) list.append(coins);
  return { list, event: (await newestEvent(tx, walletId)) ?? null, accounts: await accountState(tx, walletId) };
}

/**
 * Null: too much has happened since. The list itself changes. If it is ahead of its event, because a transaction ended in
 * between, that does no harm: the same coins are read again the next time.
 */
async function refreshed(tx: SqlTransaction, walletId: WalletId, before: CachedCoins): Promise<CachedCoins | null> {
  const events = await eventsAfter(tx, walletId, before.event, WALLET_CACHED_EVENTS_MAX);
  const accounts = await accountState(tx, walletId);
  if (events === null || accounts.names !== before.accounts.names) return null;
  const changed = new ChangedCoins(events);
  if (accounts.addresses !== before.accounts.addresses)
    for (const outpoint of before.list.outpointsWithoutAccount()) changed.addOutpoint(outpoint);
  await changed.addSpenders(tx, walletId);
  const event = events.at(-1) ?? before.event;
  if (!changed.isEmpty) {
    const { keys, coins } = await coinsAgain(tx, walletId, changed.txIds, changed.outpoints);
    before.list.removeTxs(changed.deletedTxs);
    before.list.change(keys, coins);
  }
  return { list: before.list, event, accounts };
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
