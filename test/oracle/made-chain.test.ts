/**
 * A chain of every era that a devnet wrote into a node's folder, read from there
 * through the library: at each of its blocks the store is what the devnet's own
 * account says, forwards and back. What the preview run shows on a real chain,
 * where no real chain is at hand.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { OpenStore } from '../../src/store/store.ts';
import { makeChunkFiles, writeChunkFolder } from '../support/chunk-folder.ts';
import { mineEveryEra } from '../support/every-era.ts';
import { assertSound, opener } from './oracle.ts';

test('a made chain of every era, from a folder of chunks', async (t) => {
  const chain = mineEveryEra(21);
  const folder = mkdtempSync(join(tmpdir(), 'unspent-made-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeChunkFolder(folder, makeChunkFiles(chain, 50));
  const genesis = { byron: chain.genesisByron, shelley: chain.genesisShelley };
  const assertAt = (store: OpenStore, blocks: number): void => {
    const utxos = chain.utxosAt(blocks);
    const lines = [...utxos.values()].map(({ key, lovelace }) => `${key} ${lovelace}\n`);
    const digest = createHash('sha256').update(lines.sort().join('')).digest('hex');
    const { hash } = chain.blocks[blocks - 1];
    assert.deepEqual([store.fold.head?.hash, store.digest().utxos, store.digest().digest], [hash, utxos.size, digest], `${blocks} blocks`);
  };

  const runs = [1, 1000].flatMap((syncGroupBlocks) => ['rocks', 'sqlite'].map((engineKind) => ({ syncGroupBlocks, engineKind })));
  for (const flags of runs) {
    await t.test(`${flags.syncGroupBlocks} blocks a commit, ${flags.engineKind}`, async (t) => {
      const store = await opener(t)({ network: 'devnet', genesis }, flags);
      assert.equal(store.status().engine.kind, flags.engineKind === 'rocks' ? 'rocksdb' : 'sqlite');
      for (const [i, block] of chain.blocks.entries()) {
        // A boundary block shares its slot with the one after it, or may; then the next stop is there.
        if (i % 7 !== 0 || block.slot === chain.blocks[i + 1]?.slot) continue;
        await store.follow(`immutable:${folder}`, { until: { kind: 'slot', slot: block.slot } });
        assertAt(store, i + 1);
      }
      const { reason } = await store.follow(`immutable:${folder}`);
      assert.equal(reason, 'end');
      assertAt(store, chain.blocks.length);
      assertSound(store);
      for (let blocks = chain.blocks.length - 3; blocks > 0; blocks -= 11) {
        const { height, slot, hash } = chain.blocks[blocks - 1];
        store.rollback({ height, slot, hash });
        assertAt(store, blocks);
      }
      await store.follow(`immutable:${folder}`);
      assertAt(store, chain.blocks.length);
      assertSound(store);
    });
  }
});
