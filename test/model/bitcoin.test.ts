/**
 * A store of the Bitcoin family against plain maps: random steps of every
 * kind over many short lives, most in memory, some on RocksDB where a restart really
 * closes and opens the directory, and after each step questions of every kind.
 * UNSPENT_TEST_SEED chooses other lives.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mix32 } from '../../src/chains/random.ts';
import { memoryBitcoin, type OpenRig, rocksBitcoin } from '../support/bitcoin-rig.ts';
import { BITCOIN_STEPS, BitcoinWalk } from '../support/bitcoin-walk.ts';
import { TEST_SEED } from '../support/harness.ts';

/** Seeds of single lives that failed once; they are walked before any other, for ever. */
const FAILED_BEFORE: readonly number[] = [];

const MEMORY_LIVES = 12;
const ROCKS_LIVES = 2;
const STEPS_PER_LIFE = 120;
const STEPS_MIN = 1680;

const steps = new Map<string, number>();
const answers = new Map<string, number>();

function addTo(totals: Map<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [kind, count] of Object.entries(counts)) totals.set(kind, (totals.get(kind) ?? 0) + count);
}

async function live(seed: number, open: OpenRig): Promise<void> {
  const walk = await BitcoinWalk.begin(seed, open);
  let step = 0;
  try {
    for (; step < STEPS_PER_LIFE; step++) await walk.step();
    await walk.end();
  } catch (cause) {
    const message = `the life of seed ${seed} (UNSPENT_TEST_SEED=${TEST_SEED}) fails at step ${step}: ${(cause as Error).message}`;
    throw new Error(message, { cause });
  }
  addTo(steps, walk.counts);
  addTo(answers, walk.asked.counts);
}

describe('a store of the Bitcoin family is its model', () => {
  it('in the lives that failed before', async () => {
    for (const seed of FAILED_BEFORE) await live(seed, memoryBitcoin);
  });

  it('in memory', async () => {
    for (let i = 0; i < MEMORY_LIVES; i++) await live(mix32(TEST_SEED, i), memoryBitcoin);
  });

  it('on RocksDB', async () => {
    for (let i = 0; i < ROCKS_LIVES; i++) await live(mix32(TEST_SEED, 1_000_000 + i), rocksBitcoin);
  });

  it(`after at least ${STEPS_MIN} steps of every kind, and every kind of answer`, (t) => {
    const total = [...steps.values()].reduce((sum, count) => sum + count, 0);
    t.diagnostic(JSON.stringify({ ...Object.fromEntries(steps), ...Object.fromEntries(answers) }));
    assert.ok(total >= STEPS_MIN, `${total} steps`);
    assert.deepEqual([...steps.keys()].sort(), [...BITCOIN_STEPS].sort());
    for (const [kind, count] of answers) assert.ok(count >= 20, `${count} answers of the kind ${kind}`);
  });
});
