/**
 * Whatever follows from the unspent set is what the model says after every
 * block and every rollback; and it is the same when it was switched on in the
 * middle of the chain's life and filled from what was unspent then.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Random } from '../../src/chains/random.ts';
import { INDEX_KINDS } from '../../src/projections/index/by-key.ts';
import { coinOfRow } from '../../src/projections/packed.ts';
import type { Projection } from '../../src/projections/projection.ts';
import { Fold } from '../../src/state/fold.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { assertIsModel, Expected } from '../support/expected.ts';
import {
  assertSameRows,
  Devnet,
  devnetOptions,
  dump,
  type Flavour,
  memoryRig,
  type Rig,
  rocksRig,
  rowsOf,
  TEST_SEED,
  VERIFY_ALL,
} from '../support/harness.ts';

const lives = fc.record({ seed: fc.nat(), flavour: fc.constantFrom<Flavour>('conway', 'ancient', 'ancient') });

const dressed = (seed: number, flavour: Flavour) => new Devnet(devnetOptions(seed, flavour), { dressed: true });

/** A few blocks forward, or a few back: one at a time on the way, at once now and then. */
function turn(rig: Rig, random: Random, check: () => void): void {
  const { chain } = rig.devnet;
  if (random.chance(0.65)) {
    const together = random.chance(0.3);
    for (let n = 1 + random.int(8); n > 0; n--) {
      rig.forward(together ? n : 1, [1 + random.int(5)]);
      check();
      if (together) return;
    }
    return;
  }
  const depth = Math.min(random.int(12), chain.blocks.length);
  rig.fold.rollback(rig.devnet.pointBelow(depth));
  chain.rollback(depth);
  check();
}

async function liveThrough(rig: Rig, seed: number, turns: number): Promise<void> {
  const random = new Random(seed, 3);
  try {
    for (let i = 0; i < turns; i++) turn(rig, random, () => assertIsModel(rig));
    assert.deepEqual(verifyStore(rig.engine, rig.devnet.ledger, VERIFY_ALL).faults, []);
  } finally {
    await rig.close();
  }
}

describe('indexes, balances, datums and scripts are the model', () => {
  it('after every block and rollback, in memory', async () => {
    const property = fc.asyncProperty(lives, ({ seed, flavour }) => liveThrough(memoryRig(dressed(seed, flavour)), seed, 25));
    await fc.assert(property, { seed: TEST_SEED, numRuns: 20 });
  });

  it('after every block and rollback, on RocksDB', async () => {
    const property = fc.asyncProperty(lives, async ({ seed, flavour }) => liveThrough(await rocksRig(dressed(seed, flavour)), seed, 15));
    await fc.assert(property, { seed: TEST_SEED + 1, numRuns: 3 });
  });
});

/** Shows a projection all that is unspent, a portion at a time, in the order of the keys. */
function fill({ engine, devnet: { ledger } }: Rig, projection: Projection, random: Random): void {
  const coins = Array.from(engine.scan('utxo_unspent'), ([key, value]) => coinOfRow(key, value, ledger));
  for (let at = 0; at < coins.length; ) {
    const portion = 1 + random.int(20);
    const batch = engine.batch();
    projection.apply({ blocks: [], added: coins.slice(at, at + portion), removed: [] }, engine, batch);
    batch.commit();
    at += portion;
  }
}

/** What is a function of the unspent set, against the model; what is not, against the set. */
function assertDerived(rig: Rig): void {
  const expected = new Expected(rig.devnet);
  const rows = (column: string) => rowsOf(rig.engine, column);
  for (const kind of ['address', 'payment', 'stake'] as const) assertSameRows(rows(`utxo_${kind}`), expected.indexRows(kind), kind);
  for (const kind of ['policy', 'asset', 'datum', 'script'] as const) assertSameRows(rows(`utxo_${kind}`), expected.traitRows(kind), kind);
  for (const kind of ['address', 'stake'] as const) assertSameRows(rows(`balance_${kind}`), expected.balanceRows(kind), kind);
  assert.deepEqual(verifyStore(rig.engine, rig.devnet.ledger, VERIFY_ALL).faults, []);
}

describe('switched on late', () => {
  it('everything is as it would have been, whatever is undone afterwards', () => {
    const property = fc.property(lives, fc.integer({ min: 1, max: 60 }), ({ seed, flavour }, before) => {
      const rig = memoryRig(dressed(seed, flavour));
      const random = new Random(seed, 4);
      const late = rig.projections.filter(({ fillable }) => fillable !== undefined);
      assert.ok(late.length >= INDEX_KINDS.length + 6);
      rig.fold = new Fold(
        rig.engine,
        rig.devnet.ledger,
        rig.projections.filter((projection) => !late.includes(projection)),
        rig.options,
      );
      rig.forward(before, [1 + random.int(9)]);
      for (const projection of late) fill(rig, projection, random);
      assertDerived(rig);
      rig.fold = rig.newFold();
      for (let i = 0; i < 12; i++) turn(rig, random, () => assertDerived(rig));
      // Deeper than it was switched on: the blocks there have no undo of it.
      rig.fold.rollback(null);
      for (const [column, rows] of dump(rig.engine)) if (column !== 'chain') assert.deepEqual(rows, [], column);
    });
    fc.assert(property, { seed: TEST_SEED, numRuns: 40 });
  });
});
