/**
 * The one idea, as a property of any family: `revert(apply(state, blocks))` is
 * the state before, byte for byte in every column, however the blocks were
 * grouped and the way back was cut, and a store that has been on other forks is
 * the store that never was. A family brings its chains and what its producer
 * says of them.
 */
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import type { Engine } from '../../src/engine/engine.ts';
import { assertSameDump, type Dump, dump, TEST_SEED } from './harness.ts';

/** A store and the chain that it follows. */
export interface ReversibleRig {
  readonly engine: Engine;
  /** Blocks of the chain. */
  readonly length: number;
  /** Mines, and applies in groups of these sizes. */
  forward(count: number, groups: readonly number[]): void;
  /** Applies the blocks of the chain behind the first `kept`. */
  again(kept: number, groups: readonly number[]): void;
  /** The store goes back to the first `kept` blocks, the chain stays. Returns how many blocks were undone. */
  undo(kept: number): number;
  /** Store and chain go back by so many blocks. */
  leave(depth: number): void;
  /** What is stored, which is what the producer says. */
  checked(what: string): Dump;
  /** What a new store has that took the blocks of the chain one by one. */
  straight(): Dump;
  /** Nothing more comes. */
  close(): Promise<void>;
}

interface Chain<K> {
  readonly seed: number;
  readonly kind: K;
  readonly selfContained: boolean;
  /** Sizes of groups on the way forward. */
  readonly groups: readonly number[];
}

export interface WayAndBack<K> extends Chain<K> {
  /** Blocks before the part that is undone, and in it. */
  readonly base: number;
  readonly undone: number;
  /** Sizes of the pieces on the way back. */
  readonly pieces: readonly number[];
}

export interface Forks<K> extends Chain<K> {
  /** So many blocks forward, then so many back. */
  readonly turns: readonly (readonly [forward: number, back: number])[];
}

type OpenReversible<K> = (chain: Chain<K>) => ReversibleRig | Promise<ReversibleRig>;

export interface ReversibleFamily<K> {
  readonly name: string;
  readonly kinds: readonly K[];
  readonly inMemory: OpenReversible<K>;
  readonly onRocks: OpenReversible<K>;
  /** The largest of each. */
  readonly sizes: {
    readonly group: number;
    readonly part: number;
    readonly forward: number;
    readonly back: number;
    readonly turns: number;
  };
  readonly runs: { readonly inMemory: number; readonly onRocks: number; readonly forksInMemory: number; readonly forksOnRocks: number };
  /** Scenarios that failed once; they are tried before any other, for ever. */
  readonly failedBefore: readonly WayAndBack<K>[];
  readonly forksFailedBefore: readonly Forks<K>[];
  /** What chains have met, by kind of block, so that a generator gone tame is noticed. */
  readonly met: Readonly<Record<string, number>>;
}

/** Back by `count` blocks, in pieces of these sizes. */
function goBack(rig: ReversibleRig, count: number, pieces: readonly number[]): void {
  for (let left = count, i = 0; left > 0; i++) {
    const piece = Math.min(left, pieces[i % pieces.length]);
    left -= piece;
    assert.equal(rig.undo(rig.length - count + left), piece);
  }
}

async function checkWayAndBack<K>(scenario: WayAndBack<K>, open: OpenReversible<K>): Promise<void> {
  const { base, undone, groups, pieces } = scenario;
  const rig = await open(scenario);
  try {
    const empty = dump(rig.engine);
    rig.forward(base, groups);
    const before = dump(rig.engine);
    if (base === 0) assertSameDump(before, empty, 'a new store');
    rig.forward(undone, groups);
    const far = rig.checked('after the way forward');
    goBack(rig, undone, pieces);
    assertSameDump(dump(rig.engine), before, `after ${undone} blocks forward and back`);
    rig.again(base, groups.toReversed());
    assertSameDump(dump(rig.engine), far, 'forward again');
    goBack(rig, base + undone, pieces);
    assertSameDump(dump(rig.engine), empty, 'back at the origin');
  } finally {
    await rig.close();
  }
}

