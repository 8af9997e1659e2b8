/**
 * Writes what a change did to records (unit.ts): one statement for each kind of
 * row, however many records there are. The rows of `tx` are locked since they
 * were read, so that nothing that is written here is older than what is there.
 */
import { sql } from 'kysely';
import { WriteConflict } from '../../sql/failures.ts';
import { listTable } from '../../sql/lists.ts';
import { assert } from '../../util/errors.ts';
import type { TxSlot } from '../records.ts';
import { idList, pairList } from './load.ts';
import type { TxStoreTransaction } from './tables.ts';
import type { ReadTx, SqlUnit, TxRowState } from './unit.ts';

export async function saveUnit(tx: TxStoreTransaction, unit: SqlUnit): Promise<void> {
  const all = unit.records();
  const changed = all.filter(({ isChanged, isDeleted }) => isChanged && !isDeleted);
  const news = changed.filter(({ before }) => before === null);
  const known = changed.filter(({ before }) => before !== null);
  await insertTxs(tx, news);
  await updateTxs(tx, known);
  await insertInputs(tx, news);
  await insertOutputs(tx, news);
  await updateSlots(tx, known);
  await replaceBlocks(
    tx,
    changed.filter(({ state, before }) => state.blocks !== before?.blocks),
  );
  await saveMemberships(tx, unit);
  await deleteTxs(
    tx,
    all.filter(({ before, isDeleted }) => isDeleted && before !== null).map(({ txId }) => txId),
  );
}

/** What belongs to them goes with them. */
export async function deleteTxs(tx: TxStoreTransaction, txIds: readonly Uint8Array[]): Promise<void> {
  if (txIds.length === 0) return;
  await sql`DELETE FROM tx WHERE hash IN (SELECT hash FROM ${idList(tx, txIds)} AS v)`.execute(tx.db);
}

/** What a call can change of a row of `tx`. */
const CHANGING = {
  version: 'integer',
  spendable: 'integer',
  spent_count: 'integer',
  is_conflicting: 'integer',
  is_locked: 'integer',
  is_creating: 'integer',
  delete_at_height: 'integer',
  unmined_since: 'integer',
  preserve_until: 'integer',
} as const;
const CHANGING_NAMES = sql.raw(Object.keys(CHANGING).join(', '));
const CHANGING_ASSIGNMENTS = sql.raw(
  Object.keys(CHANGING)
    .map((name) => `${name} = v.${name}`)
    .join(', '),
);

const flag = (isSet: boolean): number => (isSet ? 1 : 0);

function changingValues(state: TxRowState): (number | null)[] {
  return [
    state.version,
    state.spendable,
    state.spentCount,
    flag(state.isConflicting),
    flag(state.isLocked),
    flag(state.isCreating),
    state.deleteAtHeight,
    state.unminedSince,
    state.preserveUntil,
  ];
}

/** If another call has made one of them since this one looked, this one begins anew, and finds it. */
async function insertTxs(tx: TxStoreTransaction, txs: readonly ReadTx[]): Promise<void> {
  if (txs.length === 0) return;
  const list = listTable(
    tx.kind,
    { hash: 'bytes', output_count: 'integer', is_coinbase: 'integer', coinbase_spendable_at: 'integer', ...CHANGING },
    txs.map(({ txId, state }) => [txId, state.outputCount, flag(state.isCoinbase), state.coinbaseSpendableAt, ...changingValues(state)]),
  );
  const { numAffectedRows } = await sql`INSERT INTO tx (hash, output_count, is_coinbase, coinbase_spendable_at, ${CHANGING_NAMES})
    SELECT hash, output_count, is_coinbase, coinbase_spendable_at, ${CHANGING_NAMES} FROM ${list} AS v WHERE true
    ON CONFLICT (hash) DO NOTHING`.execute(tx.db);
  if (Number(numAffectedRows) < txs.length) throw new WriteConflict('a transaction was stored meanwhile');
}

async function updateTxs(tx: TxStoreTransaction, txs: readonly ReadTx[]): Promise<void> {
  if (txs.length === 0) return;
  const list = listTable(
    tx.kind,
    { hash: 'bytes', ...CHANGING },
    txs.map(({ txId, state }) => [txId, ...changingValues(state)]),
  );
  const { numAffectedRows } = await sql`UPDATE tx SET ${CHANGING_ASSIGNMENTS} FROM ${list} AS v WHERE tx.hash = v.hash`.execute(tx.db);
  assert(Number(numAffectedRows) === txs.length, 'every record that was read under its lock is there');
}

