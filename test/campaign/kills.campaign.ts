/**
 * The crash test at length: a process that follows a chain is killed with
 * SIGKILL at random moments, and every row of what is left is compared with the
 * producer's account. Each seed is a chain of its own; after a hundred kills the
 * next seed begins. UNSPENT_CAMPAIGN_KILLS (of each kind, 200 unless said) and
 * UNSPENT_CAMPAIGN_SEED (the first one, 1 unless said) change its length and its
 * course; a failure names its seed.
 */
import { test } from 'node:test';
import { type CampaignOptions, CrashCampaign, type Family } from '../support/crash-campaign.ts';

const KILLS = Number(process.env['UNSPENT_CAMPAIGN_KILLS'] ?? 200);
const FIRST_SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);
const KILLS_PER_SEED = 100;
/** Of the main chain: longer than those of the test command. */
const BLOCKS = 900;

/** Kills until there are enough, or throws with the seed of the first failure. */
async function run(seed: number, kills: number, family: Family, options: CampaignOptions): Promise<string> {
  const campaign = new CrashCampaign(seed, family, options);
  try {
    while (campaign.kills < kills) await campaign.round();
    await campaign.end();
    return JSON.stringify(campaign.summary());
  } catch (cause) {
    throw new Error(`seed ${seed}, kill ${campaign.kills}`, { cause });
  } finally {
    await campaign.dispose();
  }
}

const KINDS: readonly (readonly [what: string, Family, CampaignOptions])[] = [
  ...(['cardano', 'bitcoin'] as const).flatMap((family): (readonly [string, Family, CampaignOptions])[] => [
    [`${family}, plain`, family, { blocks: BLOCKS }],
    [`${family}, with every Merkle structure`, family, { proofs: true, blocks: BLOCKS }],
  ]),
  ['cardano, with cages', 'cardano', { cages: true, blocks: BLOCKS }],
  ['bitcoin, with records of transactions', 'bitcoin', { txs: true, blocks: BLOCKS }],
];

for (const engine of ['rocks', 'sqlite'] as const) {
  for (const [what, family, options] of KINDS) {
    test(`kills: ${engine}, ${what}`, async (t) => {
      for (let done = 0, seed = FIRST_SEED; done < KILLS; done += KILLS_PER_SEED, seed++) {
        t.diagnostic(await run(seed, Math.min(KILLS_PER_SEED, KILLS - done), family, { ...options, engine }));
      }
    });
  }
}
