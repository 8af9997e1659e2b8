/**
 * One attempt to pay from one set of candidates: runs the searches that apply
 * and takes the result with the least waste; of equal waste the one that spends
 * more inputs, because it leaves fewer coins.
 */
import { CHANGE_SAT_MIN } from '../../../util/limits.ts';
import type { RandomBits } from '../random.ts';
import { branchAndBound } from './branch-and-bound.ts';
import { type Candidates, positiveOnly, type SearchResult, sortCandidates, sourcesAt } from './candidates.ts';
import type { ChangeTerms } from './change.ts';
import type { Algorithm, Coin, SelectionOrder } from './coin.ts';
import { coinGrinder } from './coin-grinder.ts';
import type { CoinGroups } from './groups.ts';
import { knapsack } from './knapsack.ts';
import { largestFirst, oldestFirst } from './ordered.ts';
import { singleRandomDraw } from './single-random-draw.ts';
import { type PaymentTarget, wasteOf } from './waste.ts';

/** What the searches have to reach, and within which limits. */
export interface SearchTerms {
  readonly target: PaymentTarget;
  readonly change: ChangeTerms;
  /** There is no other output, so change has to be made. */
  readonly changeNeeded: boolean;
  /** That the inputs may have when there is no change. */
  readonly weightMax: number;
  readonly order: SelectionOrder;
  /** Fees are so high that weight is all that counts. */
  readonly grind: boolean;
  readonly combinedBumpFee: ((unconfirmed: readonly Coin[]) => bigint) | undefined;
}

/** Groups that an attempt may take from. */
export interface AttemptPool {
  /** Of all coins. */
  readonly all: { readonly groups: CoinGroups; readonly eligible: Uint32Array };
  /** Of coins that bring more than they cost; the same object where each coin is a group. */
  readonly positive: { readonly groups: CoinGroups; readonly eligible: Uint32Array };
}

/** Coins that a search has found. */
export interface FoundCoins {
  readonly algorithm: Algorithm;
  readonly coins: readonly Coin[];
  readonly waste: number;
}

export interface Attempt {
  readonly best: FoundCoins | null;
  /** Where nothing was found: some selection would have done, but for its weight. */
  readonly tooHeavy: boolean;
}

interface SortedGroups {
  readonly candidates: Candidates;
  readonly groups: CoinGroups;
  readonly eligible: Uint32Array;
}

/** A search with what it runs on. */
interface Search {
  readonly algorithm: Algorithm;
  readonly from: SortedGroups;
  readonly run: () => SearchResult;
}

export function attempt(pool: AttemptPool, terms: SearchTerms, random: RandomBits): Attempt {
  const byValue = terms.target.subtractFee;
  const sorted = ({ groups, eligible }: AttemptPool['all']): SortedGroups => ({
    groups,
    eligible,
    candidates: sortCandidates(groups.candidates(eligible, byValue)),
  });
  const all = sorted(pool.all);
  const apart = pool.positive === pool.all ? all : sorted(pool.positive);
  const positive = { ...apart, candidates: positiveOnly(apart.candidates) };
  if (positive.candidates.total < leastAmount(terms)) return { best: null, tooHeavy: false };
  const first = bestOf(searches(all, positive, terms, random), terms, random);
  // Where coins suffice and no search found them, because what is left is too much for none and too little for good change.
  return first.best === null && terms.order === 'waste' ? bestOf([ordered('largest-first', positive, terms)], terms, random) : first;
}

/** What a selection must amount to at least. */
export function leastAmount({ target, change, changeNeeded }: SearchTerms): number {
  return target.amount + (changeNeeded ? change.fee + change.minViable : 0);
}