async function checkForks<K>(scenario: Forks<K>, open: OpenReversible<K>): Promise<void> {
  const { groups, turns } = scenario;
  const rig = await open(scenario);
  try {
    for (const [forward, back] of turns) {
      rig.forward(forward, groups);
      rig.leave(Math.min(back, rig.length));
    }
    rig.forward(3, groups);
    assertSameDump(rig.checked('after the last fork'), rig.straight(), 'after the last fork');
  } finally {
    await rig.close();
  }
}

/** Mines `count` blocks one by one; then each is undone, alone and, from the depths, with all behind it. */
export function checkEveryBlock(rig: ReversibleRig, count: number, depths: readonly number[]): void {
  const dumps = [dump(rig.engine)];
  for (let i = 0; i < count; i++) {
    rig.forward(1, [1]);
    dumps.push(dump(rig.engine));
  }
  for (let kept = count - 1; kept >= 0; kept--) {
    assert.equal(rig.undo(kept), 1);
    assertSameDump(dump(rig.engine), dumps[kept], `back to ${kept} blocks`);
  }
  rig.again(0, [count]);
  for (const kept of depths) {
    rig.undo(kept);
    assertSameDump(dump(rig.engine), dumps[kept], `back to ${kept} blocks at once`);
    rig.again(kept, [7]);
    assertSameDump(dump(rig.engine), dumps[count], `forward again from ${kept} blocks`);
  }
}

export function describeReversible<K>(family: ReversibleFamily<K>): void {
  const { sizes, runs, inMemory, onRocks } = family;
  const upTo = (max: number) => fc.array(fc.integer({ min: 1, max }), { minLength: 1, maxLength: 4 });
  const chain = { seed: fc.nat(), kind: fc.constantFrom(...family.kinds), selfContained: fc.boolean(), groups: upTo(sizes.group) };
  const ways: fc.Arbitrary<WayAndBack<K>> = fc.record({
    ...chain,
    base: fc.nat({ max: sizes.part }),
    undone: fc.integer({ min: 1, max: sizes.part }),
    pieces: upTo(sizes.part),
  });
  const turn = fc.tuple(fc.integer({ min: 1, max: sizes.forward }), fc.nat({ max: sizes.back }));
  const forks: fc.Arbitrary<Forks<K>> = fc.record({ ...chain, turns: fc.array(turn, { minLength: 1, maxLength: sizes.turns }) });
  const examples = family.failedBefore.map((scenario): [WayAndBack<K>] => [scenario]);
  const forkExamples = family.forksFailedBefore.map((scenario): [Forks<K>] => [scenario]);

  describe(`what is applied can be undone, byte for byte (${family.name})`, () => {
    for (const [n, { where, open, numRuns }] of [
      { where: 'in memory', open: inMemory, numRuns: runs.inMemory },
      { where: 'on RocksDB', open: onRocks, numRuns: runs.onRocks },
    ].entries()) {
      it(where, async () => {
        const property = fc.asyncProperty(ways, (scenario) => checkWayAndBack(scenario, open));
        await fc.assert(property, { seed: TEST_SEED + n, numRuns, examples });
      });
    }

    for (const [n, { where, open, numRuns }] of [
      { where: 'in memory', open: inMemory, numRuns: runs.forksInMemory },
      { where: 'on RocksDB', open: onRocks, numRuns: runs.forksOnRocks },
    ].entries()) {
      it(`over forks, ${where}`, async () => {
        const property = fc.asyncProperty(forks, (scenario) => checkForks(scenario, open));
        await fc.assert(property, { seed: TEST_SEED + 2 + n, numRuns, examples: forkExamples });
      });
    }

    after(() => {
      const never = Object.entries(family.met).filter(([, count]) => count === 0);
      assert.deepEqual(never, [], 'every kind of block was met');
    });
  });
}
