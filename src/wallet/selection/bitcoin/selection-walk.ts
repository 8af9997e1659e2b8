/**
 * The walk through selections that branch and bound and coin grinder share:
 * depth first over all subsets of the candidates, with the next candidate before
 * without it. After each candidate that is added, the search says how to go on:
 *
 *   explore   add the next candidate, too
 *   shift     replace the last candidate by the next one
 *   cut       neither the last candidate nor any behind it helps: drop it, then shift
 *
 * A candidate that is no better than the one just left out is passed over: each
 * selection with it was seen with that one.
 */
import { SELECTION_TRIES_MAX } from '../../../util/limits.ts';
import type { Candidates } from './candidates.ts';

export type Move = 'explore' | 'shift' | 'cut';

export class SelectionWalk {
  /** Positions of the candidates in the selection, ascending. */
  readonly selected: number[] = [];
  amount = 0;
  weight = 0;
  waste = 0;
  tries = 0;
  readonly #candidates: Candidates;

  constructor(candidates: Candidates) {
    this.#candidates = candidates;
  }

  /** True: it saw all there is to see. False: it ran out of tries. `judge` is called after the candidate at `tail` was added. */
  run(judge: (tail: number) => Move): boolean {
    const { count } = this.#candidates;
    for (let next = 0; next < count; ) {
      const tail = next;
      this.#add(tail);
      const move = judge(tail);
      if (this.tries >= SELECTION_TRIES_MAX) return false;
      next = tail + 1;
      if (move === 'explore' && next < count) continue;
      if (move === 'cut' || next === count) this.#removeLast();
      next = this.#shift();
    }
    return true;
  }

  /** Removes the last candidate; the result is the one to add instead, or behind the last when there is none. */
  #shift(): number {
    const { count } = this.#candidates;
    while (this.selected.length > 0) {
      let next = this.#removeLast() + 1;
      while (next < count && this.#isNoBetter(next, next - 1)) next++;
      if (next < count) return next;
    }
    return count;
  }

  #add(position: number): void {
    const { amounts, weights, wastes } = this.#candidates;
    this.selected.push(position);
    this.amount += amounts[position];
    this.weight += weights[position];
    this.waste += wastes[position];
    this.tries++;
  }

  #removeLast(): number {
    const { amounts, weights, wastes } = this.#candidates;
    const position = this.selected.pop() as number;
    this.amount -= amounts[position];
    this.weight -= weights[position];
    this.waste -= wastes[position];
    return position;
  }

  #isNoBetter(position: number, than: number): boolean {
    const { amounts, weights, wastes } = this.#candidates;
    return amounts[position] === amounts[than] && weights[position] >= weights[than] && wastes[position] >= wastes[than];
  }
}
