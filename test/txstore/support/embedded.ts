/** The embedded transaction store for the stories, on any engine. */
import assert from 'node:assert/strict';
import type { Engine } from '../../../src/engine/engine.ts';
import { EmbeddedTxStore } from '../../../src/txstore/embedded/index.ts';
import { indexDifferences } from '../../../src/txstore/embedded/indexes.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import { TxCache } from '../../../src/txstore/embedded/tx-cache.ts';
import type { ReorganisationLimit } from '../../../src/txstore/rules/settings.ts';
import type { TxStoreSettings } from '../../../src/txstore/store.ts';
import type { OpenedTxStore } from './world.ts';

/** So little that most records are read again, and some are not; and room for all that a short life has. */
export const SMALL_CACHE_BYTES = 8192;
export const AMPLE_CACHE_BYTES = 1024 * 1024;
/** So few heights that a pass knows those of some children and parents, and reads the others. */
const SMALL_CACHE_HEIGHTS = 24;

/** Whoever opened the engine closes it. */
export async function openEmbedded(
  engine: Engine,
  settings: TxStoreSettings,
  limit: ReorganisationLimit,
  cacheBytes?: number,
): Promise<OpenedTxStore> {
  const heights = cacheBytes === SMALL_CACHE_BYTES ? SMALL_CACHE_HEIGHTS : undefined;
  const store = new EmbeddedTxStore(engine, settings, limit, cacheBytes === undefined ? undefined : new TxCache(cacheBytes, heights));
  return {
    store,
    records: async () => [...eachRecord(engine)],
    checkIndexes: async () => assert.deepEqual(indexDifferences(engine), []),
    reopen: () => openEmbedded(engine, settings, limit, cacheBytes),
    close: () => store.close(),
  };
}
