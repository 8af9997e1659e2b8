/** SD68: random lives on the embedded store beside the model; test/campaign/txstore.campaign.ts has longer ones. */
import { describe, it } from 'node:test';
import { TEST_SEED } from '../support/harness.ts';
import { answerOfThread } from '../support/thread.ts';
import { SHORT_LIVES } from './random.ts';
import type { EmbeddedTxWork } from './random-worker.ts';

const CALLS = 50_000;

describe('transaction store: random lives', () => {
  it(`SD68 ${CALLS} calls: P1 to P8 hold, and every record is that of the model`, async () => {
    const work: EmbeddedTxWork = { kind: SHORT_LIVES, calls: CALLS, seed: TEST_SEED };
    await answerOfThread(new URL('./random-worker.ts', import.meta.url), work);
  });
});
