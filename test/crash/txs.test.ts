/**
 * The crash tests for a store of the Bitcoin family that keeps records of
 * transactions and deletes them while it follows: whatever moment the process
 * is killed in, the records say what the unspent set of that block says
 * (`verify`), nothing acknowledged is lost, and following goes on from there.
 */
import { describe, it } from 'node:test';
import { CrashCampaign, runCampaign } from '../support/crash-campaign.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
const KILLS = 9;

describe('kill -9 with records of transactions', () => {
  it(`leaves records and set of one block, ${KILLS} times (seed ${SEED})`, (t) =>
    runCampaign(t, new CrashCampaign(SEED, 'bitcoin', { txs: true, blocks: 400 }), { kills: KILLS, perPhase: 0, aimedMax: 12 }));
});
