/**
 * How far pruning is: one row. Removals take its lock before they look at
 * anything, and so do calls that take blocks away: what the one has deleted
 * because a block was deep enough, the other cannot undo at the same time.
 */
import { type RawBuilder, sql } from 'kysely';
import type { PassProgress, PruneProgress } from '../prune-store.ts';
import type { TxStoreTables, TxStoreTransaction } from './tables.ts';

type ProgressRow = Omit<TxStoreTables['prune_progress'], 'id'>;

export type ProgressLock = 'none' | 'shared' | 'exclusive';

const LOCKS = { none: '', shared: 'FOR SHARE', exclusive: 'FOR UPDATE' } as const;

export async function loadProgress({ db, kind }: TxStoreTransaction, lock: ProgressLock): Promise<PruneProgress> {
  const tail = sql.raw(kind === 'postgres' ? LOCKS[lock] : '');
  const { rows } = await sql<ProgressRow>`SELECT last_completed, pruned_height, unfinished_height, cursor_height, cursor_hash
    FROM prune_progress WHERE id = 1 ${tail}`.execute(db);
  const [row] = rows;
  const cursor = row.cursor_height === null || row.cursor_hash === null ? null : { height: row.cursor_height, txId: row.cursor_hash };
  const unfinished = row.unfinished_height === null ? null : { height: row.unfinished_height, cursor };
  return { unfinished, lastCompleted: row.last_completed, prunedHeight: row.pruned_height };
}

export async function saveProgress(tx: TxStoreTransaction, progress: PruneProgress): Promise<void> {
  await sql`UPDATE prune_progress SET pruned_height = ${progress.prunedHeight}, ${passColumns(progress)} WHERE id = 1`.execute(tx.db);
}

export async function savePassProgress({ db }: TxStoreTransaction, progress: PassProgress): Promise<void> {
  await sql`UPDATE prune_progress SET ${passColumns(progress)} WHERE id = 1`.execute(db);
}

function passColumns({ unfinished, lastCompleted }: PassProgress): RawBuilder<unknown> {
  const cursor = unfinished?.cursor ?? null;
  return sql`last_completed = ${lastCompleted}, unfinished_height = ${unfinished?.height ?? null},
    cursor_height = ${cursor?.height ?? null}, cursor_hash = ${cursor?.txId ?? null}`;
}
