/** The embedded transaction store for the stories, on any engine. */
import assert from 'node:assert/strict';
import type { Engine } from '../../../src/engine/engine.ts';
import { EmbeddedTxStore } from '../../../src/txstore/embedded/index.ts';
import { indexDifferences } from '../../../src/txstore/embedded/indexes.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import type { ReorganisationLimit } from '../../../src/txstore/rules/settings.ts';
import type { TxStoreSettings } from '../../../src/txstore/store.ts';
import type { OpenedTxStore } from './world.ts';

/** Whoever opened the engine closes it. */
export async function openEmbedded(engine: Engine, settings: TxStoreSettings, limit: ReorganisationLimit): Promise<OpenedTxStore> {
  const store = new EmbeddedTxStore(engine, settings, limit);
  return {
    store,
    records: async () => [...eachRecord(engine)],
    checkIndexes: async () => assert.deepEqual(indexDifferences(engine), []),
    reopen: () => openEmbedded(engine, settings, limit),
    close: () => store.close(),
  };
}
