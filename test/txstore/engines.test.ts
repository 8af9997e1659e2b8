/** The embedded transaction store tells the stories of safe deletion, and leads some random lives, on the engines that programs have. */
import { describe, it } from 'node:test';
import { TEST_SEED } from '../support/harness.ts';
import { answerOfThread } from '../support/thread.ts';
import { runDiskMutations } from './embedded-mutations.ts';
import { SHORT_LIVES } from './random.ts';
import type { EmbeddedTxWork } from './random-worker.ts';
import { runTxScenarios } from './scenarios.ts';
import { everyChangeIsOneBatch } from './support/breaking-engine.ts';
import { diskOpener, withEngine } from './support/embedded.ts';

const CALLS = 2000;

for (const engine of ['rocks', 'sqlite'] as const) {
  runTxScenarios(`embedded, on the engine ${engine}`, diskOpener(engine));
  runDiskMutations(engine);
  describe(`transaction store: changes on the engine ${engine}`, () => {
    it('SD37 F5 F15 every change is one batch: one that is not committed leaves nothing', async () => {
      await withEngine(engine, everyChangeIsOneBatch);
    });
  });
  describe(`transaction store: random lives on the engine ${engine}`, () => {
    it(`SD68 ${CALLS} calls: P1 to P8 hold, and every record is that of the model`, async () => {
      const work: EmbeddedTxWork = { kind: SHORT_LIVES, calls: CALLS, seed: TEST_SEED, engine, reopens: true };
      await answerOfThread(new URL('./random-worker.ts', import.meta.url), work);
    });
  });
}
