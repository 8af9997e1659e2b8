/**
 * What the searches see of coins: for each candidate an amount, a weight and a
 * waste, in columns, the largest amount first. A candidate is one coin, or a
 * group of coins that are spent together.
 *
 * Columns hold plain numbers. They are exact: no chain has 2^53 satoshi, and the
 * sum of all amounts is checked to be below that.
 */
import { assert } from '../../../util/errors.ts';
import { type RandomBits, shuffle } from '../random.ts';
import { sortDescending } from './descending.ts';

/** Candidates in the order of their amounts, the largest first; of equal amounts the one with less waste. */
export interface Candidates {
  readonly count: number;
  /** What each adds to a payment: its effective value, or its value when receivers pay the fee. */
  readonly amounts: Float64Array;
  /** Of the inputs that spend it. */
  readonly weights: Float64Array;
  /** Its fee now less its fee some other day. */
  readonly wastes: Float64Array;
  /** Which candidate this was before they were sorted. */
  readonly sources: Uint32Array;
  /** Sum of the amounts that are above 0. */
  readonly total: number;
}

/** Candidates in any order. */
export interface UnsortedCandidates {
  readonly amounts: Float64Array;
  readonly weights: Float64Array;
  readonly wastes: Float64Array;
}

/** Clones, which are equal in all columns, come out in a random order. */
export function sortCandidates({ amounts, weights, wastes }: UnsortedCandidates, random: RandomBits): Candidates {
  const order = new Uint32Array(amounts.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  // Stable: sorted by the tie first, the tie decides among equal amounts.
  const sources = sortDescending(amounts, sortDescending(negated(wastes), order));
  const gather = (column: Float64Array): Float64Array => {
    const gathered = new Float64Array(sources.length);
    for (let i = 0; i < gathered.length; i++) gathered[i] = column[sources[i]];
    return gathered;
  };
  const sorted = finished(gather(amounts), gather(weights), gather(wastes), sources);
  shuffleClones(sorted, random);
  return sorted;
}

/** Only among clones does it matter who comes first, so only they are shuffled: it would take as long as the sorting does. */
function shuffleClones({ amounts, weights, wastes, sources, count }: Candidates, random: RandomBits): void {
  for (let start = 0, end = 1; start < count; start = end++) {
    while (end < count && amounts[end] === amounts[start] && weights[end] === weights[start] && wastes[end] === wastes[start]) end++;
    if (end - start > 1) shuffle(random, sources.subarray(start, end));
  }
}

/** Only candidates with an amount above 0: the others cost more than they bring. */
export function positiveOnly({ amounts, weights, wastes, sources }: Candidates): Candidates {
  let count = amounts.length;
  while (count > 0 && amounts[count - 1] <= 0) count--;
  return finished(amounts.subarray(0, count), weights.subarray(0, count), wastes.subarray(0, count), sources.subarray(0, count));
}

function finished(amounts: Float64Array, weights: Float64Array, wastes: Float64Array, sources: Uint32Array): Candidates {
  let total = 0;
  for (let i = 0; i < amounts.length && amounts[i] > 0; i++) total += amounts[i];
  assert(Number.isSafeInteger(total), 'all coins together are below 2^53 satoshi');
  return { count: amounts.length, amounts, weights, wastes, sources, total };
}

function negated(column: Float64Array): Float64Array {
  const out = new Float64Array(column.length);
  for (let i = 0; i < out.length; i++) out[i] = -column[i];
  return out;
}

/** For each candidate the sum of the amounts behind it. */
export function amountsBehind({ amounts, count }: Candidates): Float64Array {
  const behind = new Float64Array(count);
  for (let i = count - 2; i >= 0; i--) behind[i] = behind[i + 1] + amounts[i + 1];
  return behind;
}

/** What a search came to: positions of candidates, or null with the reason. */
export interface SearchResult {
  readonly positions: readonly number[] | null;
  /** Some selection would have done, but for its weight. */
  readonly tooHeavy: boolean;
  /** Selections it looked at. */
  readonly tries: number;
  /** It has seen all there are, or has shown that the rest are no better. */
  readonly complete: boolean;
}

export const NOTHING_FOUND: SearchResult = { positions: null, tooHeavy: false, tries: 0, complete: true };
