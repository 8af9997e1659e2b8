/** SD68: random lives on the embedded store beside the model; test/campaign/txstore.campaign.ts has longer ones. */
import { describe, it } from 'node:test';
import { TEST_SEED } from '../support/harness.ts';
import { answerOfThread } from '../support/thread.ts';
import { SHORT_LIVES } from './random.ts';
import type { EmbeddedTxWork } from './random-worker.ts';

/** On the engine that programs have as many as on each database; what is kept in memory is the same code on another engine. */
const WORKS = [
  { engine: 'rocks', calls: 50_000 },
  { engine: undefined, calls: 10_000 },
] as const;

describe('transaction store: random lives', () => {
  for (const { engine, calls } of WORKS) {
    it(`SD68 ${calls} calls ${engine === undefined ? 'in memory' : 'on RocksDB'}: P1 to P8 hold, and every record is that of the model`, async () => {
      const work: EmbeddedTxWork = { kind: SHORT_LIVES, calls, seed: TEST_SEED, ...(engine === undefined ? {} : { engine }) };
      await answerOfThread(new URL('./random-worker.ts', import.meta.url), work);
    });
  }
});
