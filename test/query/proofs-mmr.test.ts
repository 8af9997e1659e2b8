/**
 * Proofs from the mountain range at every point of the window: whatever was
 * unspent then is proven unspent, whatever was spent is proven spent, neither
 * passes for the other, and what is not known is said.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Block } from '../../src/ledgers/ledger.ts';
import { MMR_BITMAP } from '../../src/projections/mmr/rows.ts';
import { mmr } from '../../src/proofs/index.ts';
import type { MmrProofs } from '../../src/query/proofs.ts';
import { decodeBlockDelta, encodeBlockDelta } from '../../src/query/record-delta.ts';
import { toHex } from '../../src/util/bytes.ts';
import { assertCode, Devnet, devnetOptions, memoryRig, TEST_SEED } from '../support/harness.ts';
import { bitcoinChain, cardanoChain, MmrModel, type MmrRig, type ModelLeaf, mmrRig, type TestChain } from '../support/mmr-rig.ts';

const CHAINS: readonly ((seed: number) => TestChain)[] = [
  (seed) => cardanoChain(seed, 'conway'),
  (seed) => cardanoChain(seed, 'ancient'),
  (seed) => bitcoinChain(seed),
];

function assertProven(range: MmrProofs, merged: Uint8Array, { txId, index, leaf, content }: ModelLeaf, status: mmr.UtxoStatus): void {
  assert.equal(range.leafIndex(txId, index), leaf);
  const proof = mmr.utxoProofFromJson(JSON.parse(JSON.stringify(mmr.utxoProofToJson(range.prove(leaf)))));
  const [right, wrong] = status === 'unspent' ? [mmr.verifyUnspent, mmr.verifySpent] : [mmr.verifySpent, mmr.verifyUnspent];
  assert.deepEqual(right(merged, content, proof), { ok: true, status });
  assert.equal(wrong(merged, content, proof).ok, false);
}

/** Everything that can be said of the chain as of the first `kept` blocks, read from a store that has all of them. */
function assertProvesAll(rig: MmrRig, chain: TestChain, kept: number): void {
  const blocks = chain.blocks();
  const model = new MmrModel(chain.ledger, blocks.slice(0, kept));
  const { merged } = model;
  const point: Block | null = blocks[kept - 1] ?? null;
  assert.deepEqual(rig.roots(point), model.roots, `as of ${kept} blocks`);
  rig.read((query) => {
    const range = query.mmr(point);
    for (const leaf of model.unspent.values()) assertProven(range, merged, leaf, 'unspent');
    for (const leaf of model.spentBy.flat()) assertProven(range, merged, leaf, 'spent');
    const later = new MmrModel(chain.ledger, blocks).leaves.slice(model.leaves.length);
    for (const { txId, index } of later) assert.equal(range.leafIndex(txId, index), null, 'not there yet');
    assert.equal(range.leafIndex(new Uint8Array(32).fill(7), 0), null);
    assertCode(() => range.prove(model.leaves.length), 'USAGE');
  });
}

