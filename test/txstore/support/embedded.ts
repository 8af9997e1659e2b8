/** The embedded transaction store for the stories, on any engine. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseKind } from '../../../src/engine/directory.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { openMemory } from '../../../src/engine/memory.ts';
import { openEngineIn } from '../../../src/engine/open.ts';
import { TX_STORE_COLUMNS } from '../../../src/txstore/embedded/columns.ts';
import { EmbeddedTxStore } from '../../../src/txstore/embedded/index.ts';
import { indexDifferences } from '../../../src/txstore/embedded/indexes.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import { TxCache } from '../../../src/txstore/embedded/tx-cache.ts';
import type { ReorganisationLimit } from '../../../src/txstore/rules/settings.ts';
import type { TxStoreSettings } from '../../../src/txstore/store.ts';
import type { OpenedTxStore, OpenTxStore } from './world.ts';

/** So little that most records are read again, and some are not; and room for all that a short life has. */
export const SMALL_CACHE_BYTES = 8192;
export const AMPLE_CACHE_BYTES = 1024 * 1024;
/** So few heights that a pass knows those of some children and parents, and reads the others. */
const SMALL_CACHE_HEIGHTS = 24;

/** Whoever opened the engine closes it. What is at hand ends with the store, as with a process: one that is opened again reads all anew. */
export async function openEmbedded(
  engine: Engine,
  settings: TxStoreSettings,
  limit: ReorganisationLimit,
  cacheBytes: number = AMPLE_CACHE_BYTES,
): Promise<OpenedTxStore> {
  const heights = cacheBytes === SMALL_CACHE_BYTES ? SMALL_CACHE_HEIGHTS : undefined;
  const store = new EmbeddedTxStore(engine, settings, limit, new TxCache(cacheBytes, heights));
  return {
    store,
    records: async () => [...eachRecord(engine)],
    checkIndexes: async () => assert.deepEqual([...indexDifferences(engine)], []),
    reopen: () => openEmbedded(engine, settings, limit, cacheBytes),
    close: () => store.close(),
  };
}

/** One engine that stays open, emptied for each life: far cheaper than files of their own. A restart forgets what was at hand. */
export function emptiedEngine(engine: Engine, cacheBytes: () => number): OpenTxStore {
  return (settings, limit) => {
    const batch = engine.batch();
    for (const { name } of TX_STORE_COLUMNS) for (const [key] of engine.scan(name)) batch.del(name, key);
    batch.commit();
    return openEmbedded(engine, settings, limit, cacheBytes());
  };
}

/** An empty engine, for as long as the body runs. */
export async function withEngine<T>(kind: 'memory' | DatabaseKind, body: (engine: Engine) => Promise<T>): Promise<T> {
  if (kind === 'memory') return body(openMemory(TX_STORE_COLUMNS));
  const directory = mkdtempSync(join(tmpdir(), 'unspent-txstore-'));
  const engine = await openEngineIn(directory, TX_STORE_COLUMNS, { createIfMissing: true, kind });
  try {
    return await body(engine);
  } finally {
    await engine.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** On an engine on disk, in a directory of its own that goes with it. A restart opens its files again. */
export function diskOpener(kind: DatabaseKind): OpenTxStore {
  return async (settings, limit) => {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-txstore-'));
    const open = async (createIfMissing: boolean): Promise<OpenedTxStore> => {
      const engine = await openEngineIn(directory, TX_STORE_COLUMNS, { createIfMissing, kind });
      const opened = await openEmbedded(engine, settings, limit);
      const reopen = async (): Promise<OpenedTxStore> => {
        await engine.close();
        return open(false);
      };
      const close = async (): Promise<void> => {
        await engine.close();
        rmSync(directory, { recursive: true, force: true });
      };
      return { ...opened, reopen, close };
    };
    return open(true);
  };
}
