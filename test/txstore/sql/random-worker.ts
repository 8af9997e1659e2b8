/** Random lives on a transaction database, in a thread of their own. The answer is how often what happened. */
import { parentPort, workerData } from 'node:worker_threads';
import { SqlDatabase } from '../../../src/sql/database.ts';
import type { TxStoreTables } from '../../../src/txstore/sql/tables.ts';
import { type LifeKind, runRandomTxLives } from '../random.ts';
import { emptierOf } from './databases.ts';

export interface RandomTxWork {
  /** Of a database with the schema. */
  readonly url: string;
  readonly kind: LifeKind;
  readonly calls: number;
  readonly seed: number;
}

const { url, kind, calls, seed } = workerData as RandomTxWork;
const database = await SqlDatabase.open<TxStoreTables>(url, 'transaction database', { isDurable: false });
const counts = await runRandomTxLives(kind, emptierOf(database), calls, seed);
await database.close();
parentPort?.postMessage(counts);
