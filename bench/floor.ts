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

/** All rows of the finished store, keys and values side by side, in the order the chain brought them. */
export interface FinalRows {
  readonly engineColumns: Engine['columns'];
  readonly columns: readonly string[];
  readonly keys: readonly Uint8Array[];
  readonly values: readonly Uint8Array[];
  readonly count: number;
  readonly bytes: number;
}

/** What `sync` leaves in the engine of an empty store. */
export async function finalRows(engine: Engine, sync: () => Promise<unknown>): Promise<FinalRows> {
  const order = recordOrder(engine);
  await sync();
  const columns: string[] = [];
  const keys: Uint8Array[] = [];
  const values: Uint8Array[] = [];
  let bytes = 0;
  for (const [column, seen] of order) {
    for (const { key, at } of seen.values()) {
      const value = engine.get(column, key);
      if (value === undefined) continue;
      columns[at] = column;
      keys[at] = key;
      values[at] = value;
      bytes += key.length + value.length;
    }
  }
  const kept = Object.keys(keys).map(Number);
  return {
    engineColumns: engine.columns,
    columns: kept.map((at) => columns[at]),
    keys: kept.map((at) => keys[at]),
    values: kept.map((at) => values[at]),
    count: kept.length,
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
  const { seconds } = await timed(() => {
    for (let i = 0; i < rows.count; i++) {
      const [k, v] = [rows.keys[i], rows.values[i]];
      value.need(v.length);
      key.bytes.set(k);
      value.bytes.set(v);
      batch.put(rows.columns[i], key.view(k.length), value.view(v.length));
      if (batch.size >= FLOOR_BATCH_KEYS) batch.commit();
    }
    batch.commit();
  });
  await engine.close();
  folder.remove();
  return seconds;
}
