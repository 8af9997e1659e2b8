/**
 * Compaction of the mountain range: what is spent for good goes, once no way
 * back can need it; roots, proofs of what is left and every point that can still
 * be gone back to stay as they are, and it ends the same however it was cut.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Point } from '../../../src/ledgers/ledger.ts';
import { MMR_NODES, MMR_PRUNE, readMmrState } from '../../../src/projections/mmr/rows.ts';
import { mmr } from '../../../src/proofs/index.ts';
import { verifyStore } from '../../../src/store/verify/verify.ts';
import { readU64 } from '../../../src/util/bytes.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { randomFrom } from '../../support/forged-chain.ts';
import { assertCode, assertSameDump, dump, TEST_SEED } from '../../support/harness.ts';
import {
  bitcoinChain,
  cardanoChain,
  MmrModel,
  type MmrRig,
  mmrRig,
  mmrRocksRig,
  type TestChain,
  VERIFY_MMR,
} from '../../support/mmr-rig.ts';
import { WatchedEngine } from '../../support/watched-engine.ts';

const WINDOWS = { pruneDepth: 12, rollbackWindow: 25 } as const;
const MODES = [false, true] as const;

const CHAINS: readonly ((seed: number) => TestChain)[] = [(seed) => cardanoChain(seed, 'ancient'), (seed) => bitcoinChain(seed)];

/** Blocks that can still be taken back. */
const reach = (selfContained: boolean): number => (selfContained ? WINDOWS.rollbackWindow : WINDOWS.pruneDepth);

const rowsOf = (rig: MmrRig, column: string): number[] => Array.from(rig.engine.scan(column), ([key]) => readU64(key, 0));

/** What a range needs where these leaves may go: parents of something that is left, and where the largest parts were freed. */
function expectedRows(model: MmrModel, gone: ReadonlySet<number>): { readonly parents: number[]; readonly pruned: number[] } {
  const { size } = model.roots;
  const parents: number[] = [];
  const pruned: number[] = [];
  const isGone = (position: number): boolean => {
    const { leavesBefore, height } = mmr.placeOf(position);
    for (let leaf = leavesBefore - 2 ** height + 1; leaf <= leavesBefore; leaf++) if (!gone.has(leaf)) return false;
    return true;
  };
  for (let position = 0; position < size; position++) {
    const { parent } = mmr.familyOf(position);
    const isOut = isGone(position);
    if (!isOut && mmr.placeOf(position).height > 0) parents.push(position);
    if (isOut && !(parent < size && isGone(parent))) pruned.push(position);
  }
  return { parents, pruned };
}

/** What is there is what has to be: the leaves that blocks behind the horizon spent are gone, and no others. */
function assertCompacted(rig: MmrRig, chain: TestChain, settled: number, when: string): void {
  const model = new MmrModel(chain.ledger, chain.blocks());
  const { roots } = model;
  assert.deepEqual(rig.roots(), roots, when);
  const gone = new Set(model.spentBy.slice(0, settled).flatMap((spent) => spent.map(({ leaf }) => leaf)));
  const { parents, pruned } = expectedRows(model, gone);
  assert.deepEqual(rowsOf(rig, MMR_NODES), parents, `${when}: nodes`);
  assert.deepEqual(rowsOf(rig, MMR_PRUNE), pruned, `${when}: pruned roots`);
  const cutoff = new MmrModel(chain.ledger, chain.blocks().slice(0, settled)).roots.size;
  assert.equal(readMmrState(rig.engine).cutoff, cutoff, `${when}: cutoff`);
  const { faults } = verifyStore(rig.engine, rig.ledger, VERIFY_MMR);
  assert.deepEqual(faults, [], when);
}

function assertProvable(rig: MmrRig, model: MmrModel, point: Point | null, when: string): void {
  const { merged } = model;
  rig.read((query) => {
    const range = query.mmr(point);
    for (const { txId, index, leaf, content } of model.unspent.values()) {
      assert.equal(range.leafIndex(txId, index), leaf);
      assert.deepEqual(mmr.verifyUnspent(merged, content, range.prove(leaf)), { ok: true, status: 'unspent' }, when);
    }
  });
}

