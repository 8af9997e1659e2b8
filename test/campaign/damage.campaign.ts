/**
 * Damaged copies of stores of both engines, closed and not: each must open at a commit exactly
 * (a closed one at its last), or be refused. UNSPENT_CAMPAIGN_COPIES (of a
 * database, 10,000 unless said; of a whole store a fifth of that) and
 * UNSPENT_CAMPAIGN_SEED (the first one, 1 unless said) change its length and its
 * course; a failure names its seed.
 */
import { deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { type DamagedKind, runDamages } from '../support/damage-campaign.ts';

const COPIES = Number(process.env['UNSPENT_CAMPAIGN_COPIES'] ?? 10_000);
const FIRST_SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);

const KINDS: Readonly<Record<DamagedKind, number>> = {
  engine: COPIES,
  'sqlite engine': COPIES,
  store: Math.ceil(COPIES / 5),
  'sqlite store': Math.ceil(COPIES / 5),
};

for (const [kind, copies] of Object.entries(KINDS)) {
  test(`damaged copies: ${kind}`, async (t) => {
    const tally = await runDamages(kind as DamagedKind, FIRST_SEED, FIRST_SEED + copies);
    t.diagnostic(JSON.stringify({ copies: tally.copies, ...tally.outcomes }));
    deepEqual(tally.wrong, []);
  });
}
