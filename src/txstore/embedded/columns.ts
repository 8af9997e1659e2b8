/**
 * Every key of the embedded transaction store. Integers are big-endian, so that
 * keys stand in the order of heights.
 *
 *   txs_record      txid                     the record with its first page of slots and small outputs
 *                   one byte                 how far pruning is; how many records there are, and the mark of the last change
 *   txs_page        txid, page u32           further pages of slots
 *   txs_output      txid, page u32           amounts and scripts that are large
 *   txs_due         deleteAtHeight u32, txid  the record up to its outputs, or nothing (due-row.ts)
 *   txs_unmined     unminedSince u32, txid
 *   txs_preserved   preserveUntil u32, txid
 *   txs_reference   parent, child            the child is unmined or conflicting and has an input on the parent
 *   txs_tombstone   parent, child            the height at which the child was pruned, where no slot of the record can say it
 *
 * Whoever opens an engine for the store names these columns.
 */
import type { ColumnSpec } from '../../engine/engine.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { readU32, writeU32 } from '../../util/bytes.ts';

export const TX_RECORD = 'txs_record';
export const TX_PAGE = 'txs_page';
export const TX_OUTPUT = 'txs_output';
export const TX_DUE = 'txs_due';
export const TX_UNMINED = 'txs_unmined';
export const TX_PRESERVED = 'txs_preserved';
export const TX_REFERENCE = 'txs_reference';
export const TX_TOMBSTONE = 'txs_tombstone';

export const TX_STORE_COLUMNS: readonly ColumnSpec[] = [
  { name: TX_RECORD, access: 'point', weight: 0.6, main: true },
  { name: TX_PAGE, access: 'point', weight: 0.05 },
  { name: TX_OUTPUT, access: 'archive', weight: 0.05 },
  // Most records stand in it once, up to their outputs: a fifth of all that is written.
  { name: TX_DUE, access: 'order', weight: 0.2 },
  { name: TX_UNMINED, access: 'order', weight: 0.05 },
  { name: TX_PRESERVED, access: 'order', weight: 0.02 },
  { name: TX_REFERENCE, access: 'prefix', prefixBytes: TXID_BYTES, weight: 0.05 },
  { name: TX_TOMBSTONE, access: 'prefix', prefixBytes: TXID_BYTES, weight: 0.03 },
];

/** They stand among the records, because a column that is seldom written keeps the log of all others from being cut. */
export const PROGRESS_KEY = Uint8Array.of(0);
export const TOTALS_KEY = Uint8Array.of(1);

/** Of the height in front of an id. */
export const HEIGHT_BYTES = 4;

export function pageKey(txId: Uint8Array, page: number): Uint8Array {
  const key = new Uint8Array(TXID_BYTES + HEIGHT_BYTES);
  key.set(txId);
  writeU32(key, TXID_BYTES, page);
  return key;
}

export function heightKey(height: number, txId: Uint8Array = new Uint8Array()): Uint8Array {
  const key = new Uint8Array(HEIGHT_BYTES + txId.length);
  writeU32(key, 0, height);
  key.set(txId, HEIGHT_BYTES);
  return key;
}

/** What an engine gives may be a Buffer: whoever gets an id gets plain bytes of its own. */
export function readHeightKey(key: Uint8Array): { readonly height: number; readonly txId: Uint8Array } {
  return { height: readU32(key, 0), txId: new Uint8Array(key.subarray(HEIGHT_BYTES)) };
}

export function pairKey(parent: Uint8Array, child: Uint8Array): Uint8Array {
  const key = new Uint8Array(2 * TXID_BYTES);
  key.set(parent);
  key.set(child, TXID_BYTES);
  return key;
}

/** The second id of a pair. */
export function childOfPair(key: Uint8Array): Uint8Array {
  return new Uint8Array(key.subarray(TXID_BYTES));
}
