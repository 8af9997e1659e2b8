/**
 * What the searches see of coins: for each candidate an amount, a weight and a
 * waste, in columns, the largest amount first. A candidate is one coin, or a
 * group of coins that are spent together.
 *
 * Columns hold plain numbers. They are exact: no chain has 2^53 satoshi, and the
 * sum of all amounts is checked to be below that.
 */
import { assert } from '../../../util/errors.ts';
import { takeIndexes, takeNumbers } from '../columns.ts';
import { type RandomBits, randomBelow } from '../random.ts';
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

export function sortCandidates(unsorted: UnsortedCandidates): Candidates {
  const { amounts, weights, wastes } = unsorted;
  const sources = ascends(unsorted) ? runsBackwards(amounts) : sortedSources(unsorted);
  const count = sources.length;
  const sorted = { amounts: takeNumbers(count), weights: takeNumbers(count), wastes: takeNumbers(count) };
  let total = 0;
  for (let i = 0; i < count; i++) {
    const source = sources[i];
    const amount = amounts[source];
    sorted.amounts[i] = amount;
    sorted.weights[i] = weights[source];
    sorted.wastes[i] = wastes[source];
    if (amount > 0) total += amount;
  }
  assert(Number.isSafeInteger(total), 'all coins together are below 2^53 satoshi');
  return { count, ...sorted, sources, total };
}

/** As coins are that come in the order of their amounts: the smallest first, of equal amounts the one with less waste. */
function ascends({ amounts, wastes }: UnsortedCandidates): boolean {
  for (let i = 1; i < amounts.length; i++) {
    if (amounts[i] > amounts[i - 1]) continue;
    if (amounts[i] < amounts[i - 1] || wastes[i] < wastes[i - 1]) return false;
  }
  return true;
}

/** Where ascending keys are, the last run of equal ones first, each run in its own order. */
function runsBackwards(keys: Float64Array): Uint32Array {
  const sources = takeIndexes(keys.length);
  let at = 0;
  for (let end = keys.length; end > 0; ) {
    let start = end - 1;
    while (start > 0 && keys[start - 1] === keys[start]) start--;
    for (let i = start; i < end; i++) sources[at++] = i;
    end = start;
  }
  return sources;
}

/** Stable: sorted by the tie first, the tie decides among equal amounts. */
function sortedSources({ amounts, wastes }: UnsortedCandidates): Uint32Array {
  const order = takeIndexes(amounts.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  return sortDescending(amounts, sortDescending(negated(wastes), order));
}

/**
 * The sources of the candidates at these positions. A search takes the first of clones, which are equal in all columns;
 * so that it does not matter who came first, as many others of them stand in for those it took, at random.
 */
export function sourcesAt(candidates: Candidates, positions: readonly number[], random: RandomBits): number[] {
  const { sources, count } = candidates;
  const ascending = positions.toSorted((a, b) => a - b);
  const chosen: number[] = [];
  for (let i = 0; i < ascending.length; ) {
    let [start, end] = [ascending[i], ascending[i] + 1];
    while (start > 0 && areClones(candidates, start - 1, start)) start--;
    while (end < count && areClones(candidates, end, start)) end++;
    const first = i;
    while (i < ascending.length && ascending[i] < end) i++;
    for (const position of randomPositions(start, end, i - first, random)) chosen.push(sources[position]);
  }
  return chosen;
}

function areClones({ amounts, weights, wastes }: Candidates, a: number, b: number): boolean {
  return amounts[a] === amounts[b] && weights[a] === weights[b] && wastes[a] === wastes[b];
}

/** `count` different positions from `start` up to `end`, each set of them equally likely (Floyd). */
function randomPositions(start: number, end: number, count: number, random: RandomBits): ReadonlySet<number> {
  const drawn = new Set<number>();
  for (let last = end - count; last < end; last++) {
    const position = start + randomBelow(random, last - start + 1);
    drawn.add(drawn.has(position) ? last : position);
  }
  return drawn;
}

/** Only candidates with an amount above 0: the others cost more than they bring. */
export function positiveOnly({ amounts, weights, wastes, sources, total }: Candidates): Candidates {
  let count = amounts.length;
  while (count > 0 && amounts[count - 1] <= 0) count--;
  const columns = { amounts: amounts.subarray(0, count), weights: weights.subarray(0, count), wastes: wastes.subarray(0, count) };
  return { count, ...columns, sources: sources.subarray(0, count), total };
}

/** A loop, because `every` and `reduce` make an object of each number. Infinity of none. */
export function leastOf(column: Float64Array): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < column.length; i++) if (column[i] < least) least = column[i];
  return least;
}

function negated(column: Float64Array): Float64Array {
  const out = takeNumbers(column.length);
  for (let i = 0; i < out.length; i++) out[i] = -column[i];
  return out;
}

/** For each candidate the sum of the amounts behind it. */
export function amountsBehind({ amounts, count }: Candidates): Float64Array {
  const behind = takeNumbers(count);
  if (count > 0) behind[count - 1] = 0;
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
