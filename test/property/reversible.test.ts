/**
 * The one idea, checked for Cardano (support/reversible.ts): over random chains
 * with forks, invalid transactions, chains inside a block, Byron boundary
 * blocks, what the ledger itself removes, and datums and scripts that come back
 * in outputs and witnesses.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { openMemory } from '../../src/engine/memory.ts';
import { selectProjections } from '../../src/projections/registry.ts';
import { deltaColumn } from '../../src/state/delta.ts';
import { Fold } from '../../src/state/fold.ts';
import { assertIsModel, Expected } from '../support/expected.ts';
import { recurrences } from '../support/expected-traits.ts';
import {
  assertSameDump,
  Devnet,
  devnetOptions,
  dump,
  type Flavour,
  KEEP_ALL,
  memoryRig,
  type Rig,
  type RigOptions,
  rocksRig,
  TEST_SEED,
} from '../support/harness.ts';
import { BLOCKS_ONLY } from '../support/keep.ts';
import { checkEveryBlock, describeReversible, type ReversibleFamily, type ReversibleRig } from '../support/reversible.ts';
import { ROUNDS } from '../support/rounds.ts';

/** What the chains have met. */
const met = {
  invalid: 0,
  invalidWithReturn: 0,
  returnSpent: 0,
  chain: 0,
  boundaries: 0,
  sharedSlots: 0,
  droppedZero: 0,
  droppedRedeem: 0,
  witnessAgain: 0,
  outputAgain: 0,
  witnessThenOutput: 0,
  outputThenWitness: 0,
};

function note(devnet: Devnet): void {
  const { shapes, blocks } = devnet.chain;
  for (const shape of ['invalid', 'invalidWithReturn', 'returnSpent', 'chain'] as const) met[shape] += shapes[shape];
  const boundaries = blocks.filter((block, i) => i > 0 && block.boundary);
  met.boundaries += boundaries.length;
  met.sharedSlots += blocks.filter((block, i) => i > 0 && block.slot === blocks[i - 1].slot).length;
  const dropped = new Expected(devnet).dropped();
  met.droppedZero += dropped.filter(({ lovelace }) => lovelace === 0n).length;
  met.droppedRedeem += dropped.filter(({ redeem }) => redeem).length;
  for (const [how, count] of Object.entries(recurrences(devnet))) met[how as keyof ReturnType<typeof recurrences>] += count;
}

/** As `ReversibleRig`. The chain is noted when nothing more comes. */
function reversible(rig: Rig, selfContained: boolean): ReversibleRig {
  const { devnet } = rig;
  return {
    engine: rig.engine,
    get length() {
      return devnet.chain.blocks.length;
    },
    forward: (count, groups) => rig.forward(count, groups),
    again: (kept, groups) => rig.apply(devnet.blocks(kept), groups),
    undo: (kept) => rig.fold.rollback(devnet.chain.blocks[kept - 1] ?? null),
    leave(depth) {
      rig.fold.rollback(devnet.pointBelow(depth));
      devnet.chain.rollback(depth);
    },
    checked(what) {
      assertIsModel(rig, what);
      return dump(rig.engine);
    },
    straight() {
      const straight = memoryRig(devnet, { selfContained });
      straight.apply(devnet.blocks());
      return dump(straight.engine);
    },
    async close() {
      note(devnet);
      await rig.close();
    },
  };
}

const opened =
  (open: (devnet: Devnet, options: RigOptions) => Rig | Promise<Rig>): ReversibleFamily<Flavour>['inMemory'] =>
  async ({ seed, kind, selfContained }) =>
    reversible(await open(new Devnet(devnetOptions(seed, kind), { dressed: true }), { selfContained }), selfContained);

describeReversible<Flavour>({
  name: 'Cardano',
  kinds: ['conway', 'ancient', 'ancient'],
  inMemory: opened(memoryRig),
  onRocks: opened(rocksRig),
  sizes: { group: 40, part: 45, forward: 25, back: 20, turns: 7 },
  runs: { inMemory: 60 * ROUNDS, onRocks: 12, forksInMemory: 50 * ROUNDS, forksOnRocks: 10 },
  failedBefore: [],
  forksFailedBefore: [],
  met,
});

describe('grouping does not matter', () => {
  it('any grouping gives the same store', () => {
    const groupings = fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
    const property = fc.property(
      fc.nat(),
      fc.constantFrom<Flavour>('conway', 'ancient', 'ancient'),
      fc.boolean(),
      groupings,
      (seed, flavour, selfContained, all) => {
        const devnet = new Devnet(devnetOptions(seed, flavour), { dressed: true });
        const blocks = devnet.mine(70);
        const [first, ...others] = [[1], [blocks.length], ...all].map((groups) => {
          const rig = memoryRig(devnet, { selfContained });
          rig.apply(blocks, groups);
          return dump(rig.engine);
        });
        others.forEach((other, i) => {
          assertSameDump(other, first, `grouping ${i + 1}`);
        });
      },
    );
    fc.assert(property, { seed: TEST_SEED, numRuns: 25 });
  });
});

describe('boundaries', () => {
  for (const seed of [1, 2, 3]) {
    it(`every block of all eras is undone exactly, one at a time and from any depth (seed ${seed})`, () => {
      const devnet = new Devnet(devnetOptions(seed, 'ancient'), { dressed: true });
      checkEveryBlock(reversible(memoryRig(devnet), false), 65, [60, 40, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 14, 1, 0]);
      assert.deepEqual([...new Set(devnet.chain.blocks.map(({ era }) => era))], [0, 1, 2, 3, 4, 5, 6, 7]);
    });
  }

  it('takes a genesis larger than its first group', () => {
    const devnet = new Devnet({ seed: 5, addresses: 120 });
    const rig = memoryRig(devnet);
    rig.forward(3);
    assertIsModel(rig);
    assert.equal(rig.fold.rollback(null), 3);
  });
});

describe('without the unspent set', () => {
  it('touches no UTXO column, and is as reversible', () => {
    const devnet = new Devnet(devnetOptions(4, 'ancient'));
    const projections = selectProjections(BLOCKS_ONLY, devnet.ledger);
    assert.deepEqual(
      projections.flatMap(({ columns }) => columns.map(({ name }) => name)),
      ['chain', 'chain_hash', 'tx'],
    );
    const rig = memoryRig(devnet, { utxo: false });
    const empty = dump(rig.engine);
    rig.forward(70, [5, 1, 9]);
    assertIsModel(rig);
    const far = dump(rig.engine);
    rig.fold.rollback(devnet.chain.blocks[20]);
    rig.apply(devnet.blocks(21));
    assertSameDump(dump(rig.engine), far, 'back and forward');
    rig.fold.rollback(null);
    assertSameDump(dump(rig.engine), empty, 'back at the origin');
  });

  it('leaves them empty even where they are there', () => {
    const devnet = new Devnet(devnetOptions(4, 'conway'));
    const all = selectProjections(KEEP_ALL, devnet.ledger);
    const engine = openMemory([...all.flatMap(({ columns }) => columns), deltaColumn]);
    const projections = selectProjections(BLOCKS_ONLY, devnet.ledger);
    const options = { utxo: false, partial: false, selfContained: true, pruneDepth: 10, rollbackWindow: 20, fsync: false };
    const fold = new Fold(engine, devnet.ledger, projections, options);
    for (const block of devnet.mine(30)) fold.apply([block]);
    for (const [column, rows] of dump(engine))
      assert.equal(rows.length > 0, ['chain', 'chain_hash', 'tx', 'delta'].includes(column), column);
  });
});
