/**
 * Random lives in a thread of their own, where the test runner does not watch
 * every promise, which would cost as much as the database. The lives share a
 * database that is emptied between them, and have a store each: one that stayed
 * open would take coins of the life before for its own where an event of the same
 * number reads the same. The answer is how often each call happened.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openWalletStore } from '../../../src/wallet/open.ts';
import { type RandomLives, runRandomLives } from '../support/random-run.ts';
import { emptyDatabase } from './empty.ts';

export interface RandomWork extends RandomLives {
  readonly url: string;
}

const { url, ...run } = workerData as RandomWork;
// A third of the calls is refused, on purpose: nobody reads where from.
Error.stackTraceLimit = 0;
await (await openWalletStore(url, { isDurable: false })).close();
const open = async () => {
  await emptyDatabase(url);
  const store = await openWalletStore(url, { isDurable: false });
  return { store, rows: () => store.rows(), close: () => store.close() };
};
const counts = await runRandomLives({ ...run, open });
parentPort?.postMessage(counts);