function searches(all: SortedGroups, positive: SortedGroups, terms: SearchTerms, random: RandomBits): readonly Search[] {
  const { change, weightMax, order } = terms;
  if (order === 'largest-first' || order === 'oldest-first') return [ordered(order, positive, terms)];
  const target = leastAmount(terms);
  const weightWithChange = weightMax - change.weight;
  const list: Search[] = [];
  if (!terms.target.subtractFee && !terms.changeNeeded) {
    const run = (): SearchResult => branchAndBound(positive.candidates, target, change.cost, weightMax);
    list.push({ algorithm: 'branch-and-bound', from: positive, run });
  }
  list.push({ algorithm: 'knapsack', from: all, run: () => knapsack(all.candidates, target, change.target, weightWithChange, random) });
  if (terms.grind || order === 'coin-grinder') {
    const run = (): SearchResult => coinGrinder(positive.candidates, target + change.target, weightWithChange);
    list.push({ algorithm: 'coin-grinder', from: positive, run });
  }
  const drawn = target + CHANGE_SAT_MIN + change.fee;
  const run = (): SearchResult => singleRandomDraw(positive.candidates, drawn, weightWithChange, random);
  list.push({ algorithm: 'single-random-draw', from: positive, run });
  return order === 'waste' ? list : list.filter(({ algorithm }) => algorithm === order);
}

function ordered(algorithm: 'largest-first' | 'oldest-first', from: SortedGroups, terms: SearchTerms): Search {
  const { candidates, groups, eligible } = from;
  const [target, weightMax] = [leastAmount(terms), terms.weightMax - terms.change.weight];
  const age = (position: number): number => groups.confirmationsOf(eligible[candidates.sources[position]]);
  const run = (): SearchResult =>
    algorithm === 'largest-first' ? largestFirst(candidates, target, weightMax) : oldestFirst(candidates, age, target, weightMax);
  return { algorithm, from, run };
}

function bestOf(list: readonly Search[], terms: SearchTerms, random: RandomBits): Attempt {
  const attempts = list.map(({ algorithm, from, run }): Attempt => {
    const { positions, tooHeavy } = run();
    return { best: positions === null ? null : measured({ algorithm, from }, positions, terms, random), tooHeavy };
  });
  return { best: leastWaste(attempts), tooHeavy: attempts.some(({ tooHeavy }) => tooHeavy) };
}

/** Of equal waste the one with more inputs. */
export function leastWaste(attempts: readonly Attempt[]): FoundCoins | null {
  let least: FoundCoins | null = null;
  for (const { best } of attempts) {
    if (best === null) continue;
    if (least === null || best.waste < least.waste || (best.waste === least.waste && best.coins.length > least.coins.length)) least = best;
  }
  return least;
}

function measured(
  { algorithm, from }: Omit<Search, 'run'>,
  positions: readonly number[],
  terms: SearchTerms,
  random: RandomBits,
): FoundCoins {
  const { candidates, groups, eligible } = from;
  // Where the order counts clones are not equal: one is older than the other.
  const sources =
    algorithm === 'oldest-first' ? positions.map((position) => candidates.sources[position]) : sourcesAt(candidates, positions, random);
  const coins = sources.flatMap((source) => groups.coinsOf(eligible[source]));
  const sum = (column: Float64Array): number => positions.reduce((total, position) => total + column[position], 0);
  const bumpDiscount = bumpDiscountOf(coins, terms.combinedBumpFee);
  const selected = { amount: sum(candidates.amounts), waste: sum(candidates.wastes), bumpDiscount };
  return { algorithm, coins, waste: wasteOf(selected, terms.target, terms.change) };
}

/** What lifting the coins' ancestors takes less together than one by one: shared ones are paid for once. */
export function bumpDiscountOf(coins: readonly Coin[], combinedBumpFee: SearchTerms['combinedBumpFee']): number {
  const unconfirmed = coins.filter(({ bumpFee }) => bumpFee > 0n);
  if (combinedBumpFee === undefined || unconfirmed.length < 2) return 0;
  const single = unconfirmed.reduce((total, { bumpFee }) => total + bumpFee, 0n);
  const together = combinedBumpFee(unconfirmed);
  return together < single ? Number(single - together) : 0;
}
