/**
 * All rows of one moment of a store into an empty engine, column by column, in
 * batches of bounded size: how a store is copied whose files change in place.
 */
import { COPY_BATCH_BYTES } from '../util/limits.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { Engine, Reader } from './engine.ts';

/** `onRows` is called after each batch, with all rows so far; whoever wants to stop throws there. */
export async function copyRows(from: Reader, to: Engine, onRows: (rows: number) => void): Promise<number> {
  const batch = to.batch();
  let rows = 0;
  let bytes = 0;
  const flush = async (): Promise<void> => {
    batch.commit();
    bytes = 0;
    onRows(rows);
    await nextTurn();
  };
  for (const { name } of to.columns) {
    for (const [key, value] of from.scan(name)) {
      batch.put(name, key, value);
      rows++;
      bytes += key.length + value.length;
      if (bytes >= COPY_BATCH_BYTES) await flush();
    }
  }
  if (bytes > 0) await flush();
  return rows;
}
