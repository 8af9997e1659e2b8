/**
 * How many records there are, and a mark that every change sets anew: whoever
 * has records at hand (tx-cache.ts) knows by it whether they are still those of
 * the store, also when somebody else has written, or a commit has failed.
 *
 *   0  records u64   8  mark u64
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import { readU64, writeU64 } from '../../util/bytes.ts';
import { TOTALS_KEY, TX_RECORD } from './columns.ts';

export interface TxTotals {
  readonly records: number;
  /** Of the last change; no other change has the same. */
  readonly mark: number;
}

export function readTotals(reader: Reader): TxTotals {
  const row = reader.get(TX_RECORD, TOTALS_KEY);
  return row === undefined ? { records: 0, mark: 0 } : { records: readU64(row, 0), mark: readU64(row, 8) };
}

export function putTotals(batch: Batch, { records, mark }: TxTotals): void {
  const row = new Uint8Array(16);
  writeU64(row, 0, records);
  writeU64(row, 8, mark);
  batch.put(TX_RECORD, TOTALS_KEY, row);
}

/** Chance, not a count: after a commit that failed, a count would be given twice. */
export function newMark(): number {
  return 1 + Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
}
