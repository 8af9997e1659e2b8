/**
 * Wallets: their rows, where they stand on the chain, their encrypted secrets,
 * and how far the feeds are.
 */
import { FeedPositions } from '../../sql/feed-position.ts';
import { listTable } from '../../sql/lists.ts';
import type { WalletId, WalletInfo } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import { checkAfter, checkName, isStorable } from '../rules/texts.ts';
import type { FeedPosition, NewWallet, Page, WalletChange, WalletSecrets } from '../store.ts';
import { storeBlocks } from './blocks.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { endSpentLeases } from './lease-ends.ts';
import { lockWallet } from './locks.ts';
import { checkPage } from './pages.ts';
import { checked32 } from './row-checks.ts';
import type { WalletTables } from './tables.ts';

export const walletFeeds = new FeedPositions<WalletTables>('feed_positions');

/** The form of the rows of a wallet; a later program may write another. */
const MANAGER_VERSION = 1;

/** WALLET_EXISTS, INVALID_PARAM, WATCH_ONLY, MASTER_KEY_NEEDED. */
export async function insertWallet(tx: SqlTransaction, wallet: NewWallet): Promise<WalletInfo> {
  checkName('a wallet', wallet.name);
  if (wallet.isWatchOnly && wallet.secrets !== undefined) throw refusal.watchOnly(wallet.name);
  if (!wallet.isWatchOnly && wallet.secrets === undefined) throw refusal.masterKeyNeeded(wallet.name);
  const row = await tx.db
    .insertInto('wallets')
    .values({
      wallet_name: wallet.name,
      is_imported: wallet.isImported ? 1 : 0,
      manager_version: MANAGER_VERSION,
      is_watch_only: wallet.isWatchOnly ? 1 : 0,
      master_hd_pub_key: wallet.masterPublicKey ?? null,
    })
    .onConflict((conflict) => conflict.column('wallet_name').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (row === undefined) throw refusal.walletExists(wallet.name);
  await tx.db
    .insertInto('wallet_sync_states')
    .values({ wallet_id: row.id, synced_height: null, birthday_height: null, birthday_timestamp: wallet.birthday ?? null })
    .execute();
  if (wallet.secrets !== undefined)
    await tx.db
      .insertInto('wallet_secrets')
      .values({ wallet_id: row.id, ...secretColumns(wallet.secrets) })
      .execute();
  return walletById(tx, row.id);
}

const walletQuery = ({ db }: SqlTransaction) =>
  db
    .selectFrom('wallets as w')
    .innerJoin('wallet_sync_states as s', 's.wallet_id', 'w.id')
    .leftJoin('blocks as b', 'b.block_height', 's.synced_height')
    .leftJoin('blocks as c', 'c.block_height', 's.birthday_height')
    .select(['w.id', 'w.wallet_name', 'w.is_imported', 'w.is_watch_only', 'w.master_hd_pub_key', 's.birthday_timestamp'])
    .select(['b.block_height as synced_height', 'b.header_hash as synced_hash', 'b.block_timestamp as synced_timestamp'])
    .select(['c.block_height as birthday_height', 'c.header_hash as birthday_hash', 'c.block_timestamp as birthday_block_timestamp']);

type WalletColumns = Awaited<ReturnType<ReturnType<typeof walletQuery>['executeTakeFirstOrThrow']>>;

function infoOf(row: WalletColumns): WalletInfo {
  const block = (height: number | null, hash: Uint8Array | null, timestamp: number | null) =>
    height === null || hash === null || timestamp === null
      ? null
      : { height, hash: checked32({ table: 'blocks', id: height }, 'header_hash', hash), timestamp };
  return {
    id: row.id,
    name: row.wallet_name,
    isWatchOnly: row.is_watch_only === 1,
    isImported: row.is_imported === 1,
    masterPublicKey: row.master_hd_pub_key,
    syncedTo: block(row.synced_height, row.synced_hash, row.synced_timestamp),
    birthday: row.birthday_timestamp,
    birthdayBlock: block(row.birthday_height, row.birthday_hash, row.birthday_block_timestamp),
  };
}

async function walletById(tx: SqlTransaction, walletId: WalletId): Promise<WalletInfo> {
  return infoOf(await walletQuery(tx).where('w.id', '=', walletId).executeTakeFirstOrThrow());
}

export async function walletsById(tx: SqlTransaction, walletIds: readonly WalletId[]): Promise<Map<WalletId, WalletInfo>> {
  const list = listTable(
    tx.kind,
    { wallet_id: 'integer' },
    walletIds.map((id) => [id]),
  );
  const rows = await walletQuery(tx)
    .where('w.id', 'in', (eb) => eb.selectFrom(list.as('v')).select('v.wallet_id'))
    .execute();
  return new Map(rows.map((row) => [row.id, infoOf(row)]));
}

export async function walletByName(tx: SqlTransaction, name: string): Promise<WalletInfo> {
  if (!isStorable(name)) throw refusal.walletUnknown(name);
  const row = await walletQuery(tx).where('w.wallet_name', '=', name).executeTakeFirst();
  if (row === undefined) throw refusal.walletUnknown(name);
  return infoOf(row);
}

/** Names are compared by their bytes in both databases, whatever the locale of the server is. */
export async function listWallets(tx: SqlTransaction, page?: Page<string>): Promise<WalletInfo[]> {
  checkPage(page);
  checkAfter(page?.after);
  let query = walletQuery(tx).orderBy('w.wallet_name');
  if (page !== undefined) query = query.limit(page.limit);
  if (page?.after !== undefined) query = query.where('w.wallet_name', '>', page.after);
  return (await query.execute()).map(infoOf);
}

/** Locks the wallet. */
export async function changeWallet(tx: SqlTransaction, events: EventLog, walletId: WalletId, change: WalletChange): Promise<WalletInfo> {
  const { birthday, birthdayBlock, syncedTo } = change;
  await lockWallet(tx, walletId);
  const before = await walletById(tx, walletId);
  await storeBlocks(
    tx,
    [birthdayBlock, syncedTo].filter((block) => block !== undefined),
  );
  await tx.db
    .updateTable('wallet_sync_states')
    .set({
      birthday_timestamp: birthday ?? before.birthday,
      birthday_height: birthdayBlock?.height ?? before.birthdayBlock?.height ?? null,
      synced_height: syncedTo?.height ?? before.syncedTo?.height ?? null,
    })
    .where('wallet_id', '=', walletId)
    .execute();
  if (syncedTo !== undefined && syncedTo.height !== before.syncedTo?.height) events.tip(walletId, syncedTo);
  await endSpentLeases(tx, events, [walletId]);
  return walletById(tx, walletId);
}

const secretColumns = ({ masterParams, cryptoPrivateKey, cryptoScriptKey, masterPrivateKey }: WalletSecrets) => ({
  master_priv_params: masterParams,
  encrypted_crypto_priv_key: cryptoPrivateKey,
  encrypted_crypto_script_key: cryptoScriptKey,
  encrypted_master_hd_priv_key: masterPrivateKey,
});

/** Null: the wallet is watch-only. WALLET_UNKNOWN. */
export async function readSecrets(tx: SqlTransaction, walletId: WalletId): Promise<WalletSecrets | null> {
  const row = await tx.db
    .selectFrom('wallets as w')
    .leftJoin('wallet_secrets as s', 's.wallet_id', 'w.id')
    .selectAll('s')
    .where('w.id', '=', walletId)
    .executeTakeFirst();
  if (row === undefined) throw refusal.walletUnknown(walletId);
  if (row.master_priv_params === null || row.encrypted_crypto_priv_key === null || row.encrypted_master_hd_priv_key === null) return null;
  return {
    masterParams: row.master_priv_params,
    cryptoPrivateKey: row.encrypted_crypto_priv_key,
    cryptoScriptKey: row.encrypted_crypto_script_key,
    masterPrivateKey: row.encrypted_master_hd_priv_key,
  };
}

export async function writeSecrets(tx: SqlTransaction, walletId: WalletId, secrets: WalletSecrets): Promise<void> {
  await lockWallet(tx, walletId);
  const { is_watch_only, wallet_name } = await tx.db
    .selectFrom('wallets')
    .select(['is_watch_only', 'wallet_name'])
    .where('id', '=', walletId)
    .executeTakeFirstOrThrow();
  if (is_watch_only === 1) throw refusal.watchOnly(wallet_name);
  await tx.db.updateTable('wallet_secrets').set(secretColumns(secrets)).where('wallet_id', '=', walletId).execute();
}

/** FEED_MOVED. */
export async function moveWalletFeed(tx: SqlTransaction, move: FeedPosition): Promise<void> {
  if (!(await walletFeeds.move(tx, move))) throw refusal.feedMoved(move.feed);
}
