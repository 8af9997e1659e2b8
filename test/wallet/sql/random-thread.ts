/** Starts random lives in a thread of their own (random-worker.ts), in the database of the URL. */
import { answerOfThread } from '../../support/thread.ts';
import type { RandomCounts, RandomLives } from '../support/random-run.ts';
import type { RandomWork } from './random-worker.ts';

export function liveInThread(url: string, lives: RandomLives): Promise<RandomCounts> {
  const work: RandomWork = { ...lives, url };
  return answerOfThread(new URL('./random-worker.ts', import.meta.url), work);
}
