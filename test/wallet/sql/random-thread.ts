/** Starts random lives in a thread of their own (random-worker.ts), in the database of the URL. */
import { Worker } from 'node:worker_threads';
import type { RandomCounts, RandomLives } from '../support/random-run.ts';
import type { RandomWork } from './random-worker.ts';

export function liveInThread(url: string, lives: RandomLives): Promise<RandomCounts> {
  const workerData: RandomWork = { ...lives, url };
  const worker = new Worker(new URL('./random-worker.ts', import.meta.url), { workerData });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread ended with ${code} before it answered`)));
  });
}