describe('proofs from the mountain range', () => {
  for (const make of CHAINS) {
    for (const selfContained of [false, true]) {
      const name = `${make(1).name}${selfContained ? ', self-contained' : ''}`;
      it(`tell unspent from spent, now and at every earlier block (${name})`, () => {
        const chain = make(TEST_SEED + 3);
        const rig = mmrRig(chain.ledger, { selfContained });
        chain.mine(40);
        rig.apply(chain.blocks(), [5, 1]);
        for (let kept = chain.blocks().length; kept >= 0; kept -= 3) assertProvesAll(rig, chain, kept);
        assertProvesAll(rig, chain, 0);
      });
    }
  }

  it('of outputs whose spent row is pruned come from undo records that carry them', () => {
    const chain = bitcoinChain(TEST_SEED + 1);
    const rig = mmrRig(chain.ledger, { selfContained: true, pruneDepth: 5, rollbackWindow: 30 });
    chain.mine(60);
    rig.apply(chain.blocks(), [8]);
    rig.prune();
    const model = new MmrModel(chain.ledger, chain.blocks());
    const inReach = model.spentBy.slice(-30);
    assert.ok(inReach.slice(0, 25).flat().length > 10);
    rig.read((query) => {
      for (const leaf of inReach.flat()) assertProven(query.mmr(), model.merged, leaf, 'spent');
      for (const { txId, index } of model.spentBy.slice(0, -30).flat()) assert.equal(query.mmr().leafIndex(txId, index), null);
    });
  });

  it('are remembered for the points that were asked for last', () => {
    const chain = bitcoinChain(TEST_SEED);
    const rig = mmrRig(chain.ledger);
    chain.mine(30);
    rig.apply(chain.blocks(), [5]);
    const { ranges } = rig.overlays;
    for (let round = 0; round < 3; round++) for (const at of [20, 10, 15, 5]) rig.roots(chain.blocks()[at]);
    assert.equal(ranges.built, 4);
    // Another tip is another range to undo from; the point is still the same.
    const before = rig.roots(chain.blocks()[10]);
    rig.apply(chain.mine(2));
    assert.deepEqual(rig.roots(chain.blocks()[10]), before);
    assert.equal(ranges.built, 5);
    rig.roots();
    rig.roots(null);
    assert.equal(ranges.built, 5, 'the present and the origin need none');
  });

  it('are refused where there is no range, no such point, or no way back to it', () => {
    const devnet = new Devnet(devnetOptions(1, 'conway'));
    const classic = memoryRig(devnet);
    classic.forward(5);
    assertCode(() => classic.read((query) => query.mmr()), 'UNSUPPORTED');
    assertCode(() => classic.read((query) => query.mmrRoots(query.blockAtHeight(2)!)), 'UNSUPPORTED');
    const chain = bitcoinChain(TEST_SEED);
    const rig = mmrRig(chain.ledger, { pruneDepth: 6, rollbackWindow: 9 });
    chain.mine(30);
    rig.apply(chain.blocks(), [5]);
    rig.prune();
    assertCode(() => rig.roots({ height: 3, slot: 3, hash: new Uint8Array(32) }), 'POINT_UNKNOWN');
    assertCode(() => rig.roots(chain.blocks()[23]), 'PRUNED');
    assert.equal(rig.roots(chain.blocks()[24]).size, new MmrModel(chain.ledger, chain.blocks().slice(0, 25)).roots.size);
    rig.read((query) => {
      assert.equal(query.mmrRoots(query.blockAtHeight(21)!), null);
      // Its undo record is still there, what it spent is not.
      assert.ok(query.mmrRoots(query.blockAtHeight(22)!) !== null);
      assertCode(() => query.changes(query.blockAtHeight(22)!), 'PRUNED');
    });
  });

  it('do not hold where the bitmap is damaged, and no root of the past is told', () => {
    const chain = bitcoinChain(TEST_SEED);
    const rig = mmrRig(chain.ledger);
    chain.mine(20);
    rig.apply(chain.blocks(), [5]);
    const [[key, value]] = rig.engine.scan(MMR_BITMAP, { limit: 1 });
    const damaged = value.slice();
    damaged[3] ^= 0xff;
    const batch = rig.engine.batch();
    batch.put(MMR_BITMAP, key, damaged);
    batch.commit();
    assertCode(() => rig.roots(chain.blocks()[10]), 'STORE_DAMAGED');
    const model = new MmrModel(chain.ledger, chain.blocks());
    const [leaf] = model.unspent.values();
    const proof = rig.read((query) => query.mmr().prove(leaf.leaf));
    assert.equal(mmr.verifyUtxo(model.merged, leaf.content, proof).ok, false);
  });
});

describe('what a block did to the mountain range', () => {
  for (const make of CHAINS) {
    it(`is in its delta (${make(1).name})`, () => {
      const chain = make(TEST_SEED + 8);
      const rig = mmrRig(chain.ledger);
      chain.mine(30);
      rig.apply(chain.blocks(), [4]);
      const model = new MmrModel(chain.ledger, []);
      rig.read((query) => {
        for (const block of chain.blocks()) {
          const before = model.roots.size;
          model.add(block);
          const { mmr: done, spent, ...rest } = query.changes(query.blockByHash(block.hash)!);
          assert.ok(done !== null);
          const { size, merged, pmmrRoot } = model.roots;
          assert.deepEqual(done.inserts, [before, size]);
          assert.equal(toHex(done.root), merged);
          const nameOf = (txId: Uint8Array, index: number): string => `${toHex(txId)}#${index}`;
          const leaves = new Map(model.spentBy.at(-1)!.map(({ txId, index, leaf }) => [nameOf(txId, index), leaf]));
          assert.deepEqual(
            done.deletes,
            spent.map(({ txId, index }) => leaves.get(nameOf(txId, index))),
          );
          assert.equal(toHex(mmr.rangeRoot({ size, peaks: done.peaks })), pmmrRoot);
          const record = {
            form: 'compact' as const,
            block: block.height,
            slot: block.slot,
            blockHash: block.hash,
            created: [],
            spent: [],
            invalid: [],
            mmr: done,
          };
          assert.deepEqual(decodeBlockDelta(encodeBlockDelta(record)).mmr, done);
          assert.equal(rest.txs.length, block.txs.length);
        }
      });
    });
  }
});
