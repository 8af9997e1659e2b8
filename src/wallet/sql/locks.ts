/**
 * Who may write. In PostgreSQL a transaction that writes locks the rows of the
 * wallets it changes, in the order of their ids: writes of one wallet happen one
 * after the other, and two writers cannot wait for each other. SQLite has one
 * writer at a time for the whole database; there it only looks whether the
 * wallets exist.
 */
import { sql } from 'kysely';
import type { WalletId } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import type { SqlTransaction } from './database.ts';

/** WALLET_UNKNOWN. */
export async function lockWallet(tx: SqlTransaction, walletId: WalletId): Promise<void> {
  await lockWallets(tx, [walletId]);
}

/** WALLET_UNKNOWN. */
export async function lockWallets(tx: SqlTransaction, walletIds: readonly WalletId[]): Promise<void> {
  if (walletIds.length === 0) return;
  const query = tx.db.selectFrom('wallets').select('id').where('id', 'in', walletIds).orderBy('id');
  const rows = await (tx.kind === 'postgres' ? query.forNoKeyUpdate() : query).execute();
  const found = new Set(rows.map(({ id }) => id));
  const missing = walletIds.find((id) => !found.has(id));
  if (missing !== undefined) throw refusal.walletUnknown(missing);
}

/** Every wallet, and then the blocks: a wallet that is made meanwhile cannot stand on a block that goes. */
export async function lockEverything(tx: SqlTransaction): Promise<WalletId[]> {
  const query = tx.db.selectFrom('wallets').select('id').orderBy('id');
  if (tx.kind === 'sqlite') return (await query.execute()).map(({ id }) => id);
  await query.forNoKeyUpdate().execute();
  await sql`LOCK TABLE blocks IN SHARE ROW EXCLUSIVE MODE`.execute(tx.db);
  return (await query.execute()).map(({ id }) => id);
}
