/**
 * Searches that take candidates in a given order until they pay: the largest
 * first, or the oldest first. They are for users who ask for them; the largest
 * first is also what is left when all others find nothing.
 */
import type { Candidates, SearchResult } from './candidates.ts';

/** `order`: positions of candidates with amounts above 0. One that is too heavy is passed over. */
export function inOrder({ amounts, weights }: Candidates, order: Iterable<number>, target: number, weightMax: number): SearchResult {
  const positions: number[] = [];
  let [amount, weight, tries, tooHeavy] = [0, 0, 0, false];
  for (const position of order) {
    tries++;
    if (weight + weights[position] > weightMax) {
      tooHeavy = true;
      continue;
    }
    positions.push(position);
    amount += amounts[position];
    weight += weights[position];
    if (amount >= target) return { positions, tooHeavy, tries, complete: true };
  }
  return { positions: null, tooHeavy, tries, complete: true };
}

export function largestFirst(candidates: Candidates, target: number, weightMax: number): SearchResult {
  return inOrder(candidates, candidates.amounts.keys(), target, weightMax);
}

/** `confirmations` of each candidate. */
export function oldestFirst(
  candidates: Candidates,
  confirmations: (position: number) => number,
  target: number,
  weightMax: number,
): SearchResult {
  // Sorting is stable: of the same age the larger comes first.
  const order = [...candidates.amounts.keys()].sort((a, b) => confirmations(b) - confirmations(a));
  return inOrder(candidates, order, target, weightMax);
}
