/**
 * Cages as the devnet makes them, against the producer's plain account, over
 * forks, restarts, pruning and groups. The long form is
 * `test/campaign/cages.campaign.ts`.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mix32 } from '../../src/chains/random.ts';
import { CageWalk } from '../support/cage-walk.ts';
import { memoryRig, rocksRig, TEST_SEED } from '../support/harness.ts';

const MEMORY_LIVES = 4;
const STEPS_PER_LIFE = 350;

const happened = new Map<string, number>();

async function live(seed: number, open: Parameters<typeof CageWalk.begin>[1]): Promise<void> {
  const walk = await CageWalk.begin(seed, open);
  let step = 0;
  try {
    for (; step < STEPS_PER_LIFE; step++) await walk.step();
    await walk.end();
  } catch (cause) {
    throw new Error(`the life of seed ${seed} (UNSPENT_TEST_SEED=${TEST_SEED}) fails at step ${step}: ${(cause as Error).message}`, {
      cause,
    });
  }
  for (const [what, count] of walk.happened) happened.set(what, (happened.get(what) ?? 0) + count);
}

describe('cages of a devnet are what their maker says', () => {
  it('in memory', async () => {
    for (let i = 0; i < MEMORY_LIVES; i++) await live(mix32(TEST_SEED, i), memoryRig);
  });

  it('on RocksDB', async () => {
    await live(mix32(TEST_SEED, 1_000_000), rocksRig);
  });

  it('and everything has happened', () => {
    const rare = Object.entries(Object.fromEntries(happened)).filter(([, count]) => count < 3);
    assert.equal(happened.size, 22);
    assert.deepEqual(rare, []);
  });
});
