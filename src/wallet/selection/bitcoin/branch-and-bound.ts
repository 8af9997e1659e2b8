/**
 * Branch and bound: looks for a selection that needs no change, because it pays
 * the target and exceeds it by no more than change would cost. Of those it takes
 * the one with the least waste. After Murch's thesis and Bitcoin Core's wallet.
 */
import { amountsBehind, type Candidates, leastOf, NOTHING_FOUND, type SearchResult } from './candidates.ts';
import { SelectionWalk } from './selection-walk.ts';

/** The candidates have amounts above 0. */
export function branchAndBound(candidates: Candidates, target: number, costOfChange: number, weightMax: number): SearchResult {
  if (candidates.total < target) return NOTHING_FOUND;
  const behind = amountsBehind(candidates);
  // While spending now costs more than another day, a larger selection has more waste.
  const wasteOnlyGrows = leastOf(candidates.wastes) >= 0;
  const walk = new SelectionWalk(candidates);
  let best: readonly number[] | null = null;
  let bestWaste = Number.POSITIVE_INFINITY;
  let tooHeavy = false;
  const complete = walk.run((tail) => {
    if (walk.amount + behind[tail] < target) return 'cut';
    if (walk.amount > target + costOfChange) return 'shift';
    if (wasteOnlyGrows && walk.waste > bestWaste) return 'shift';
    if (walk.weight > weightMax) {
      tooHeavy = true;
      return 'shift';
    }
    if (walk.amount < target) return 'explore';
    const waste = walk.waste + walk.amount - target;
    if (waste <= bestWaste) {
      best = walk.selected.slice();
      bestWaste = waste;
    }
    return 'shift';
  });
  return { positions: best, tooHeavy, tries: walk.tries, complete };
}
