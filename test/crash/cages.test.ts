/**
 * The crash tests for stores that follow cages: `kill -9` at random moments, and
 * what is left has the tokens, the requests and every fact of one block; so has
 * what following makes of it.
 */
import { describe, it } from 'node:test';
import { CrashCampaign, runCampaign } from '../support/crash-campaign.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
/** On each engine; `test/campaign/kills.campaign.ts` has more. */
const KILLS = 8;
const BLOCKS = 400;

describe('kill -9 with cages', () => {
  for (const engine of ['rocks', 'sqlite'] as const) {
    it(`leaves the cages of some block, ${KILLS} times (${engine}, seed ${SEED})`, (t) =>
      runCampaign(t, new CrashCampaign(SEED, 'cardano', { cages: true, engine, blocks: BLOCKS }), {
        kills: KILLS,
        perPhase: 0,
        aimedMax: 0,
      }));
  }
});
