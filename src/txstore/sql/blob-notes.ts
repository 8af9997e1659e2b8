/**
 * Which records a pass has deleted whose bytes elsewhere may be there still: noted
 * in the transaction that deletes them, and struck out when their bytes are gone.
 * So whoever is killed in between leaves a note, and nothing has to be searched.
 */
import { sql } from 'kysely';
import { idList } from './load.ts';
import type { TxStoreTransaction } from './tables.ts';

export async function noteBlobs(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<void> {
  if (txIds.length === 0) return;
  await sql`INSERT INTO pruned_blob (hash) SELECT hash FROM ${idList(tx, txIds)} AS v WHERE true ON CONFLICT (hash) DO NOTHING`.execute(
    tx.db,
  );
}

/** Without those that have a record again. */
export async function notedBlobs({ db }: TxStoreTransaction, limit: number): Promise<readonly Uint8Array[]> {
  const { rows } = await sql<{ hash: Uint8Array }>`SELECT b.hash FROM pruned_blob b
    WHERE NOT EXISTS (SELECT 1 FROM tx t WHERE t.hash = b.hash) ORDER BY b.hash LIMIT ${limit}`.execute(db);
  return rows.map(({ hash }) => hash);
}

export async function strikeBlobs(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<void> {
  if (txIds.length === 0) return;
  await sql`DELETE FROM pruned_blob WHERE hash IN (SELECT hash FROM ${idList(tx, txIds)} AS v)`.execute(tx.db);
}
