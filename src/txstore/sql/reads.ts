/** Whole records: six statements, however many there are. */
import { sql } from 'kysely';
import { amountText } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import type { Tombstone, TxOutput, TxRecord } from '../records.ts';
import type { UnminedTx } from '../store.ts';
import { blockFromRow, blockRowsOf, idList, inputRows, recordRows, slotFromRow, tombstoneRowsOf } from './load.ts';
import type { SlotRow, TxStoreTables, TxStoreTransaction } from './tables.ts';
import { distinct, stateFromRow } from './unit.ts';

/** In the order of the ids, null where there is none. */
export async function wholeRecords(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<(TxRecord | null)[]> {
  const rows = await recordRows(tx, distinct(txIds), false);
  const ids = rows.map(({ hash }) => hash);
  const blocks = byTx(await blockRowsOf(tx, ids));
  const inputs = byTx(await inputRows(tx, ids));
  const outputs = byTx(await outputRows(tx, ids));
  const losers = byTx(await loserRows(tx, ids));
  const tombstones = byTx(await tombstoneRowsOf(tx, ids));
  const records = new Map<string, TxRecord>();
  for (const row of rows) {
    const key = toHex(row.hash);
    const { outputCount: _, ...state } = stateFromRow(row);
    records.set(key, {
      ...state,
      txId: row.hash,
      blocks: (blocks.get(key) ?? []).map(blockFromRow),
      inputs: (inputs.get(key) ?? []).map(({ prev_hash, prev_idx }) => ({ txId: prev_hash, index: prev_idx })),
      outputs: (outputs.get(key) ?? []).map(outputOf),
      conflictingChildren: (losers.get(key) ?? []).map(({ child_hash }) => child_hash),
      tombstones: (tombstones.get(key) ?? []).map(({ child_hash, pruned_at }): Tombstone => ({ txId: child_hash, height: pruned_at })),
    });
  }
  return txIds.map((txId) => records.get(toHex(txId)) ?? null);
}

type OutputRow = SlotRow & { readonly amount: string; readonly script: Uint8Array };

async function outputRows(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<OutputRow[]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<OutputRow>`SELECT o.tx_hash, o.idx, ${amountText('o.amount')} AS amount, o.script,
    o.slot_hash, o.is_frozen, o.spendable_from, o.spent_by_hash, o.spent_vin
    FROM ${idList(tx, txIds)} AS v CROSS JOIN tx_out o WHERE o.tx_hash = v.hash ORDER BY o.tx_hash, o.idx`.execute(tx.db);
  return rows;
}

function outputOf(row: OutputRow): TxOutput {
  return { amount: BigInt(row.amount), script: row.script, slot: slotFromRow(row) };
}

type LoserRow = TxStoreTables['conflicting_child'];

async function loserRows(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<LoserRow[]> {
  if (txIds.length === 0) return [];
  const { rows } = await sql<LoserRow>`SELECT c.tx_hash, c.child_hash FROM ${idList(tx, txIds)} AS v
    CROSS JOIN conflicting_child c WHERE c.tx_hash = v.hash ORDER BY c.tx_hash, c.child_hash`.execute(tx.db);
  return rows;
}

function byTx<R extends { readonly tx_hash: Uint8Array }>(rows: readonly R[]): ReadonlyMap<string, readonly R[]> {
  return Map.groupBy(rows, ({ tx_hash }) => toHex(tx_hash));
}

/** Records that are there, by id, those after the given one. */
export async function readIds({ db }: TxStoreTransaction, after: Uint8Array | null, limit: number): Promise<readonly Uint8Array[]> {
  let query = db.selectFrom('tx').select('hash').orderBy('hash').limit(limit);
  if (after !== null) query = query.where('hash', '>', after);
  return (await query.execute()).map(({ hash }) => hash);
}

/** Unmined since that height or earlier, those after the given one; oldest first, then by id. */
export async function readUnmined(
  { db }: TxStoreTransaction,
  cutoff: number,
  after: UnminedTx | null,
  limit: number,
): Promise<readonly UnminedTx[]> {
  const rest = after === null ? sql.raw('') : sql`AND (unmined_since, hash) > (${after.since}, ${after.txId})`;
  const { rows } = await sql<{ hash: Uint8Array; unmined_since: number }>`SELECT hash, unmined_since FROM tx
    WHERE unmined_since <= ${cutoff} ${rest} ORDER BY unmined_since, hash LIMIT ${limit}`.execute(db);
  return rows.map(({ hash, unmined_since }) => ({ txId: hash, since: unmined_since }));
}
