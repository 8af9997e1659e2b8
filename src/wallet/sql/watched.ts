/**
 * What is watched, by its version: a row that triggers raise whenever a wallet,
 * an account or an address is added (schema-triggers.ts). A block is searched at
 * one version and connected only if it is still that one, so that no address can
 * come between the two.
 */
import { refusal } from '../rules/failures.ts';
import type { FeedPlace, WatchedAccounts } from '../store.ts';
import { accountQuery, infoOfAccount } from './accounts.ts';
import { highestBlockBelow } from './blocks.ts';
import type { SqlTransaction } from './database.ts';
import { walletFeeds, walletsById } from './wallets.ts';

export async function readWatchVersion(tx: SqlTransaction): Promise<number> {
  return (await versionQuery(tx).executeTakeFirstOrThrow()).last_version;
}

const versionQuery = ({ db }: SqlTransaction) => db.selectFrom('watch_counter').select('last_version').where('id', '=', 1);

/**
 * WATCH_CHANGED. Whoever adds to what is watched waits until this transaction ends. The wallets that it writes are locked
 * before: one that adds an address to a wallet has that wallet's lock first, too.
 */
export async function checkWatchVersion(tx: SqlTransaction, version: number): Promise<void> {
  const query = versionQuery(tx);
  const row = await (tx.kind === 'postgres' ? query.forShare() : query).executeTakeFirstOrThrow();
  if (row.last_version !== version) throw refusal.watchChanged();
}

/** FEED_MOVED. The feed stays there until this transaction ends. */
export async function holdFeed(tx: SqlTransaction, { feed, position }: FeedPlace): Promise<void> {
  const query = tx.db.selectFrom('feed_positions').select('feed_position').where('feed', '=', feed);
  const row = await (tx.kind === 'postgres' ? query.forShare() : query).executeTakeFirst();
  if ((row?.feed_position ?? null) !== position) throw refusal.feedMoved(feed);
}

export async function readWatched(tx: SqlTransaction, feed: string, since: number): Promise<WatchedAccounts> {
  const rows = await accountQuery(tx).select('a.wallet_id').where('a.watch_version', '>', since).orderBy('a.id').execute();
  const wallets = await walletsById(tx, [...new Set(rows.map((row) => row.wallet_id))]);
  return {
    watchVersion: await readWatchVersion(tx),
    accounts: rows.map((row) => ({ wallet: wallets.get(row.wallet_id)!, account: infoOfAccount(row) })),
    block: await highestBlockBelow(tx, Number.MAX_SAFE_INTEGER),
    position: await walletFeeds.read(tx, feed),
  };
}
