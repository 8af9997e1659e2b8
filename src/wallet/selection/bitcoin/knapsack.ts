/**
 * Knapsack: the oldest search of Bitcoin Core's wallet. An exact coin, else all
 * smaller coins if they are exact, else the smallest larger coin if the smaller
 * ones do not suffice, else the best of many random subsets of the smaller ones.
 * It sees coins that cost more than they bring, too.
 *
 * Core draws 1000 subsets however many coins there are. Here the coins looked at
 * are bounded, too, so that a wallet of 100,000 coins answers in time.
 */
import { KNAPSACK_DRAWS_MAX, KNAPSACK_VISITS_MAX } from '../../../util/limits.ts';
import { takeFlags, takeIndexes } from '../columns.ts';
import type { RandomBits } from '../random.ts';
import { type Candidates, NOTHING_FOUND, type SearchResult } from './candidates.ts';

/** The candidates below target and change, of which subsets are drawn. */
interface Smaller {
  readonly positions: Uint32Array;
  readonly amount: number;
  /** The weight of the heaviest. */
  readonly heaviest: number;
}

interface Subset {
  readonly positions: readonly number[];
  readonly amount: number;
  readonly weight: number;
  readonly visits: number;
}

/** `changeTarget`: change that is aimed at where there is any. */
export function knapsack(
  candidates: Candidates,
  target: number,
  changeTarget: number,
  weightMax: number,
  random: RandomBits,
): SearchResult {
  const { amounts, weights, count } = candidates;
  const smaller = takeIndexes(count);
  let smallerCount = 0;
  let [amount, weight, heaviest] = [0, 0, 0];
  let tooHeavy = false;
  let larger: number | null = null;
  for (let i = 0; i < count; i++) {
    if (weights[i] > weightMax) tooHeavy = true;
    else if (amounts[i] === target) return found([i], i + 1);
    // They descend, so the last one is the smallest.
    else if (amounts[i] >= target + changeTarget) larger = i;
    else {
      smaller[smallerCount++] = i;
      amount += amounts[i];
      weight += weights[i];
      if (weights[i] > heaviest) heaviest = weights[i];
    }
  }
  const positions = smaller.subarray(0, smallerCount);
  if (amount === target && weight <= weightMax) return found([...positions], count);
  if (amount < target) return larger === null ? { ...NOTHING_FOUND, tooHeavy, tries: count } : found([larger], count);
  const best = bestSubset(candidates, { positions, amount, heaviest }, target, changeTarget, weightMax, random);
  const missesChange = best.amount !== target && best.amount < target + changeTarget;
  const tries = count + best.visits;
  if (larger !== null && (missesChange || amounts[larger] <= best.amount || best.weight > weightMax)) return found([larger], tries);
  return best.weight > weightMax ? { ...NOTHING_FOUND, tooHeavy: true, tries } : found(best.positions, tries);
}

function found(positions: readonly number[], tries: number): SearchResult {
  return { positions, tooHeavy: false, tries, complete: true };
}

/** First for the target alone; unless that comes out exactly, for target and change, where they suffice for both. */
function bestSubset(
  candidates: Candidates,
  smaller: Smaller,
  target: number,
  changeTarget: number,
  weightMax: number,
  random: RandomBits,
): Subset {
  const exact = drawSubsets(candidates, smaller, target, weightMax, random);
  if (exact.amount === target || smaller.amount < target + changeTarget) return exact;
  const withChange = drawSubsets(candidates, smaller, target + changeTarget, weightMax, random);
  return { ...withChange, visits: exact.visits + withChange.visits };
}

/** Of random subsets the one closest above `target`. A draw takes each candidate with even odds, then those it left out, until it is there. */
function drawSubsets(candidates: Candidates, smaller: Smaller, target: number, weightMax: number, random: RandomBits): Subset {
  const { positions } = smaller;
  const { amounts } = candidates;
  const subset = new DrawnSubset(candidates, smaller, target, weightMax);
  let visits = 0;
  for (let draw = 0; draw < KNAPSACK_DRAWS_MAX && visits < KNAPSACK_VISITS_MAX && subset.bestAmount !== target; draw++) {
    subset.clear();
    for (let at = 0; at < positions.length; at += 32) {
      const last = Math.min(at + 32, positions.length) - 1;
      const inRange = last - at < 31 ? 2 ** (last - at + 1) - 1 : -1;
      let bits = random.next() & inRange;
      // They descend: where the last one is too large to matter, all of them are.
      if (subset.ignores(amounts[positions[last]])) continue;
      for (; bits !== 0; bits &= bits - 1) subset.offer(positions[at + 31 - Math.clz32(bits & -bits)]);
    }
    visits += positions.length;
    if (subset.reached) continue;
    for (const position of positions) if (!subset.has(position)) subset.offer(position);
    visits += positions.length;
  }
  const best = subset.best() ?? [...positions];
  return { positions: best, amount: subset.bestAmount, weight: best.reduce((sum, i) => sum + candidates.weights[i], 0), visits };
}

/** A subset while it is drawn, and the best one so far. */
class DrawnSubset {
  reached = false;
  bestAmount: number;
  /** Of a draw before; null: none of them was better than all candidates together. */
  #bestBefore: readonly number[] | null = null;
  /** If the best one is of this draw: the candidate that it ends with, behind the first `#bestLength` that were drawn. */
  #bestLast: number | null = null;
  #bestLength = 0;
  readonly #amounts: Float64Array;
  readonly #weights: Float64Array;
  readonly #drawn: number[] = [];
  readonly #included: Uint8Array;
  readonly #target: number;
  readonly #weightMax: number;
  readonly #heaviest: number;
  #amount = 0;
  #weight = 0;

  constructor({ amounts, weights }: Candidates, { amount, heaviest }: Smaller, target: number, weightMax: number) {
    this.#amounts = amounts;
    this.#weights = weights;
    this.#included = takeFlags(amounts.length);
    this.#target = target;
    this.#weightMax = weightMax;
    this.#heaviest = heaviest;
    this.bestAmount = amount;
  }

  /** Positions of candidates; null: all of them. */
  best(): readonly number[] | null {
    return this.#bestLast === null ? this.#bestBefore : [...this.#drawn.slice(0, this.#bestLength), this.#bestLast];
  }

  clear(): void {
    this.#bestBefore = this.best();
    this.#bestLast = null;
    for (const position of this.#drawn) this.#included[position] = 0;
    this.#drawn.length = 0;
    this.#amount = 0;
    this.#weight = 0;
    this.reached = false;
  }

  has(position: number): boolean {
    return this.#included[position] === 1;
  }

  /** True: to offer candidates of at least this amount changes nothing, because the subset was there, and with them is no better than the best. */
  ignores(amount: number): boolean {
    return this.reached && this.#amount + amount >= this.bestAmount && this.#weight + this.#heaviest <= this.#weightMax;
  }

  /** Keeps the candidate, unless the subset is there with it: then it is left out again, because a smaller one behind it may come closer. */
  offer(position: number): void {
    const amount = this.#amount + this.#amounts[position];
    const weight = this.#weight + this.#weights[position];
    if (amount < this.#target || weight > this.#weightMax) {
      this.#amount = amount;
      this.#weight = weight;
      this.#included[position] = 1;
      this.#drawn.push(position);
      return;
    }
    this.reached = true;
    if (amount >= this.bestAmount) return;
    this.bestAmount = amount;
    // Not copied: with many coins of nearly one amount each of them is a little better than the one before.
    this.#bestLast = position;
    this.#bestLength = this.#drawn.length;
  }
}
