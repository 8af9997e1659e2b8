/**
 * The mountain range as it moves with the chain: after every step of random
 * chains with forks it is the one built from scratch, block by block and row by
 * row, whatever the grouping, the ways back, the restarts and the engine.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MMR_LEAF, readLeafIndex } from '../../../src/projections/mmr/rows.ts';
import { verifyStore } from '../../../src/store/verify/verify.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { randomFrom } from '../../support/forged-chain.ts';
import { assertCode, assertSameDump, type Dump, dump, TEST_SEED } from '../../support/harness.ts';
import {
  bitcoinChain,
  cardanoChain,
  MmrModel,
  type MmrRig,
  mmrRig,
  mmrRocksRig,
  type TestChain,
  VERIFY_MMR,
  wideChain,
} from '../../support/mmr-rig.ts';
import { WatchedEngine } from '../../support/watched-engine.ts';

const CHAINS: readonly ((seed: number) => TestChain)[] = [
  (seed) => cardanoChain(seed, 'conway'),
  (seed) => cardanoChain(seed, 'ancient'),
  (seed) => bitcoinChain(seed),
];

/** The range is that of these blocks, and so is where every unspent output stands. */
function assertIsModel(rig: MmrRig, model: MmrModel, when: string): void {
  assert.deepEqual(rig.roots(), model.roots, when);
  const rows = Array.from(rig.engine.scan(MMR_LEAF), ([key, value]) => `${toHex(key)} ${readLeafIndex(value)}`);
  const wanted = [...model.unspent.values()].map(({ txId, index, leaf }) => `${toHex(txId)}${index.toString(16).padStart(8, '0')} ${leaf}`);
  assert.deepEqual(rows, wanted.sort(), `${when}: leaves`);
}

function assertVerified(rig: MmrRig, when: string): void {
  const { faults } = verifyStore(rig.engine, rig.ledger, VERIFY_MMR);
  assert.deepEqual(faults, [], when);
}

/** Grows, goes back and forks at random; after every step the store is the model. */
function wander(rig: MmrRig, chain: TestChain, rounds: number, seed: number): void {
  const random = randomFrom(seed);
  // More than a chunk of the bitmap to begin with.
  chain.mine(200);
  rig.apply(chain.blocks(), [40]);
  for (let round = 0; round < rounds; round++) {
    const height = chain.blocks().length;
    if (random(3) === 0 && height > 1) {
      const kept = Math.max(chain.name === 'bitcoin' ? 1 : 0, height - 1 - random(Math.min(height, 12)));
      rig.fold.rollback(chain.blocks()[kept - 1] ?? null);
      chain.fork(kept);
    } else rig.apply(chain.mine(1 + random(9)), [1 + random(5)]);
    if (random(4) === 0) rig.restart();
    assertIsModel(rig, new MmrModel(chain.ledger, chain.blocks()), `round ${round}, ${chain.name}`);
  }
  assertVerified(rig, chain.name);
}

describe('the mountain range of random chains', () => {
  for (const make of CHAINS) {
    const { name } = make(1);
    it(`is the one built from scratch after every step (${name})`, () => {
      for (let seed = 0; seed < 2; seed++) {
        const chain = make(TEST_SEED + seed);
        wander(mmrRig(chain.ledger, { selfContained: seed === 1 }), chain, 20, TEST_SEED + seed);
      }
    });
  }

  it('is the one built from scratch with many chunks in its bitmap', () => {
    const chain = wideChain(TEST_SEED);
    const rig = mmrRig(chain.ledger);
    chain.mine(12);
    rig.apply(chain.blocks(), [9]);
    const random = randomFrom(TEST_SEED);
    for (let round = 0; round < 7; round++) {
      if (round % 3 === 2) {
        const kept = chain.blocks().length - 1 - random(8);
        rig.fold.rollback(chain.blocks()[kept - 1]);
        chain.fork(kept);
      } else rig.apply(chain.mine(1 + random(4)), [1 + random(3)]);
      if (random(3) === 0) rig.restart();
      assertIsModel(rig, new MmrModel(chain.ledger, chain.blocks()), `round ${round}`);
    }
    assertVerified(rig, 'wide blocks');
    assert.ok(new MmrModel(chain.ledger, chain.blocks()).leaves.length > 17 * 1024);
    const before = dump(rig.engine);
    const blocks = [...chain.blocks()];
    rig.fold.rollback(blocks[4]);
    assertIsModel(rig, new MmrModel(chain.ledger, blocks.slice(0, 5)), 'far back');
    rig.apply(blocks.slice(5), [1000]);
    assertSameDump(dump(rig.engine), before, 'there again');
  });

  it('is the same on RocksDB', async () => {
    for (const make of CHAINS) {
      const chain = make(TEST_SEED + 9);
      const rig = await mmrRocksRig(chain.ledger);
      wander(rig, chain, 12, TEST_SEED + 9);
      await rig.close();
    }
  });

  it('has the roots of every block in what the block left', () => {
    for (const make of CHAINS) {
      const chain = make(TEST_SEED + 4);
      const rig = mmrRig(chain.ledger);
      chain.mine(60);
      rig.apply(chain.blocks(), [1, 17, 4]);
      const model = new MmrModel(chain.ledger, []);
      rig.read((query) => {
        for (const block of chain.blocks()) {
          model.add(block);
          const roots = query.mmrRoots(query.blockByHash(block.hash)!)!;
          assert.deepEqual({ size: roots.size, merged: toHex(roots.merged) }, { size: model.roots.size, merged: model.roots.merged });
        }
      });
    }
  });
});

