/**
 * Pruning forgets exactly what left the window: the keys it visits are the keys
 * it deletes, each call is bounded, and what it leaves is enough to go back to
 * the horizon exactly.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { PruneSchedule } from '../../src/state/prune-schedule.ts';
import { type PruneCounts, pruneStep, readPruned } from '../../src/state/pruned.ts';
import { UnspentError } from '../../src/util/errors.ts';
import { PRUNE_TICK_MS } from '../../src/util/limits.ts';
import { assertIsModel, Expected } from '../support/expected.ts';
import {
  assertRefused,
  assertSameDump,
  Devnet,
  devnetOptions,
  dump,
  type Flavour,
  memoryRig,
  type Rig,
  type RigOptions,
  TEST_SEED,
} from '../support/harness.ts';
import { until } from '../support/patience.ts';
import { WatchedEngine } from '../support/watched-engine.ts';

const WINDOWS = { pruneDepth: 15, rollbackWindow: 30 } as const;

function grown(blocks: number, options: RigOptions = {}, flavour: Flavour = 'conway', seed = 2): Rig {
  const rig = memoryRig(new Devnet(devnetOptions(seed, flavour)), { ...WINDOWS, ...options });
  rig.forward(blocks, [9]);
  return rig;
}

function prune(rig: Rig, blocksMax = 1000): PruneCounts {
  return pruneStep(rig.engine, rig.projections, rig.fold.head?.height ?? 0, rig.options, blocksMax);
}

describe('one call', () => {
  for (const flavour of ['conway', 'ancient'] as const) {
    it(`visits the keys it deletes and no other (${flavour})`, () => {
      const rig = grown(80, { wrap: (engine) => new WatchedEngine(engine) }, flavour);
      const engine = rig.engine as WatchedEngine;
      const tip = rig.fold.head!.height;
      const expected = new Expected(rig.devnet);
      const kept = new Set(expected.spentRows(tip - WINDOWS.pruneDepth));
      const leaving = expected.spentRows(-1).filter((row) => !kept.has(row));
      const deltas = expected.deltaKeys(-1).filter((key) => !expected.deltaKeys(tip - WINDOWS.rollbackWindow).includes(key));
      engine.forget();
      const counts = prune(rig);
      const deleted = engine.dels.filter(({ column }) => column === 'utxo_spent').map(({ key }) => key);
      assert.deepEqual(
        deleted.sort(),
        leaving.map((row) => row.slice(0, row.indexOf(' '))),
      );
      assert.equal(counts.spentKeys, leaving.length);
      assert.deepEqual(
        engine.dels.filter(({ column }) => column === 'delta').map(({ key }) => key),
        deltas,
      );
      assert.equal(counts.deltas, deltas.length);
      assert.equal(engine.dels.length, counts.spentKeys + counts.deltas, 'nothing else is deleted');

      const touched = [...engine.gets, ...engine.scanned].map(({ column }) => column);
      assert.ok(!touched.includes('utxo_spent'), 'no row of utxo_spent is read');
      assert.equal(engine.scanned.filter(({ column }) => column === 'delta').length, counts.visited);
      assert.equal(counts.visited, counts.blocks + counts.deltas);
      assert.deepEqual([...new Set(touched)].sort(), ['chain', 'delta']);
      assert.equal(engine.commits, 1, 'one batch');
      assert.deepEqual(
        engine.puts.map(({ column }) => column),
        ['chain', 'chain'],
        'the cursor is in it, and the header of the oldest block whose past is known',
      );
      assert.ok(counts.done || counts.blocks === 1000);
      assertIsModel(rig);
    });
  }

  it('is bounded, and many of them add up to one', () => {
    for (const flavour of ['conway', 'ancient'] as const) {
      const whole = grown(90, {}, flavour);
      prune(whole);
      for (const blocksMax of [1, 2, 3, 7]) {
        const rig = grown(90, {}, flavour);
        for (let calls = 0, done = false; !done; calls++) {
          const counts = prune(rig, blocksMax);
          // A boundary block goes with the block whose height it has.
          assert.ok(counts.blocks <= blocksMax + 1 && counts.deltas <= blocksMax + 1);
          assertIsModel(rig, `pruned to ${readPruned(rig.engine).spent}`);
          assert.ok(calls < 200, 'it ends');
          done = counts.done;
        }
        assertSameDump(dump(rig.engine), dump(whole.engine), flavour);
      }
    }
  });

  it('does nothing when there is nothing to forget', () => {
    const rig = grown(50, { wrap: (engine) => new WatchedEngine(engine) });
    const engine = rig.engine as WatchedEngine;
    prune(rig);
    const before = dump(engine);
    engine.forget();
    assert.deepEqual(prune(rig), { blocks: 0, spentKeys: 0, deltas: 0, visited: 0, done: true });
    assert.equal(engine.commits, 0);
    assertSameDump(dump(engine), before, 'pruned again');
    const empty = memoryRig(new Devnet(devnetOptions(1, 'conway')), WINDOWS);
    assert.ok(prune(empty).done);
    assert.deepEqual(readPruned(empty.engine), { spent: -1, deltas: -1 });
  });

  it('that fails changes nothing', () => {
    const rig = grown(60, { wrap: (engine) => new WatchedEngine(engine) });
    (rig.engine as WatchedEngine).failure = new UnspentError('DISK_FULL', 'no space is left');
    assertRefused(rig, () => prune(rig), 'DISK_FULL');
    prune(rig);
    assertIsModel(rig);
  });

  it('works without the unspent set too', () => {
    const rig = grown(60, { utxo: false });
    const counts = prune(rig);
    assert.deepEqual({ spentKeys: counts.spentKeys, deltas: counts.deltas }, { spentKeys: 0, deltas: 30 });
    assertIsModel(rig);
    assertRefused(rig, () => rig.fold.rollback(rig.devnet.pointBelow(31)), 'HORIZON');
    assert.equal(rig.fold.rollback(rig.devnet.pointBelow(30)), 30);
  });
});

describe('after pruning', () => {
  it('a rollback to the horizon is exact, one below it is refused', () => {
    for (const flavour of ['conway', 'ancient'] as const) {
      const rig = grown(100, {}, flavour);
      prune(rig);
      assertRefused(rig, () => rig.fold.rollback(rig.devnet.pointBelow(16)), 'HORIZON');
      assert.equal(rig.fold.rollback(rig.devnet.pointBelow(15)), 15);
      rig.devnet.chain.rollback(15);
      assertIsModel(rig, 'at the horizon');
      assertRefused(rig, () => rig.fold.rollback(rig.devnet.pointBelow(1)), 'HORIZON');
      rig.forward(20);
      prune(rig);
      assertIsModel(rig, 'on another fork');
    }
  });

  it('a self-contained store goes back as far as its deltas reach, and prunes the new fork as well', () => {
    const rig = grown(100, { selfContained: true });
    prune(rig);
    assertRefused(rig, () => rig.fold.rollback(rig.devnet.pointBelow(31)), 'HORIZON');
    assert.equal(rig.fold.rollback(rig.devnet.pointBelow(30)), 30);
    rig.devnet.chain.rollback(30);
    const unspent = (row: string) => !row.startsWith('ff');
    assert.deepEqual(dump(rig.engine).get('utxo_unspent')!.filter(unspent), new Expected(rig.devnet).unspentRows());
    rig.forward(40);
    prune(rig);
    assert.equal(readPruned(rig.engine).spent, rig.fold.head!.height - 15);
    assertIsModel(rig, 'on another fork');
  });

  it('a self-contained store that goes back to the origin is a new one', () => {
    const rig = memoryRig(new Devnet(devnetOptions(2, 'conway')), { ...WINDOWS, selfContained: true });
    const empty = dump(rig.engine);
    rig.forward(25);
    prune(rig);
    assert.ok(readPruned(rig.engine).spent > 0);
    assert.equal(rig.fold.rollback(null), 25);
    assertSameDump(dump(rig.engine), empty, 'back at the origin');
  });

  it('a boundary block whose delta is gone cannot be undone, though its height is that of the horizon', () => {
    const devnet = new Devnet(devnetOptions(2, 'ancient'));
    const rig = memoryRig(devnet, { pruneDepth: 5, rollbackWindow: 5 });
    const { blocks } = devnet.chain;
    while (!blocks.some((block, i) => i > 0 && block.boundary)) rig.forward(1);
    const boundary = blocks.at(-1)!;
    const below = blocks.at(-2)!;
    assert.equal(boundary.height, below.height);
    rig.forward(5);
    prune(rig);
    assert.equal(readPruned(rig.engine).deltas, boundary.height);
    assertRefused(rig, () => rig.fold.rollback(below), 'HORIZON');
    assert.equal(rig.fold.rollback(boundary), 5);
    devnet.chain.rollback(5);
    assertIsModel(rig);
  });

  it('between random rollbacks the store is always what the model says', () => {
    for (const [i, flavour] of (['conway', 'ancient', 'conway', 'ancient'] as const).entries()) {
      const random = new Random(TEST_SEED, i);
      const rig = memoryRig(new Devnet(devnetOptions(random.next(), flavour)), { ...WINDOWS, selfContained: i >= 2 });
      for (let step = 0; step < 60; step++) {
        rig.forward(1 + random.int(8), [1 + random.int(5)]);
        if (random.chance(0.5)) prune(rig, 1 + random.int(12));
        const floor = rig.fold.horizonHeight ?? -1;
        const depth = Math.min(random.int(10), rig.fold.head!.height - Math.max(floor, 0));
        const target = rig.devnet.chain.blocks.findLast(({ height }) => height <= rig.fold.head!.height - depth)!;
        const undone = rig.fold.rollback(target);
        rig.devnet.chain.rollback(undone);
        assertIsModel(rig, `seed ${TEST_SEED}, walk ${i}, step ${step}`);
      }
    }
  });
});

describe('the schedule', () => {
  /** A clock that moves when it is looked at, so that a tick ends after so many looks whatever the machine does. */
  const clock = (stepMs: number) => {
    let now = 0;
    return () => {
      now += stepMs;
      return now;
    };
  };

  it('ends a tick when its time is over, and says that there is more', () => {
    const rig = grown(100);
    const schedule = new PruneSchedule(rig.fold, { batchBlocks: 10, intervalMs: 1000 }, clock(PRUNE_TICK_MS / 2));
    assert.equal(schedule.tick(), false);
    assert.equal(readPruned(rig.engine).spent, 19, 'two batches');
    while (!schedule.tick()) assertIsModel(rig);
    assert.equal(readPruned(rig.engine).spent, 84);
    assert.equal(schedule.deltas, 70);
    assert.equal(schedule.spentKeys, new Expected(rig.devnet).spentRows(-1).length - new Expected(rig.devnet).spentRows(84).length);
    assertIsModel(rig);
  });

  it('makes a batch of so many rows and no more than the last block of them', () => {
    for (const flavour of ['conway', 'ancient'] as const) {
      const whole = grown(90, {}, flavour);
      prune(whole);
      const rig = grown(90, { wrap: (engine) => new WatchedEngine(engine) }, flavour);
      const engine = rig.engine as WatchedEngine;
      const rows = Math.max(...rig.devnet.chain.blocks.map(({ txs }) => txs.reduce((sum, { spends }) => sum + spends.length, 1)));
      for (let calls = 0, done = false; !done; calls++) {
        engine.forget();
        done = pruneStep(rig.engine, rig.projections, rig.fold.head!.height, rig.options, 1000, 5).done;
        assert.ok(engine.dels.length <= 5 + 2 * rows, `${engine.dels.length} rows`);
        assertIsModel(rig);
        assert.ok(calls < 500 && (done || engine.dels.length > 0), 'it gets on');
      }
      assertSameDump(dump(rig.engine), dump(whole.engine), flavour);
    }
  });

  it('prunes also when no block comes', async () => {
    const rig = grown(100);
    const stop = new AbortController();
    const schedule = new PruneSchedule(rig.fold, { batchBlocks: 10, intervalMs: 1 });
    const running = schedule.run(stop.signal);
    await until(() => readPruned(rig.engine).spent === 84, 'what is there');
    rig.forward(10);
    await until(() => readPruned(rig.engine).spent === 94, 'what came meanwhile');
    stop.abort();
    await running;
    rig.forward(10);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(readPruned(rig.engine).spent, 94, 'and stops when it is told to');
    assertIsModel(rig);
  });
});
