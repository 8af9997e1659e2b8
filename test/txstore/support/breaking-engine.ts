/** An engine whose commits fail, and what every change of the embedded transaction store must show on it (F5, F15). */
import assert from 'node:assert/strict';
import type { Batch, Engine } from '../../../src/engine/engine.ts';
import { dump } from '../../../src/testing/columns-dump.ts';
import { TX_STORE_COLUMNS } from '../../../src/txstore/embedded/columns.ts';
import { indexDifferences } from '../../../src/txstore/embedded/indexes.ts';
import { CHANGES, fillIndexes } from './changes.ts';
import { openEmbedded } from './embedded.ts';
import { TxWorld } from './world.ts';

/** One that is not committed leaves nothing, and one that is needs one commit. On an engine that is emptied for each. */
export async function everyChangeIsOneBatch(engineOfAll: Engine): Promise<void> {
  for (const call of CHANGES) {
    for (const { name } of TX_STORE_COLUMNS) engineOfAll.clear(name);
    const engine = new BreakingEngine(engineOfAll);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await fillIndexes(world);
    const before = dump(engine);
    engine.isBroken = true;
    await assert.rejects(call(world), /the disk is gone/);
    assert.deepEqual(dump(engine), before);
    engine.isBroken = false;
    engine.commits = 0;
    await call(world);
    assert.equal(engine.commits, 1, String(call));
    assert.notDeepEqual(dump(engine), before);
    assert.deepEqual([...indexDifferences(engine)], []);
    assert.equal((await world.store.stats()).records, (await world.names()).length);
  }
}

/** An engine whose commits fail as long as it is broken. */
export class BreakingEngine implements Engine {
  readonly #engine: Engine;
  isBroken = false;
  commits = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get columns(): Engine['columns'] {
    return this.#engine.columns;
  }

  get: Engine['get'] = (column, key) => this.#engine.get(column, key);
  getMany: Engine['getMany'] = (column, keys) => this.#engine.getMany(column, keys);
  scan: Engine['scan'] = (column, options) => this.#engine.scan(column, options);
  snapshot: Engine['snapshot'] = (columns) => this.#engine.snapshot(columns);
  clear: Engine['clear'] = (column) => this.#engine.clear(column);
  stats: Engine['stats'] = (column) => this.#engine.stats(column);
  close: Engine['close'] = () => this.#engine.close();

  batch(): Batch {
    const batch = this.#engine.batch();
    return {
      put: (column, key, value) => batch.put(column, key, value),
      del: (column, key) => batch.del(column, key),
      clear: () => batch.clear(),
      get size() {
        return batch.size;
      },
      commit: (options) => {
        this.commits++;
        if (this.isBroken) throw new Error('the disk is gone');
        batch.commit(options);
      },
    };
  }
}
