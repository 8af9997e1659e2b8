/**
 * The whole against a plain model: 20,000 random steps over many
 * short lives of a store, most in memory, some on RocksDB where a restart
 * really closes and opens the directory. UNSPENT_TEST_SEED chooses other lives.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mix32 } from '../../src/chains/random.ts';
import { memoryRig, rocksRig, TEST_SEED } from '../support/harness.ts';
import { type StepKind, Walk } from '../support/walk.ts';

/** Seeds of single lives that failed once; they are walked before any other, for ever. */
const FAILED_BEFORE: readonly number[] = [];

const MEMORY_LIVES = 45;
const ROCKS_LIVES = 5;
const STEPS_PER_LIFE = 400;
const STEPS_MIN = 20_000;

const totals = new Map<StepKind, number>();

async function live(seed: number, open: Parameters<typeof Walk.begin>[1]): Promise<void> {
  const walk = await Walk.begin(seed, open);
  let step = 0;
  try {
    for (; step < STEPS_PER_LIFE; step++) await walk.step();
    await walk.end();
  } catch (cause) {
    throw new Error(`the life of seed ${seed} (UNSPENT_TEST_SEED=${TEST_SEED}) fails at step ${step}: ${(cause as Error).message}`, {
      cause,
    });
  }
  for (const [kind, count] of Object.entries(walk.counts)) totals.set(kind as StepKind, (totals.get(kind as StepKind) ?? 0) + count);
}

describe('a store is its model', () => {
  it('in the lives that failed before', async () => {
    for (const seed of FAILED_BEFORE) await live(seed, memoryRig);
  });

  it('in memory', async () => {
    for (let i = 0; i < MEMORY_LIVES; i++) await live(mix32(TEST_SEED, i), memoryRig);
  });

  it('on RocksDB', async () => {
    for (let i = 0; i < ROCKS_LIVES; i++) await live(mix32(TEST_SEED, 1_000_000 + i), rocksRig);
  });

  it('after at least 20,000 steps, of every kind', () => {
    const steps = [...totals.values()].reduce((sum, count) => sum + count, 0);
    assert.ok(steps >= STEPS_MIN, `${steps} steps`);
    assert.equal(totals.size, 12);
  });
});
