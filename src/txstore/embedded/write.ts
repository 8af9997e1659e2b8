/** How a unit gets into a batch: its records with their indexes, and how many records there are then. */
import type { Batch, Reader } from '../../engine/engine.ts';
import { readU64, writeU64 } from '../../util/bytes.ts';
import { COUNT_KEY, TX_RECORD } from './columns.ts';
import type { TxUnit } from './unit.ts';

export function putUnit(reader: Reader, batch: Batch, unit: TxUnit): void {
  const added = unit.write(batch);
  if (added === 0) return;
  const count = new Uint8Array(8);
  writeU64(count, 0, recordCount(reader) + added);
  batch.put(TX_RECORD, COUNT_KEY, count);
}

export function recordCount(reader: Reader): number {
  const row = reader.get(TX_RECORD, COUNT_KEY);
  return row === undefined ? 0 : readU64(row, 0);
}
