/**
 * What a store does beside following: it prunes while no block comes, and gives
 * back the space of what it forgot.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDevnet } from '../../src/chains/cardano/devnet/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { blake2b256 } from '../../src/crypto/hash.ts';
import type { Batch } from '../../src/engine/engine.ts';
import type { Run, Source } from '../../src/sources/source.ts';
import { readPruned } from '../../src/state/pruned.ts';
import { compactDirectory } from '../../src/store/compact.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { until } from '../support/patience.ts';

const BLOCKS = 1500;
const config = (...set: string[]) => loadConfig({ flags: { set: ['utxo.pruneScheduleSeconds=1', ...set] } }).config;
const devnet = openDevnet(`devnet:?blocks=${BLOCKS}&seed=5`);

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'unspent-upkeep-'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const openIn = (name: string, ...set: string[]): Promise<OpenStore> =>
  openStore({ data: join(folder, name), network: 'devnet', genesis: devnet.genesis!, config: config(...set) });

/** The devnet's blocks at once, and then nothing for ever. */
const silent: Source = {
  name: 'silent:',
  async *runs(options): AsyncGenerator<Run> {
    yield* devnet.runs(options);
    if (!options.signal.aborted) await new Promise((resolve) => options.signal.addEventListener('abort', resolve, { once: true }));
  },
};

describe('upkeep', () => {
  it('prunes while the source is silent', async () => {
    const store = await openIn('silent', 'utxo.pruneDepth=20');
    const stop = new AbortController();
    const following = store.follow(silent, { follow: true, signal: stop.signal });
    await until(
      () => readPruned(store.engine).spent === BLOCKS - 1 - 20,
      () => `pruned to ${readPruned(store.engine).spent}`,
    );
    stop.abort();
    assert.equal((await following).reason, 'interrupted');
    assert.deepEqual(store.verify().faults, []);
    await store.close();
  });

  it('stops the follower when pruning fails', async () => {
    const store = await openIn('failing', 'utxo.pruneDepth=20');
    store.fold.watchers.add({
      pruned() {
        throw new Error('as when the disk is full');
      },
    });
    await assert.rejects(store.follow(silent, { follow: true }), /as when the disk is full/);
    await store.close();
  });

  it('gives back the space of what was forgotten, and loses nothing', async () => {
    const data = join(folder, 'large');
    const first = await openIn('large');
    await first.follow(devnet);
    const digest = first.digest();
    await first.close();
    const using = async <T>(body: (store: OpenStore) => T): Promise<T> => {
      const store = await openStore({ data, create: false, config: config() });
      try {
        return body(store);
      } finally {
        await store.close();
      }
    };
    const keys = Array.from({ length: 30_000 }, (_, i) => Uint8Array.from(Buffer.from(blake2b256(Buffer.from(`${i}`)))));
    const write = (change: (batch: Batch, key: Uint8Array) => void) =>
      using(({ engine }) => {
        const batch = engine.batch();
        for (const key of keys) change(batch, key);
        batch.commit();
      });
    const size = () => using(({ engine }) => engine.stats('utxo_spent').bytes);
    const live = await using(({ engine }) =>
      [...engine.scan('utxo_spent')].reduce((sum, [key, value]) => sum + key.length + value.length, 0),
    );
    // RocksDB may give the space back by itself when a store stays open for long: then it is wasted again.
    await until(async () => {
      await write((batch, key) => batch.put('utxo_spent', key, new Uint8Array(Buffer.concat(Array.from({ length: 8 }, () => key)))));
      await write((batch, key) => batch.del('utxo_spent', key));
      await size(); // What the log still held is a table after this.
      return (await size()) > 3 * live;
    }, 'opening a store gives nothing back');
    const sizes: number[] = [];
    const { before, after } = await compactDirectory({ data, config: config(), onProgress: (bytes) => sizes.push(bytes) });
    assert.ok(sizes.length > 0 && after <= before, `${before} bytes, then ${after}`);
    const left = await size();
    assert.ok(left < 1.1 * live, `${left} bytes for ${live}`);
    await using((store) => {
      assert.deepEqual(store.digest(), digest);
      assert.deepEqual(store.verify().faults, []);
    });
  });
});
