/**
 * The rows of records, read by lists of ids or outpoints: one statement for each
 * kind of row, however many there are.
 *
 * Whoever is about to change records locks their rows of `tx` first, in the order
 * of the ids, so that writers of the same records come one after the other. All
 * other rows belong to a row of `tx`, and are read behind its lock. SQLite has
 * one writer at a time, and needs no locks.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import type { SqlKind } from '../../sql/database.ts';
import { listTable } from '../../sql/lists.ts';
import type { ParentChild } from '../prune-store.ts';
import type { TxBlock, TxSlot } from '../records.ts';
import type { BlockRow, RecordRow, SlotRow, TxStoreTables, TxStoreTransaction } from './tables.ts';

const TX_COLUMNS = sql.raw(
  't.hash, t.version, t.output_count, t.spendable, t.spent_count, t.is_coinbase, t.coinbase_spendable_at, t.is_conflicting, ' +
    't.is_locked, t.is_creating, t.delete_at_height, t.unmined_since, t.preserve_until',
);
const SLOT_COLUMNS = sql.raw('o.tx_hash, o.idx, o.slot_hash, o.is_frozen, o.spendable_from, o.spent_by_hash, o.spent_vin');

/** At the end of a statement that locks the rows of `t`. */
export const forUpdate = (kind: SqlKind): RawBuilder<unknown> => sql.raw(kind === 'postgres' ? 'FOR UPDATE OF t' : '');

export function idList({ kind }: TxStoreTransaction, txIds: readonly Uint8Array[]): RawBuilder<{ hash: Uint8Array }> {
  return listTable(
    kind,
    { hash: 'bytes' },
    txIds.map((txId) => [txId]),
  );
}

export function pairList({ kind }: TxStoreTransaction, pairs: readonly ParentChild[]): RawBuilder<{ hash: Uint8Array; child: Uint8Array }> {
  return listTable(
    kind,
    { hash: 'bytes', child: 'bytes' },
    pairs.map(({ parent, child }) => [parent, child]),
  );
}

/** The ids are distinct. `lock`: the rows are to be changed. */
export async function recordRows(tx: TxStoreTransaction, txIds: readonly Uint8Array[], lock: boolean): Promise<RecordRow[]> {
  if (txIds.length === 0) return [];
  const tail = lock ? sql`ORDER BY t.hash ${forUpdate(tx.kind)}` : sql.raw('');
  const { rows } = await sql<RecordRow>`SELECT ${TX_COLUMNS} FROM ${idList(tx, txIds)} AS v CROSS JOIN tx t
    WHERE t.hash = v.hash ${tail}`.execute(tx.db);
  return rows;
}

/** In the order of each record. */
export async function blockRowsOf(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<BlockRow[]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<BlockRow>`SELECT b.tx_hash, b.place, b.block_hash, b.block_height, b.block_index, b.is_on_best_chain
    FROM ${idList(tx, txIds)} AS v CROSS JOIN tx_block b WHERE b.tx_hash = v.hash ORDER BY b.tx_hash, b.place`.execute(tx.db);
  return rows;
}

/** In the order of each record. */
export async function inputRows(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<TxStoreTables['tx_in'][]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<TxStoreTables['tx_in']>`SELECT i.tx_hash, i.idx, i.prev_hash, i.prev_idx
    FROM ${idList(tx, txIds)} AS v CROSS JOIN tx_in i WHERE i.tx_hash = v.hash ORDER BY i.tx_hash, i.idx`.execute(tx.db);
  return rows;
}

/** The outpoints are distinct. */
export async function slotRows(tx: TxStoreTransaction, outpoints: readonly Outpoint[]): Promise<SlotRow[]> {
  if (outpoints.length === 0) return [];
  const list = listTable(
    tx.kind,
    { hash: 'bytes', place: 'integer' },
    outpoints.map(({ txId, index }) => [txId, index]),
  );
  const { rows } = await sql<SlotRow>`SELECT ${SLOT_COLUMNS} FROM ${list} AS v CROSS JOIN tx_out o
    WHERE o.tx_hash = v.hash AND o.idx = v.place`.execute(tx.db);
  return rows;
}

export async function allSlotRows(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<SlotRow[]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<SlotRow>`SELECT ${SLOT_COLUMNS} FROM ${idList(tx, txIds)} AS v CROSS JOIN tx_out o
    WHERE o.tx_hash = v.hash`.execute(tx.db);
  return rows;
}

type TombstoneRow = TxStoreTables['tombstone'];

/** The pairs are distinct; those without a tombstone are left out. */
export async function tombstoneRows(tx: TxStoreTransaction, pairs: readonly ParentChild[]): Promise<TombstoneRow[]> {
  if (pairs.length === 0) return [];
  const { rows } = await sql<TombstoneRow>`SELECT s.tx_hash, s.child_hash, s.pruned_at FROM ${pairList(tx, pairs)} AS v
    CROSS JOIN tombstone s WHERE s.tx_hash = v.hash AND s.child_hash = v.child`.execute(tx.db);
  return rows;
}

/** By id. */
export async function tombstoneRowsOf(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<TombstoneRow[]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<TombstoneRow>`SELECT s.tx_hash, s.child_hash, s.pruned_at FROM ${idList(tx, txIds)} AS v
    CROSS JOIN tombstone s WHERE s.tx_hash = v.hash ORDER BY s.tx_hash, s.child_hash`.execute(tx.db);
  return rows;
}

export function slotFromRow(row: SlotRow): TxSlot | null {
  if (row.slot_hash === null) return null;
  const spender = row.spent_by_hash === null || row.spent_vin === null ? null : { txId: row.spent_by_hash, vin: row.spent_vin };
  const state = spender !== null ? 'spent' : row.is_frozen === 1 ? 'frozen' : 'unspent';
  return { hash: row.slot_hash, state, spender, spendableFrom: row.spendable_from };
}

export function blockFromRow(row: BlockRow): TxBlock {
  return { hash: row.block_hash, height: row.block_height, index: row.block_index, isOnBestChain: row.is_on_best_chain === 1 };
}
