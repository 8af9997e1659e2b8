/**
 * Coin grinder: finds the selection of the least weight that pays the target and
 * change; of equally light ones the one with the smallest amount. It is for times
 * when block space is dear. After Bitcoin Core's wallet.
 */
import { takeNumbers } from '../columns.ts';
import { amountsBehind, type Candidates, NOTHING_FOUND, type SearchResult } from './candidates.ts';
import { type Move, SelectionWalk } from './selection-walk.ts';

/** `target`: what is to be paid, and the change that is aimed at. The candidates have amounts above 0. */
export function coinGrinder(candidates: Candidates, target: number, weightMax: number): SearchResult {
  if (candidates.total < target) return NOTHING_FOUND;
  const { amounts, weights } = candidates;
  const behind = amountsBehind(candidates);
  const lightest = lightestBehind(candidates);
  const walk = new SelectionWalk(candidates);
  let best: readonly number[] | null = null;
  let [bestWeight, bestAmount] = [weightMax, Number.POSITIVE_INFINITY];
  let tooHeavy = false;
  // No selection without the last candidate is lighter either, unless a lighter candidate comes behind it.
  const withoutLast = (tail: number): Move => (weights[tail] <= lightest[tail] ? 'cut' : 'shift');
  const complete = walk.run((tail) => {
    if (walk.amount + behind[tail] < target) return 'cut';
    if (walk.weight > bestWeight) {
      if (walk.weight > weightMax) tooHeavy = true;
      return withoutLast(tail);
    }
    if (walk.amount >= target) {
      if (walk.weight < bestWeight || walk.amount < bestAmount) {
        best = walk.selected.slice();
        [bestWeight, bestAmount] = [walk.weight, walk.amount];
      }
      return 'shift';
    }
    // All behind are at most as large as the last one, so it takes at least this many of them.
    const missing = Math.ceil((target - walk.amount) / amounts[tail]);
    return best !== null && walk.weight + missing * lightest[tail] > bestWeight ? withoutLast(tail) : 'explore';
  });
  return { positions: best, tooHeavy, tries: walk.tries, complete };
}

/** For each candidate the least weight of those behind it. */
function lightestBehind({ weights, count }: Candidates): Float64Array {
  const lightest = takeNumbers(count);
  let least = Number.POSITIVE_INFINITY;
  for (let i = count - 1; i >= 0; i--) {
    lightest[i] = least;
    least = Math.min(least, weights[i]);
  }
  return lightest;
}
