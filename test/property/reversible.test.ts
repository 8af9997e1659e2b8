/**
 * The one idea, checked: `revert(apply(state, blocks))` is the state before,
 * byte for byte in every column, however the blocks were grouped and the way
 * back was cut. Over random chains with forks, invalid transactions, chains
 * inside a block, Byron boundary blocks, what the ledger itself removes, and
 * datums and scripts that come back in outputs and witnesses.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
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
  rocksRig,
  TEST_SEED,
} from '../support/harness.ts';
import { BLOCKS_ONLY } from '../support/keep.ts';
import { ROUNDS } from '../support/rounds.ts';

interface Scenario {
  readonly seed: number;
  readonly flavour: Flavour;
  readonly selfContained: boolean;
  /** Blocks before the part that is undone, and in it. */
  readonly base: number;
  readonly undone: number;
  /** Sizes of groups on the way forward, and of the pieces on the way back. */
  readonly groups: readonly number[];
  readonly pieces: readonly number[];
}

interface ForkScenario {
  readonly seed: number;
  readonly flavour: Flavour;
  readonly selfContained: boolean;
  readonly groups: readonly number[];
  /** So many blocks forward, then so many back. */
  readonly turns: readonly (readonly [forward: number, back: number])[];
}

/** Scenarios that failed once; they are tried before any other, for ever. */
const FAILED_BEFORE: readonly [Scenario][] = [];
const FORKS_FAILED_BEFORE: readonly [ForkScenario][] = [];

const common = {
  seed: fc.nat(),
  flavour: fc.constantFrom<Flavour>('conway', 'ancient', 'ancient'),
  selfContained: fc.boolean(),
  groups: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
};

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  ...common,
  base: fc.nat({ max: 45 }),
  undone: fc.integer({ min: 1, max: 45 }),
  pieces: fc.array(fc.integer({ min: 1, max: 45 }), { minLength: 1, maxLength: 4 }),
});

const forkScenarios: fc.Arbitrary<ForkScenario> = fc.record({
  ...common,
  turns: fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.nat({ max: 20 })), { minLength: 1, maxLength: 7 }),
});

/** What the scenarios have met, so that a generator gone tame is noticed. */
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

/** Back by `count` blocks, in pieces of these sizes. */
function goBack(rig: Rig, count: number, pieces: readonly number[]): void {
  const { blocks } = rig.devnet.chain;
  for (let left = count, i = 0; left > 0; i++) {
    const piece = Math.min(left, pieces[i % pieces.length]);
    left -= piece;
    const undone = rig.fold.rollback(blocks[blocks.length - 1 - count + left] ?? null);
    assert.equal(undone, piece);
  }
}

async function checkReversible(scenario: Scenario, open: (devnet: Devnet) => Promise<Rig>): Promise<void> {
  const { seed, flavour, base, undone, groups, pieces } = scenario;
  const devnet = new Devnet(devnetOptions(seed, flavour), { dressed: true });
  const rig = await open(devnet);
  try {
    const empty = dump(rig.engine);
    rig.forward(base, groups);
    const before = dump(rig.engine);
    if (base === 0) assertSameDump(before, empty, 'a new store');
    rig.forward(undone, groups);
    assertIsModel(rig, 'after the way forward');
    const far = dump(rig.engine);
    goBack(rig, undone, pieces);
    assertSameDump(dump(rig.engine), before, `after ${undone} blocks forward and back`);
    rig.apply(devnet.blocks(base), [...groups].reverse());
    assertSameDump(dump(rig.engine), far, 'forward again');
    goBack(rig, base + undone, pieces);
    assertSameDump(dump(rig.engine), empty, 'back at the origin');
    note(devnet);
  } finally {
    await rig.close();
  }
}

