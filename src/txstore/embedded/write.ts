/**
 * How a unit gets into a batch: the records that it has changed, the keys by
 * which they are found, tombstones, and the totals with the mark of the change.
 * Buffers for keys are made once: a batch copies what it is given.
 */
import type { Batch } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, writeU32 } from '../../util/bytes.ts';
import { prefixEnd } from '../../util/key-range.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import { needsParents } from '../rules/mining.ts';
import { readMinedHeight } from './codec.ts';
import { pageKey, TX_DUE, TX_OUTPUT, TX_PAGE, TX_PRESERVED, TX_RECORD, TX_REFERENCE, TX_TOMBSTONE, TX_UNMINED } from './columns.ts';
import { dueFacts } from './due-row.ts';
import { distinctParents, type LoadedTx, pageCount } from './loaded-tx.ts';
import { encodeOutputRow } from './outputs.ts';
import { RecordHead } from './record-head.ts';
import { newMark, putTotals, readTotals } from './totals.ts';
import type { TxCache } from './tx-cache.ts';
import type { TxUnit } from './unit.ts';

const EMPTY = new Uint8Array();
const idKey = new Uint8Array(TXID_BYTES);
const heightKey = new Uint8Array(4 + TXID_BYTES);
const pairKey = new Uint8Array(2 * TXID_BYTES);
const heightValue = new Uint8Array(4);
const head = new RecordHead(EMPTY, 0);

export function writeUnit(unit: TxUnit, batch: Batch): void {
  const { changed } = unit;
  if (changed.length === 0 && unit.tombstones.length === 0) return;
  // First of all: if this fails half-way, what is at hand is not that of the store any more.
  const mark = newMark();
  unit.cache?.written(mark);
  let { records } = readTotals(unit.reader);
  for (const tx of changed) {
    const row = tx.isDeleted ? null : tx.state.encoded();
    if (row === null) writeDeleted(unit, batch, tx);
    else writeChanged(unit, batch, tx, row);
    writeIndexes(unit, batch, tx, row);
    records += (tx.isDeleted ? 0 : 1) - (tx.before === null ? 0 : 1);
  }
  for (const [parent, child, height] of unit.tombstones) {
    writeU32(heightValue, 0, height);
    batch.put(TX_TOMBSTONE, pairOf(parent, child), heightValue);
  }
  putTotals(batch, { records, mark });
}

function writeChanged({ cache }: TxUnit, batch: Batch, tx: LoadedTx, row: Uint8Array): void {
  const { txId, state, pages, outputs } = tx;
  putRow(batch, txId, 0, row);
  cache?.rows.put(txId, row);
  if (tx.before === null) cache?.ids?.add(txId);
  if (tx.before === null || state.hasNewPlace(tx.before)) cache?.heights.setMined(txId, readMinedHeight(row, 0));
  if (pages !== null) {
    for (const [number, page] of pages.entries()) if (number > 0 && page?.isChanged) batch.put(TX_PAGE, pageKey(txId, number), page.bytes);
  }
  if (outputs === null) return;
  for (let number = 0; number * TX_PAGE_SLOTS < outputs.length; number++)
    batch.put(TX_OUTPUT, pageKey(txId, number), encodeOutputRow(outputs.slice(number * TX_PAGE_SLOTS, (number + 1) * TX_PAGE_SLOTS)));
}

function writeDeleted(unit: TxUnit, batch: Batch, tx: LoadedTx): void {
  const { txId, state } = tx;
  deleteRow(batch, txId, 0);
  unit.cache?.rows.forget(txId);
  unit.cache?.heights.setGone(txId);
  unit.cache?.ids?.remove(txId);
  for (let number = 0; number < pageCount(state); number++) {
    if (number > 0) batch.del(TX_PAGE, pageKey(txId, number));
    if (state.hasOutputRows) batch.del(TX_OUTPUT, pageKey(txId, number));
  }
  if (!state.hasTombstones) return;
  // Every tombstone is of a transaction that a slot names, as long as no slot was unspent.
  if (!state.wasUnspent) for (const child of unit.childrenInPlace(tx)) batch.del(TX_TOMBSTONE, pairOf(txId, child));
  else for (const [key] of unit.reader.scan(TX_TOMBSTONE, { gte: txId, lt: prefixEnd(txId, txId.length) })) batch.del(TX_TOMBSTONE, key);
}

