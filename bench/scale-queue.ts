/**
 * Blocks that wait for the publisher: they come at their times with their
 * transactions, and one after the other is published. Told is how long after its
 * arrival a block is in the copy. Seeded, so that it gives the same each time.
 */
import { Random } from '../src/chains/random.ts';
import type { ChainSize } from './scale-sizes.ts';

/** Seconds. Null: they come faster than they are published, and the copy falls behind for ever. */
export interface Lag {
  readonly p50: number;
  readonly p99: number;
}

const BLOCKS = 100_000;

/** `secondsOf`: what a block with so many transactions takes. */
export function simulateLag({ secondsPerBlock, perSecond, isRandom }: ChainSize, secondsOf: (transactions: number) => number): Lag | null {
  const mean = perSecond * secondsPerBlock;
  if (secondsOf(mean) >= secondsPerBlock) return null;
  const random = new Random(17);
  const lags: number[] = [];
  let [now, free] = [0, 0];
  for (let i = 0; i < BLOCKS; i++) {
    const gap = isRandom ? -Math.log(1 - random.int(2 ** 32) / 2 ** 32) * secondsPerBlock : secondsPerBlock;
    now += gap;
    // What has come in since the last block is in this one.
    free = Math.max(free, now) + secondsOf(perSecond * gap);
    lags.push(free - now);
  }
  lags.sort((a, b) => a - b);
  return { p50: lags[BLOCKS / 2], p99: lags[Math.floor(BLOCKS * 0.99)] };
}