describe('undoing it', () => {
  for (const make of CHAINS) {
    it(`gives every row back, however blocks were grouped (${make(1).name})`, () => {
      const chain = make(TEST_SEED + 2);
      chain.mine(70);
      const blocks = chain.blocks();
      const single = mmrRig(chain.ledger);
      const dumps: Dump[] = [dump(single.engine)];
      for (const block of blocks) {
        single.apply([block]);
        dumps.push(dump(single.engine));
      }
      for (const [sizes, pieces] of [
        [[1000], [1]],
        [
          [9, 2],
          [23, 1, 8],
        ],
        [[1], [1000]],
      ]) {
        const rig = mmrRig(chain.ledger);
        rig.apply(blocks, sizes);
        assertSameDump(dump(rig.engine), dumps[blocks.length], `in groups of ${sizes}`);
        for (let kept = blocks.length, i = 0; kept > 0; i++) {
          kept = Math.max(0, kept - pieces[i % pieces.length]);
          if (i % 5 === 4) rig.restart();
          rig.fold.rollback(blocks[kept - 1] ?? null);
          assertSameDump(dump(rig.engine), dumps[kept], `back to ${kept} blocks in pieces of ${pieces}`);
        }
      }
    });
  }
});

describe('a step that fails', () => {
  it('leaves nothing behind, not even in memory', () => {
    const chain = bitcoinChain(TEST_SEED);
    const rig = mmrRig(chain.ledger, { wrap: (engine) => new WatchedEngine(engine) });
    const engine = rig.engine as WatchedEngine;
    rig.apply([...chain.blocks(), ...chain.mine(20)], [6]);
    for (let round = 0; round < 6; round++) {
      const before = dump(engine);
      const next = chain.mine(3);
      engine.failure = new UnspentError('DISK_FULL', 'no space is left');
      assertCode(() => (round % 2 === 0 ? rig.fold.apply(next) : rig.fold.rollback(chain.blocks()[10])), 'DISK_FULL');
      assertSameDump(dump(engine), before, 'after the failure');
      rig.apply(next, [3]);
      assertIsModel(rig, new MmrModel(chain.ledger, chain.blocks()), `round ${round}`);
    }
  });

  it('is refused where a leaf, a bit or the record of a block is missing', () => {
    const chain = bitcoinChain(TEST_SEED + 1);
    const rig = mmrRig(chain.ledger);
    rig.apply([...chain.blocks(), ...chain.mine(15)], [4]);
    const next = chain.mine(8);
    const without = (column: string, keys: readonly Uint8Array[], body: () => void): void => {
      const rows = keys.map((key) => [key, rig.engine.get(column, key)!] as const);
      const batch = rig.engine.batch();
      for (const key of keys) batch.del(column, key);
      batch.commit();
      body();
      const back = rig.engine.batch();
      for (const [key, value] of rows) back.put(column, key, value);
      back.commit();
    };
    const leaves = Array.from(rig.engine.scan(MMR_LEAF), ([key]) => key);
    without(MMR_LEAF, leaves, () => assertCode(() => rig.fold.apply(next), 'STORE_DAMAGED'));
    const chunks = Array.from(rig.engine.scan('mmr_bitmap', { lt: Uint8Array.of(1) }), ([key]) => key);
    without('mmr_bitmap', chunks, () => {
      rig.restart();
      assertCode(() => rig.fold.apply(next), 'STORE_DAMAGED');
      assertCode(() => rig.fold.rollback(chain.blocks()[5]), 'STORE_DAMAGED');
      rig.restart();
    });
    rig.apply(next);
    assertIsModel(rig, new MmrModel(chain.ledger, chain.blocks()), 'repaired');
  });
});
