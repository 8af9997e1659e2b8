/**
 * SD68 at length: random lives of a node on the embedded transaction store,
 * beside the model, with P1 to P8 after each step. UNSPENT_CAMPAIGN_CALLS
 * (1,000,000 unless said) and UNSPENT_CAMPAIGN_SEED (1 unless said) change their
 * length and their course; a failure names its seed.
 */
import { test } from 'node:test';
import { openMemory } from '../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../src/txstore/embedded/columns.ts';
import { LONG_LIVES, runRandomTxLives, SHORT_LIVES } from '../txstore/random.ts';
import { openEmbedded } from '../txstore/support/embedded.ts';
import type { OpenTxStore } from '../txstore/support/world.ts';

const CALLS = Number(process.env['UNSPENT_CAMPAIGN_CALLS'] ?? 1_000_000);
const FIRST_SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);

const open: OpenTxStore = (settings, limit) => openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit);

for (const [what, kind, calls] of [
  ['short lives, small windows', SHORT_LIVES, CALLS],
  ['long lives, a window of 60 blocks', LONG_LIVES, Math.ceil(CALLS / 10)],
] as const) {
  test(`transaction store: ${what}`, async (t) => {
    const counts = await runRandomTxLives(kind, open, calls, FIRST_SEED);
    t.diagnostic(JSON.stringify(Object.fromEntries(counts)));
  });
}
