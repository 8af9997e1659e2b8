/** SD68: random lives on the embedded store beside the model; test/campaign/txstore.campaign.ts has longer ones. */
import { describe, it } from 'node:test';
import { openMemory } from '../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../src/txstore/embedded/columns.ts';
import { TEST_SEED } from '../support/harness.ts';
import { runRandomTxLives, SHORT_LIVES } from './random.ts';
import { openEmbedded } from './support/embedded.ts';

const CALLS = 50_000;

describe('transaction store: random lives', () => {
  it(`SD68 ${CALLS} calls: P1 to P8 hold, and every record is that of the model`, async () => {
    await runRandomTxLives(SHORT_LIVES, (settings, limit) => openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit), CALLS, TEST_SEED);
  });
});