/** The keys by which a record is found, from what it was to what it is. `row`: as it is stored; null: it is deleted. */
function writeIndexes(unit: TxUnit, batch: Batch, tx: LoadedTx, row: Uint8Array | null): void {
  const { txId, state, before } = tx;
  const after = tx.isDeleted ? null : state;
  moveDue(batch, txId, 0, before?.deleteAtHeight ?? null, after?.deleteAtHeight ?? null, row);
  move(batch, TX_UNMINED, txId, 0, before?.unminedSince, after?.unminedSince);
  move(batch, TX_PRESERVED, txId, 0, before?.preserveUntil, after?.preserveUntil);
  const didNeed = before !== null && needsParents(before);
  const needs = after !== null && needsParents(after);
  if (didNeed === needs) return;
  for (const parent of distinctParents(unit.inputs(tx))) {
    if (needs) putReference(batch, unit.cache, parent, txId);
    else {
      batch.del(TX_REFERENCE, pairOf(parent, txId));
      unit.cache?.references?.remove(parent);
    }
  }
}

export function putReference(batch: Batch, cache: TxCache | null, parent: Uint8Array, child: Uint8Array): void {
  batch.put(TX_REFERENCE, pairOf(parent, child), EMPTY);
  cache?.references?.add(parent);
}

/** The row of the record whose id stands at `idAt`. */
export function putRow(batch: Batch, ids: Uint8Array, idAt: number, row: Uint8Array): void {
  copyBytes(ids, idAt, idKey, 0, TXID_BYTES);
  batch.put(TX_RECORD, idKey, row);
}

/** The row of the record whose id stands at `idAt`. */
export function deleteRow(batch: Batch, ids: Uint8Array, idAt: number): void {
  copyBytes(ids, idAt, idKey, 0, TXID_BYTES);
  batch.del(TX_RECORD, idKey);
}

/** The record whose id stands at `idAt` leaves one height of an index for another. */
export function move(
  batch: Batch,
  column: string,
  ids: Uint8Array,
  idAt: number,
  from: number | null | undefined,
  to: number | null | undefined,
): void {
  if (from === to) return;
  copyBytes(ids, idAt, heightKey, 4, TXID_BYTES);
  if (from !== null && from !== undefined) {
    writeU32(heightKey, 0, from);
    batch.del(column, heightKey);
  }
  if (to !== null && to !== undefined) {
    writeU32(heightKey, 0, to);
    batch.put(column, heightKey, EMPTY);
  }
}

/** As `move` in the index of due records, for a record that was changed. `row`: as it is stored; null: it is deleted. */
export function moveDue(
  batch: Batch,
  ids: Uint8Array,
  idAt: number,
  from: number | null,
  to: number | null,
  row: Uint8Array | null,
  rowAt = 0,
): void {
  if (from !== to && from !== null) move(batch, TX_DUE, ids, idAt, from, null);
  if (to === null || row === null) return;
  [head.bytes, head.at] = [row, rowAt];
  copyBytes(ids, idAt, heightKey, 4, TXID_BYTES);
  writeU32(heightKey, 0, to);
  batch.put(TX_DUE, heightKey, dueFacts(head));
}

/** In the buffer for pairs. */
function pairOf(parent: Uint8Array, child: Uint8Array): Uint8Array {
  copyBytes(parent, 0, pairKey, 0, TXID_BYTES);
  copyBytes(child, 0, pairKey, TXID_BYTES, TXID_BYTES);
  return pairKey;
}
