/** Whole records of the embedded store, with outputs and tombstones. */
import type { Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { compareBytes, readU32 } from '../../util/bytes.ts';
import { prefixEnd } from '../../util/key-range.ts';
import type { Tombstone, TxOutput, TxRecord } from '../records.ts';
import { txRefusal } from '../rules/refusals.ts';
import { readInputs, SLOT_BYTES } from './codec.ts';
import { childOfPair, TX_RECORD, TX_TOMBSTONE } from './columns.ts';
import { type LoadedTx, loadedTx, pageCount } from './loaded-tx.ts';
import { readSmallOutput } from './outputs.ts';
import { readOutputRow, readSlot, slotSpenderId } from './slots.ts';

/** In the order of the ids, null where there is none. */
export function readRecords(reader: Reader, txIds: readonly Uint8Array[]): (TxRecord | null)[] {
  return reader.getMany(TX_RECORD, txIds).map((row, n) => (row === undefined ? null : wholeRecord(reader, txIds[n], row)));
}

/** In the order of the ids, whether the transaction is in no block of the best chain; null: there is no record. Throws STORE_DAMAGED. */
export function areUnmined(reader: Reader, txIds: readonly Uint8Array[]): (boolean | null)[] {
  return reader.getMany(TX_RECORD, txIds).map((row, n) => {
    if (row === undefined) return null;
    return loadedTx(txIds[n], Uint8Array.from(row), 0, row.length, true).state.unminedSince !== null;
  });
}

/** By id. */
export function* eachRecord(reader: Reader): Iterable<TxRecord> {
  for (const [txId, row] of reader.scan(TX_RECORD)) if (txId.length === TXID_BYTES) yield wholeRecord(reader, new Uint8Array(txId), row);
}

/** Throws STORE_DAMAGED. */
function wholeRecord(reader: Reader, txId: Uint8Array, row: Uint8Array): TxRecord {
  const read = loadedTx(txId, Uint8Array.from(row), 0, row.length, true);
  const { state } = read;
  const { bytes, outputCount, hasOutputRows, outputsAt } = state;
  const numbers = Array.from({ length: hasOutputRows ? pageCount(state) : 0 }, (_, n) => n);
  const values = hasOutputRows
    ? numbers.flatMap((number) => readOutputRow(reader, txId, number))
    : Array.from({ length: outputCount }, (_, n) => readSmallOutput(bytes, outputsAt, n));
  if (values.length !== outputCount) throw txRefusal.damaged(txId, `has ${values.length} outputs, not ${outputCount}`);
  // With all outputs at hand, so that no slot reads its page of them again.
  const tx: LoadedTx = { ...read, outputs: values };
  const outputs = values.map((output, index): TxOutput => ({ ...output, slot: readSlot(reader, tx, index) ?? null }));
  return {
    txId,
    inputs: readInputs(bytes, state.inputsAt, state.inputCount),
    outputs,
    blocks: state.blocks,
    conflictingChildren: state.conflictingChildren,
    tombstones: tombstonesOf(reader, tx),
    spendable: state.spendable,
    spentCount: state.spentCount,
    unminedSince: state.unminedSince,
    deleteAtHeight: state.deleteAtHeight,
    preserveUntil: state.preserveUntil,
    isConflicting: state.isConflicting,
    isLocked: state.isLocked,
    isCreating: state.isCreating,
    isCoinbase: state.isCoinbase,
    coinbaseSpendableAt: state.coinbaseSpendableAt,
    version: state.version,
  };
}

/** By id. */
function tombstonesOf(reader: Reader, { txId, state }: LoadedTx): Tombstone[] {
  const { bytes, slotsAt, pruned, hasTombstones } = state;
  const inRecord = pruned.map(({ slot, height }) => ({ txId: slotSpenderId(bytes, slotsAt + SLOT_BYTES * slot), height }));
  if (!hasTombstones) return inRecord.sort(byId);
  const rows = [...reader.scan(TX_TOMBSTONE, { gte: txId, lt: prefixEnd(txId, txId.length) })];
  return [...inRecord, ...rows.map(([key, value]) => ({ txId: childOfPair(key), height: readU32(value, 0) }))].sort(byId);
}

function byId(a: Tombstone, b: Tombstone): number {
  return compareBytes(a.txId, b.txId);
}
