/** The embedded transaction store tells the stories of safe deletion, and leads some random lives, on the engines that programs have. */
import { describe, it } from 'node:test';
import { TEST_SEED } from '../support/harness.ts';
import { answerOfThread } from '../support/thread.ts';
import { SHORT_LIVES } from './random.ts';
import type { EmbeddedTxWork } from './random-worker.ts';
import { runTxScenarios } from './scenarios.ts';
import { diskOpener } from './support/embedded.ts';

const CALLS = 2000;

for (const engine of ['rocks', 'sqlite'] as const) {
  runTxScenarios(`embedded, on the engine ${engine}`, diskOpener(engine));
  describe(`transaction store: random lives on the engine ${engine}`, () => {
    it(`SD68 ${CALLS} calls: P1 to P8 hold, and every record is that of the model`, async () => {
      const work: EmbeddedTxWork = { kind: SHORT_LIVES, calls: CALLS, seed: TEST_SEED, engine };
      await answerOfThread(new URL('./random-worker.ts', import.meta.url), work);
    });
  });
}
