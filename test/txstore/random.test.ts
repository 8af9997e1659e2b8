/** SD68: random lives on the embedded store beside the model; test/campaign/txstore.campaign.ts has longer ones. */
import { describe, it } from 'node:test';
import { openMemory } from '../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../src/txstore/embedded/columns.ts';
import { TEST_SEED } from '../support/harness.ts';
import { runRandomTxLives, SHORT_LIVES } from './random.ts';
import { openEmbedded, SMALL_CACHE_BYTES } from './support/embedded.ts';
import type { OpenTxStore } from './support/world.ts';

const CALLS = 50_000;

describe('transaction store: random lives', () => {
  it(`SD68 ${CALLS} calls: P1 to P8 hold, and every record is that of the model`, async () => {
    let lives = 0;
    const open: OpenTxStore = (settings, limit) =>
      openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit, lives++ % 2 === 0 ? SMALL_CACHE_BYTES : undefined);
    await runRandomTxLives(SHORT_LIVES, open, CALLS, TEST_SEED);
  });
});
