/**
 * The crash tests for stores that can prove what they say: `kill -9` at random
 * moments, and what is left has the roots of trees built from nothing over the
 * set of that block; so has what following makes of it.
 */
import { describe, it } from 'node:test';
import { CrashCampaign, runCampaign } from '../support/crash-campaign.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
/** Of each family. */
const KILLS = 24;

describe('kill -9 with Merkle structures', () => {
  for (const family of ['cardano', 'bitcoin'] as const) {
    it(`leaves the roots of some block, ${KILLS} times (${family}, seed ${SEED})`, (t) =>
      runCampaign(t, new CrashCampaign(SEED, family, { proofs: true }), { kills: KILLS, perPhase: 1, aimedMax: 60 }));
  }
});
