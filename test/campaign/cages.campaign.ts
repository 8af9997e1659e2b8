/**
 * The model test of cages at length (`test/model/cage.test.ts`): random walks of
 * stores that follow a devnet with cages, over forks to any depth in the window,
 * restarts and pruning, compared with the producer's account after every step.
 * UNSPENT_CAMPAIGN_STEPS (20,000 unless said) and UNSPENT_CAMPAIGN_SEED change
 * its length and its course; a failure names its seed.
 */
import { test } from 'node:test';
import { mix32 } from '../../src/chains/random.ts';
import { CageWalk } from '../support/cage-walk.ts';
import { memoryRig, rocksRig } from '../support/harness.ts';

const STEPS = Number(process.env['UNSPENT_CAMPAIGN_STEPS'] ?? 20_000);
const FIRST_SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);
const STEPS_PER_LIFE = 2000;

async function live(seed: number, open: Parameters<typeof CageWalk.begin>[1]): Promise<string> {
  const walk = await CageWalk.begin(seed, open);
  let step = 0;
  try {
    for (; step < STEPS_PER_LIFE; step++) await walk.step();
    await walk.end();
  } catch (cause) {
    throw new Error(`seed ${seed}, step ${step}`, { cause });
  }
  return JSON.stringify({ seed, steps: walk.counts, happened: Object.fromEntries(walk.happened) });
}

for (const [name, open, share] of [
  ['memory', memoryRig, 0.75],
  ['rocks', rocksRig, 0.25],
] as const) {
  test(`cages: ${name}`, async (t) => {
    for (let done = 0, life = 0; done < share * STEPS; done += STEPS_PER_LIFE, life++) {
      t.diagnostic(await live(mix32(FIRST_SEED, life), open));
    }
  });
}