async function insertInputs(tx: TxStoreTransaction, txs: readonly ReadTx[]): Promise<void> {
  const rows = txs.flatMap(({ txId, inputs }) => (inputs ?? []).map((input, n) => [txId, n, input.txId, input.index]));
  if (rows.length === 0) return;
  const list = listTable(tx.kind, { hash: 'bytes', idx: 'integer', prev_hash: 'bytes', prev_idx: 'integer' }, rows);
  await sql`INSERT INTO tx_in (tx_hash, idx, prev_hash, prev_idx) SELECT hash, idx, prev_hash, prev_idx FROM ${list} AS v`.execute(tx.db);
}

/** What a call can change of a row of `tx_out`. */
const SLOT = {
  slot_hash: 'bytes',
  is_frozen: 'integer',
  spendable_from: 'integer',
  spent_by_hash: 'bytes',
  spent_vin: 'integer',
} as const;
const SLOT_NAMES = sql.raw(Object.keys(SLOT).join(', '));

function slotValues(slot: TxSlot | null): (Uint8Array | number | null)[] {
  if (slot === null) return [null, 0, null, null, null];
  const { hash, state, spender, spendableFrom } = slot;
  return [hash, flag(state === 'frozen'), spendableFrom, spender?.txId ?? null, spender?.vin ?? null];
}

async function insertOutputs(tx: TxStoreTransaction, txs: readonly ReadTx[]): Promise<void> {
  const rows = txs.flatMap(({ txId, outputs, slots }) =>
    (outputs ?? []).map(({ amount, script }, index) => [txId, index, amount, script, ...slotValues(slots.get(index) ?? null)]),
  );
  if (rows.length === 0) return;
  const list = listTable(tx.kind, { hash: 'bytes', idx: 'integer', amount: 'integer', script: 'bytes', ...SLOT }, rows);
  await sql`INSERT INTO tx_out (tx_hash, idx, amount, script, ${SLOT_NAMES})
    SELECT hash, idx, amount, script, ${SLOT_NAMES} FROM ${list} AS v`.execute(tx.db);
}

async function updateSlots(tx: TxStoreTransaction, txs: readonly ReadTx[]): Promise<void> {
  const rows = txs.flatMap(({ txId, slots, changedSlots }) =>
    [...changedSlots].map((index) => [txId, index, ...slotValues(slots.get(index) ?? null)]),
  );
  if (rows.length === 0) return;
  const list = listTable(tx.kind, { hash: 'bytes', place: 'integer', ...SLOT }, rows);
  const { numAffectedRows } = await sql`UPDATE tx_out SET slot_hash = v.slot_hash, is_frozen = v.is_frozen,
    spendable_from = v.spendable_from, spent_by_hash = v.spent_by_hash, spent_vin = v.spent_vin
    FROM ${list} AS v WHERE tx_out.tx_hash = v.hash AND tx_out.idx = v.place`.execute(tx.db);
  assert(Number(numAffectedRows) === rows.length, 'every slot that was read is there');
}

/** Their order is that of the record, so that all of a record are written. */
async function replaceBlocks(tx: TxStoreTransaction, txs: readonly ReadTx[]): Promise<void> {
  const held = txs.filter(({ before }) => before !== null && before.blocks.length > 0).map(({ txId }) => txId);
  if (held.length > 0) await sql`DELETE FROM tx_block WHERE tx_hash IN (SELECT hash FROM ${idList(tx, held)} AS v)`.execute(tx.db);
  const rows = txs.flatMap(({ txId, state }) =>
    state.blocks.map(({ hash, height, index, isOnBestChain }, place) => [txId, place, hash, height, index, flag(isOnBestChain)]),
  );
  if (rows.length === 0) return;
  const columns = { hash: 'bytes', place: 'integer', block_hash: 'bytes', height: 'integer', idx: 'integer', is_best: 'integer' } as const;
  await sql`INSERT INTO tx_block (tx_hash, place, block_hash, block_height, block_index, is_on_best_chain)
    SELECT hash, place, block_hash, height, idx, is_best FROM ${listTable(tx.kind, columns, rows)} AS v`.execute(tx.db);
}

async function saveMemberships(tx: TxStoreTransaction, { memberships }: SqlUnit): Promise<void> {
  const all = [...memberships.values()];
  const [joined, left] = [all.filter(({ isMember }) => isMember), all.filter(({ isMember }) => !isMember)];
  if (left.length > 0)
    await sql`DELETE FROM conflicting_child WHERE (tx_hash, child_hash) IN (SELECT hash, child FROM ${pairList(tx, left)} AS v)`.execute(
      tx.db,
    );
  if (joined.length > 0)
    await sql`INSERT INTO conflicting_child (tx_hash, child_hash) SELECT hash, child FROM ${pairList(tx, joined)} AS v WHERE true
      ON CONFLICT DO NOTHING`.execute(tx.db);
}
