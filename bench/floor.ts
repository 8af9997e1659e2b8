/**
 * The floor under a sync: the keys and values of the finished store, written to
 * a bare engine in large batches, in the order in which the chain brings them.
 * What a sync takes more than that is ours.
 */
import { join } from 'node:path';
import type { Config } from '../src/config/schema.ts';
import type { Batch, Engine } from '../src/engine/engine.ts';
import { openEngineIn } from '../src/engine/open.ts';
import { Scratch } from '../src/util/scratch.ts';
import { temporary, timed } from './support.ts';

const FLOOR_BATCH_KEYS = 20_000;

/**
 * All rows of the finished store, in the order the chain brought them. Flat: a sync that is measured in the same process
 * must not pay for the garbage collector walking a million keys and values.
 */
export interface FinalRows {
  readonly engineColumns: Engine['columns'];
  /** By row: the place of its column, and the lengths of its key and its value. */
  readonly columns: Uint8Array;
  readonly keyBytes: Uint32Array;
  readonly valueBytes: Uint32Array;
  /** Key, value, key, value, ... */
  readonly flat: Uint8Array;
  readonly count: number;
  readonly bytes: number;
}

/** What `sync` leaves in the engine of an empty store. */
export async function finalRows(engine: Engine, sync: () => Promise<unknown>): Promise<FinalRows> {
  const order = recordOrder(engine);
  await sync();
  const rows: { readonly place: number; readonly key: Uint8Array; readonly value: Uint8Array; readonly at: number }[] = [];
  for (const [column, seen] of order) {
    const place = engine.columns.findIndex(({ name }) => name === column);
    for (const { key, at } of seen.values()) {
      const value = engine.get(column, key);
      if (value !== undefined) rows.push({ place, key, value, at });
    }
  }
  rows.sort((a, b) => a.at - b.at);
  const bytes = rows.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
  const flat = new Uint8Array(bytes);
  let end = 0;
  for (const { key, value } of rows) {
    flat.set(key, end);
    flat.set(value, end + key.length);
    end += key.length + value.length;
  }
  return {
    engineColumns: engine.columns,
    columns: Uint8Array.from(rows, ({ place }) => place),
    keyBytes: Uint32Array.from(rows, ({ key }) => key.length),
    valueBytes: Uint32Array.from(rows, ({ value }) => value.length),
    flat,
    count: rows.length,
    bytes,
  };
}

/** Notes when each key was last put. */
function recordOrder(engine: Engine): Map<string, Map<string, { key: Uint8Array; at: number }>> {
  const order = new Map<string, Map<string, { key: Uint8Array; at: number }>>();
  const batch = engine.batch();
  const put = batch.put.bind(batch);
  let at = 0;
  const recording: Pick<Batch, 'put'> = {
    put(column, key, value) {
      put(column, key, value);
      const seen = order.get(column) ?? new Map();
      order.set(column, seen);
      seen.set(Buffer.from(key).toString('latin1'), { key: key.slice(), at: at++ });
    },
  };
  Object.assign(batch, recording);
  return order;
}

/** Seconds to write them. */
export async function floor(rows: FinalRows, settings: Config['engine']): Promise<number> {
  const folder = temporary('floor');
  const engine = await openEngineIn(join(folder.path, 'db'), rows.engineColumns, { ...settings, createIfMissing: true });
  const key = new Scratch(64);
  const value = new Scratch(64 * 1024);
  const batch = engine.batch();
  const names = rows.engineColumns.map(({ name }) => name);
  const { seconds } = await timed(() => {
    for (let i = 0, at = 0; i < rows.count; i++) {
      const [keyBytes, valueBytes] = [rows.keyBytes[i], rows.valueBytes[i]];
      const valueAt = at + keyBytes;
      value.need(valueBytes);
      key.bytes.set(rows.flat.subarray(at, valueAt));
      value.bytes.set(rows.flat.subarray(valueAt, valueAt + valueBytes));
      batch.put(names[rows.columns[i]], key.view(keyBytes), value.view(valueBytes));
      at = valueAt + valueBytes;
      if (batch.size >= FLOOR_BATCH_KEYS) batch.commit();
    }
    batch.commit();
  });
  await engine.close();
  folder.remove();
  return seconds;
}
