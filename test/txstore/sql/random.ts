/** SD68 for a transaction store on SQL: random lives beside the model. */
import { describe, it } from 'node:test';
import { TEST_SEED } from '../../support/harness.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { answerOfThread } from '../../support/thread.ts';
import { SHORT_LIVES } from '../random.ts';
import type { RandomTxWork } from './random-worker.ts';

/** On a server chunks that run at the same time end in any order; SD49 shows that they delete the same. */
export const SQL_LIVES = { ...SHORT_LIVES, parallelChunks: 1 };

/** Returns how often what happened. */
export function liveOnSql(work: RandomTxWork): Promise<ReadonlyMap<string, number>> {
  return answerOfThread(new URL('./random-worker.ts', import.meta.url), work);
}

/** 50,000 calls, in parts, so that none takes long where the machine has much else to do. */
const PARTS = 4;
const CALLS = 12_500;

export function runRandomTxs(databases: TestDatabases): void {
  describe(`transaction store: random lives on ${databases.name}`, () => {
    for (let part = 0; part < PARTS; part++) {
      it(`SD68 part ${part + 1} of ${PARTS}, ${CALLS} calls: P1 to P8 hold, and every record is that of the model`, async () => {
        await liveOnSql({ url: await databases.freshUrl(), kind: SQL_LIVES, calls: CALLS, seed: TEST_SEED + part });
      });
    }
  });
}
