/**
 * A store that another thread of this process has open, to read: at the block it
 * is at when this is called, whatever the fold does meanwhile. It is an
 * `OpenStore` over an engine that shows one snapshot and cannot write, so that
 * commands read it as they read any other.
 */
import type { Engine } from '../../engine/engine.ts';
import { attachEngine } from '../../engine/open.ts';
import { openNetwork } from '../../families/networks.ts';
import { Fills } from '../../state/fill.ts';
import { Fold } from '../../state/fold.ts';
import { UnspentError } from '../../util/errors.ts';
import { storeProjections } from '../projections.ts';
import { planShape } from '../shape.ts';
import { OpenStore } from '../store.ts';
import type { StoreParcel } from './command-thread.ts';

/** Close it before the thread ends: the engine it reads must outlive it. */
export async function attachStore({
  handle,
  columns,
  data,
  network: named,
  config,
  projections,
  fold: options,
  publishing,
}: StoreParcel): Promise<OpenStore> {
  const engine = pinnedEngine(await attachEngine(handle, columns));
  try {
    const network = openNetwork(named.name, null, named.parameters);
    const table = storeProjections();
    const shape = planShape({ projections }, null, network.ledger, table, config);
    const fills = new Fills(engine, shape.projections, network.ledger);
    const fold = new Fold(engine, network.ledger, fills.projections, options);
    const nothing = { ignored: [], made: null, unclosed: null };
    const store = new OpenStore({ ...nothing, data, network, config, engine, fold, fills, shape, table });
    store.publishing = publishing;
    return store;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** The engine as it is now, for as long as it is open. */
function pinnedEngine(engine: Engine): Engine {
  const { columns } = engine;
  const snapshot = engine.snapshot(columns.map(({ name }) => name));
  const refuse = (): never => {
    throw new UnspentError('UNSUPPORTED', 'a store that another thread has open can only be read here');
  };
  return {
    columns,
    get: (column, key) => snapshot.get(column, key),
    getMany: (column, keys) => snapshot.getMany(column, keys),
    scan: (column, options) => snapshot.scan(column, options),
    // The same moment: it is given back when the engine is closed.
    snapshot: () => ({
      get: (column, key) => snapshot.get(column, key),
      getMany: (column, keys) => snapshot.getMany(column, keys),
      scan: (column, options) => snapshot.scan(column, options),
      release() {},
    }),
    batch: refuse,
    clear: refuse,
    stats: (column) => engine.stats(column),
    async close() {
      snapshot.release();
      await engine.close();
    },
  };
}
