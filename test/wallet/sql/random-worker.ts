/**
 * Random lives in a thread of their own, where the test runner does not watch
 * every promise, which would cost as much as the database. The lives share a
 * store that is emptied between them. The answer is how often each call happened.
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
const store = await openWalletStore(url, { isDurable: false });
const open = async () => {
  await emptyDatabase(url);
  return { store, rows: () => store.rows(), close: async () => {} };
};
const counts = await runRandomLives({ ...run, open });
await store.close();
parentPort?.postMessage(counts);