describe('compaction', () => {
  for (const make of CHAINS) {
    for (const selfContained of MODES) {
      const name = `${make(1).name}${selfContained ? ', self-contained' : ''}`;

      it(`frees what is spent for good, and changes no root and no proof (${name})`, () => {
        const chain = make(TEST_SEED + 1);
        const rig = mmrRig(chain.ledger, { ...WINDOWS, selfContained });
        chain.mine(80);
        rig.apply(chain.blocks(), [7]);
        const nodesBefore = rowsOf(rig, MMR_NODES).length;
        rig.prune();
        const kept = chain.blocks().filter(({ height }) => height > rig.fold.head!.height - reach(selfContained)).length;
        assertCompacted(rig, chain, chain.blocks().length - kept, name);
        assert.ok(rowsOf(rig, MMR_NODES).length < nodesBefore, 'something was freed');
        assertProvable(rig, new MmrModel(chain.ledger, chain.blocks()), rig.fold.head, name);
      });

      it(`leaves the way back to every point of the window, and to none below it (${name})`, () => {
        const chain = make(TEST_SEED + 2);
        const rig = mmrRig(chain.ledger, { ...WINDOWS, selfContained });
        chain.mine(75);
        rig.apply(chain.blocks(), [11]);
        rig.prune();
        const blocks = [...chain.blocks()];
        const lowest = blocks.length - 1 - reach(selfContained);
        assertCode(() => rig.fold.rollback(blocks[lowest - 1]), 'HORIZON');
        for (let at = blocks.length - 1; at >= lowest; at--) {
          const model = new MmrModel(chain.ledger, blocks.slice(0, at + 1));
          assert.deepEqual(rig.roots(blocks[at]), model.roots, `as of block ${at}`);
          assertProvable(rig, model, blocks[at], `as of block ${at}`);
        }
        for (let at = blocks.length - 2; at >= lowest; at -= 3) {
          rig.fold.rollback(blocks[at]);
          assert.deepEqual(rig.roots(), new MmrModel(chain.ledger, blocks.slice(0, at + 1)).roots, `back at block ${at}`);
        }
        rig.fold.rollback(blocks[lowest]);
        assertCode(() => rig.fold.rollback(blocks[lowest - 1]), 'HORIZON');
        // Forward again, and the same rows as if it had never been back.
        rig.apply(blocks.slice(lowest + 1), [5]);
        rig.prune();
        assertCompacted(rig, chain, lowest + 1, 'forward again');
      });

      it(`ends the same however it was cut, with forks in between (${name})`, () => {
        const random = randomFrom(TEST_SEED);
        const chain = make(TEST_SEED + 3);
        const rig = mmrRig(chain.ledger, { ...WINDOWS, selfContained });
        rig.apply(chain.blocks());
        for (let round = 0; round < 12; round++) {
          rig.apply(chain.mine(4 + random(12)), [1 + random(6)]);
          if (random(3) === 0) rig.restart();
          for (let calls = random(3); calls > 0; calls--) rig.prune(1 + random(5));
          const kept = chain.blocks().length - 1 - random(8);
          const target = chain.blocks()[kept - 1];
          if (random(2) === 0 && kept > 1 && target.height >= (rig.fold.horizonHeight ?? 0)) {
            rig.fold.rollback(target);
            chain.fork(kept);
          }
          assert.deepEqual(rig.roots(), new MmrModel(chain.ledger, chain.blocks()).roots, `round ${round}`);
        }
        rig.apply(chain.mine(30), [10]);
        while (!rig.prune(3).done);
        const straight = mmrRig(chain.ledger, { ...WINDOWS, selfContained });
        straight.apply(chain.blocks(), [1000]);
        straight.prune();
        assertSameDump(dump(rig.engine), dump(straight.engine), name);
      });
    }
  }

  it('is the same on RocksDB', async () => {
    const chain = bitcoinChain(TEST_SEED + 5);
    const rig = await mmrRocksRig(chain.ledger, WINDOWS);
    rig.apply(chain.blocks());
    for (let round = 0; round < 5; round++) {
      rig.apply(chain.mine(20), [6]);
      rig.prune(7);
    }
    while (!rig.prune(7).done);
    assertCompacted(rig, chain, chain.blocks().length - WINDOWS.pruneDepth, 'on disk');
    assertProvable(rig, new MmrModel(chain.ledger, chain.blocks()), rig.fold.head, 'on disk');
    await rig.close();
  });

  it('that fails changes nothing, and what was freed can no longer be proven', () => {
    const chain = bitcoinChain(TEST_SEED + 6);
    const rig = mmrRig(chain.ledger, { ...WINDOWS, wrap: (engine) => new WatchedEngine(engine) });
    chain.mine(60);
    rig.apply(chain.blocks(), [9]);
    const before = dump(rig.engine);
    (rig.engine as WatchedEngine).failure = new UnspentError('DISK_FULL', 'no space is left');
    assertCode(() => rig.prune(), 'DISK_FULL');
    assertSameDump(dump(rig.engine), before, 'after the failure');
    rig.apply(chain.mine(1));
    rig.prune();
    const model = new MmrModel(chain.ledger, chain.blocks());
    assertCompacted(rig, chain, chain.blocks().length - WINDOWS.pruneDepth, 'tried again');
    const settled = model.spentBy.slice(0, -WINDOWS.pruneDepth).flat();
    const nodes = new Set(rowsOf(rig, MMR_NODES));
    const freed = settled.filter(({ leaf }) => !nodes.has(mmr.familyOf(mmr.leafPosition(leaf)).parent));
    assert.ok(freed.length > 10);
    rig.read((query) => {
      for (const { txId, index } of settled) assert.equal(query.mmr().leafIndex(txId, index), null, 'forgotten');
      assertCode(() => query.mmr().prove(freed[0].leaf), 'PRUNED');
    });
  });
});
