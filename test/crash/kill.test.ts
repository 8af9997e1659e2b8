/**
 * `kill -9` at random moments of creating, opening, syncing, changing forks,
 * rolling back, pruning and closing: what is left is the state of one block
 * exactly, nothing acknowledged is lost, and following goes on from there.
 */
import { describe, it } from 'node:test';
import { CrashCampaign, runCampaign } from '../support/crash-campaign.ts';

const { UNSPENT_TEST_SEED = '1' } = process.env;
const SEED = Number(UNSPENT_TEST_SEED);
const KILLS = 104;

/** The fold is the same; what differs is how an engine recovers. */
const KILLS_SQLITE = 24;

describe('kill -9', () => {
  it(`leaves the state of some block, ${KILLS} times (seed ${SEED})`, (t) =>
    runCampaign(t, new CrashCampaign(SEED), { kills: KILLS, perPhase: 5, aimedMax: 100 }));

  it(`leaves the state of some block, ${KILLS_SQLITE} times, on SQLite (seed ${SEED})`, (t) =>
    runCampaign(t, new CrashCampaign(SEED, 'cardano', { engine: 'sqlite' }), { kills: KILLS_SQLITE, perPhase: 1, aimedMax: 20 }));
});
