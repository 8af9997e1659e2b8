/**
 * The crash tests for stores that can prove what they say: `kill -9` at random
 * moments, and what is left has the roots of trees built from nothing over the
 * set of that block; so has what following makes of it.
 */
import { ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CrashCampaign, type Family } from '../support/crash-campaign.ts';
import { PHASES } from '../support/crash-witness.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
/** Of each family. */
const KILLS = 24;
/** In each phase at least; where chance did not give it, we go on aiming. */
const KILLS_PER_PHASE = 1;
const ROUNDS_MORE_MAX = 60;

async function kill(family: Family, say: (text: string) => void): Promise<void> {
  const campaign = new CrashCampaign(SEED, family, { proofs: true });
  const aims = PHASES.filter((phase) => phase !== 'between');
  try {
    while (campaign.kills < KILLS) await campaign.round();
    const lacking = () => aims.find((phase) => campaign.summary().byPhase[phase] < KILLS_PER_PHASE);
    let aim = lacking();
    for (let more = 0; aim !== undefined && more < ROUNDS_MORE_MAX; more++, aim = lacking()) await campaign.round(aim);
    await campaign.end();
    ok(aim === undefined, `hardly a kill landed in ${aim}: ${JSON.stringify(campaign.summary())}`);
  } catch (error) {
    throw new Error(`seed ${SEED}, after ${campaign.kills} kills: ${(error as Error).message}`, { cause: error });
  } finally {
    say(JSON.stringify(campaign.summary()));
    await campaign.dispose();
  }
}

describe('kill -9 with Merkle structures', () => {
  for (const family of ['cardano', 'bitcoin'] as const) {
    it(`leaves the roots of some block, ${KILLS} times (${family}, seed ${SEED})`, (t) => kill(family, (text) => t.diagnostic(text)));
  }
});
