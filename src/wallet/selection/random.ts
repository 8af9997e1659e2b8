/**
 * Chance in coin selection: which coins are drawn, in which order inputs stand,
 * how large change is meant to be. Selection is given its random bits, so that a
 * seeded generator repeats it; programs use those of the system.
 */
import { randomFillSync } from 'node:crypto';
import { assert } from '../../util/errors.ts';

/** A source of random bits. */
export interface RandomBits {
  /** 32 random bits, as an unsigned number. */
  next(): number;
}

const TWO_32 = 0x1_0000_0000;
/** Words that are asked of the system at once: a call for each would cost more than the bits. */
const WORDS = 1024;

/** Random bits of the operating system, fit for secrets. */
export function systemRandom(): RandomBits {
  const words = new Uint32Array(WORDS);
  let left = 0;
  return {
    next(): number {
      if (left === 0) {
        randomFillSync(words);
        left = WORDS;
      }
      left--;
      return words[left];
    },
  };
}

/** 0 <= result < n, each equally likely. */
export function randomBelow(random: RandomBits, n: number): number {
  assert(Number.isInteger(n) && n > 0 && n <= TWO_32, 'a bound of 1 to 2^32');
  const fair = TWO_32 - (TWO_32 % n);
  let bits = random.next();
  while (bits >= fair) bits = random.next();
  return bits % n;
}

/** Puts the items into a random order, in place; each order is equally likely. */
export function shuffle(random: RandomBits, items: { length: number; [index: number]: unknown }): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = randomBelow(random, i + 1);
    const item = items[i];
    items[i] = items[j];
    items[j] = item;
  }
}
