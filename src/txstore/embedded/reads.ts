/** Whole records of the embedded store, with outputs and tombstones. */
import type { Reader } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { readU32 } from '../../util/bytes.ts';
import { prefixEnd } from '../../util/key-range.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { Tombstone, TxOutput, TxRecord } from '../records.ts';
import { txRefusal } from '../rules/refusals.ts';
import { decodeOutputs, decodeTx } from './codec.ts';
import { childOfPair, pageKey, TX_OUTPUT, TX_RECORD, TX_TOMBSTONE } from './columns.ts';
import { pageCount, readSlotPage } from './unit.ts';

/** In the order of the ids, null where there is none. */
export function readRecords(reader: Reader, txIds: readonly Uint8Array[]): (TxRecord | null)[] {
  return reader.getMany(TX_RECORD, txIds).map((row, n) => (row === undefined ? null : wholeRecord(reader, txIds[n], row)));
}

/** By id. */
export function* eachRecord(reader: Reader): Iterable<TxRecord> {
  for (const [txId, row] of reader.scan(TX_RECORD)) if (txId.length === TXID_BYTES) yield wholeRecord(reader, txId, row);
}

function wholeRecord(reader: Reader, txId: Uint8Array, row: Uint8Array): TxRecord {
  const { state, slots } = decodeTx(row, TX_PAGE_SLOTS);
  const { outputCount, ...rest } = state;
  const numbers = Array.from({ length: pageCount(state) }, (_, n) => n);
  const outputRows = reader.getMany(
    TX_OUTPUT,
    numbers.map((number) => pageKey(txId, number)),
  );
  const outputs = numbers.flatMap((number): TxOutput[] => {
    const page = number === 0 ? slots : readSlotPage(reader, txId, number, outputCount);
    const values = outputRows[number];
    if (values === undefined) throw txRefusal.damaged(txId, `has no page ${number} of outputs`);
    return decodeOutputs(values).map((output, n) => ({ ...output, slot: page[n] }));
  });
  return { ...rest, txId, outputs, tombstones: tombstonesOf(reader, txId) };
}

function tombstonesOf(reader: Reader, txId: Uint8Array): Tombstone[] {
  const range = { gte: txId, lt: prefixEnd(txId, txId.length) };
  return [...reader.scan(TX_TOMBSTONE, range)].map(([key, value]) => ({ txId: childOfPair(key), height: readU32(value, 0) }));
}
