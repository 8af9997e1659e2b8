/**
 * Work in a thread of its own, where the test runner does not watch every
 * promise, which would cost as much as a database. The thread answers with one
 * message.
 */
import { Worker } from 'node:worker_threads';

export function answerOfThread<T>(file: URL, workerData: unknown): Promise<T> {
  const worker = new Worker(file, { workerData });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the thread ended with ${code} before it answered`)));
  });
}
