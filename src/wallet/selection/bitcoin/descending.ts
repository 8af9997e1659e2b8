/**
 * Sorts candidates by their amount, the largest first. A wallet may have 100,000
 * coins and a selection some milliseconds, so this counts digits instead of
 * comparing: a few passes over the amounts, each of them stable.
 */
import { assert } from '../../../util/errors.ts';
import { takeIndexes } from '../columns.ts';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const DIGIT_MASK = DIGITS - 1;
const TWO_32 = 0x1_0000_0000;

/** The positions of `keys`, the largest key first; equal keys stay in the order of `positions`. Keys are whole numbers of either sign. */
export function sortDescending(keys: Float64Array, positions: Uint32Array): Uint32Array {
  const { min, max } = rangeOf(keys);
  const span = max - min;
  assert(Number.isSafeInteger(span), 'amounts of coins are below 2^53');
  const [high, low] = [takeIndexes(keys.length), takeIndexes(keys.length)];
  for (let i = 0; i < keys.length; i++) {
    // Counted down from the largest, so that the largest comes first.
    const distance = max - keys[i];
    high[i] = Math.floor(distance / TWO_32);
    low[i] = distance >>> 0;
  }
  let sorted = positions;
  for (let shift = 0; shift < 32 && 2 ** shift <= span; shift += DIGIT_BITS) sorted = sortByDigit(low, shift, sorted);
  for (let shift = 0; shift < 22 && TWO_32 * 2 ** shift <= span; shift += DIGIT_BITS) sorted = sortByDigit(high, shift, sorted);
  return sorted;
}

function rangeOf(keys: Float64Array): { readonly min: number; readonly max: number } {
  let [min, max] = keys.length === 0 ? [0, 0] : [keys[0], keys[0]];
  for (let i = 1; i < keys.length; i++) {
    if (keys[i] < min) min = keys[i];
    else if (keys[i] > max) max = keys[i];
  }
  return { min, max };
}

function sortByDigit(words: Uint32Array, shift: number, positions: Uint32Array): Uint32Array {
  const starts = new Uint32Array(DIGITS + 1);
  for (let i = 0; i < positions.length; i++) starts[((words[positions[i]] >>> shift) & DIGIT_MASK) + 1]++;
  for (let digit = 0; digit < DIGITS; digit++) starts[digit + 1] += starts[digit];
  const sorted = takeIndexes(positions.length);
  for (let i = 0; i < positions.length; i++) {
    const position = positions[i];
    sorted[starts[(words[position] >>> shift) & DIGIT_MASK]++] = position;
  }
  return sorted;
}