/** A store that has been on other forks is the store that never was. */
async function checkForks(scenario: ForkScenario, open: (devnet: Devnet) => Promise<Rig>): Promise<void> {
  const { seed, flavour, selfContained, groups, turns } = scenario;
  const devnet = new Devnet(devnetOptions(seed, flavour), { dressed: true });
  const rig = await open(devnet);
  try {
    for (const [forward, back] of turns) {
      rig.forward(forward, groups);
      const depth = Math.min(back, devnet.chain.blocks.length);
      rig.fold.rollback(devnet.pointBelow(depth));
      devnet.chain.rollback(depth);
    }
    rig.forward(3, groups);
    assertIsModel(rig, 'after the last fork');
    const straight = memoryRig(devnet, { selfContained });
    straight.apply(devnet.blocks());
    assertSameDump(dump(rig.engine), dump(straight.engine), 'after the last fork');
    note(devnet);
  } finally {
    await rig.close();
  }
}

describe('what is applied can be undone, byte for byte', () => {
  const inMemory = (options: { selfContained: boolean }) => async (devnet: Devnet) => memoryRig(devnet, options);
  const onRocks = (options: { selfContained: boolean }) => (devnet: Devnet) => rocksRig(devnet, options);

  it('in memory', async () => {
    const property = fc.asyncProperty(scenarios, (scenario) => checkReversible(scenario, inMemory(scenario)));
    await fc.assert(property, { seed: TEST_SEED, numRuns: 60 * ROUNDS, examples: [...FAILED_BEFORE] });
  });

  it('on RocksDB', async () => {
    const property = fc.asyncProperty(scenarios, (scenario) => checkReversible(scenario, onRocks(scenario)));
    await fc.assert(property, { seed: TEST_SEED + 1, numRuns: 12, examples: [...FAILED_BEFORE] });
  });

  it('over forks, in memory', async () => {
    const property = fc.asyncProperty(forkScenarios, (scenario) => checkForks(scenario, inMemory(scenario)));
    await fc.assert(property, { seed: TEST_SEED + 2, numRuns: 50 * ROUNDS, examples: [...FORKS_FAILED_BEFORE] });
  });

  it('over forks, on RocksDB', async () => {
    const property = fc.asyncProperty(forkScenarios, (scenario) => checkForks(scenario, onRocks(scenario)));
    await fc.assert(property, { seed: TEST_SEED + 3, numRuns: 10, examples: [...FORKS_FAILED_BEFORE] });
  });

  after(() => {
    const never = Object.entries(met).filter(([, count]) => count === 0);
    assert.deepEqual(never, [], 'every kind of block was met');
  });
});

describe('grouping does not matter', () => {
  it('any grouping gives the same store', () => {
    const groupings = fc.array(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
    const property = fc.property(common.seed, common.flavour, common.selfContained, groupings, (seed, flavour, selfContained, all) => {
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
    });
    fc.assert(property, { seed: TEST_SEED, numRuns: 25 });
  });
});

describe('boundaries', () => {
  for (const seed of [1, 2, 3]) {
    it(`every block of all eras is undone exactly, one at a time and from any depth (seed ${seed})`, () => {
      const devnet = new Devnet(devnetOptions(seed, 'ancient'), { dressed: true });
      const rig = memoryRig(devnet);
      const dumps = [dump(rig.engine)];
      for (let i = 0; i < 65; i++) {
        rig.forward(1);
        dumps.push(dump(rig.engine));
      }
      assert.deepEqual([...new Set(devnet.chain.blocks.map(({ era }) => era))], [0, 1, 2, 3, 4, 5, 6, 7]);
      const points = devnet.chain.blocks;
      for (let kept = points.length - 1; kept >= 0; kept--) {
        assert.equal(rig.fold.rollback(points[kept - 1] ?? null), 1);
        assertSameDump(dump(rig.engine), dumps[kept], `back to ${kept} blocks`);
      }
      rig.apply(devnet.blocks(), [points.length]);
      for (const kept of [60, 40, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 14, 1, 0]) {
        rig.fold.rollback(points[kept - 1] ?? null);
        assertSameDump(dump(rig.engine), dumps[kept], `back to ${kept} blocks at once`);
        rig.apply(devnet.blocks(kept), [7]);
        assertSameDump(dump(rig.engine), dumps[points.length], `forward again from ${kept} blocks`);
      }
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
