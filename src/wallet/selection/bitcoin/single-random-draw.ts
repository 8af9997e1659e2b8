/**
 * Single random draw: adds candidates at random until they pay the target and
 * change. While a draw is too heavy, its least valuable candidates are dropped.
 * After Bitcoin Core's wallet.
 */
import { takeIndexes } from '../columns.ts';
import { type RandomBits, randomBelow } from '../random.ts';
import type { Candidates, SearchResult } from './candidates.ts';

/** `target`: what is to be paid, and the change that is aimed at. The candidates have amounts above 0. */
export function singleRandomDraw(candidates: Candidates, target: number, weightMax: number, random: RandomBits): SearchResult {
  const { amounts, weights, count } = candidates;
  const undrawn = takeIndexes(count);
  for (let i = 0; i < count; i++) undrawn[i] = i;
  const drawn = new PositionHeap();
  let [amount, weight, tooHeavy] = [0, 0, false];
  for (let left = count; left > 0; left--) {
    const at = randomBelow(random, left);
    const position = undrawn[at];
    undrawn[at] = undrawn[left - 1];
    drawn.push(position);
    amount += amounts[position];
    weight += weights[position];
    while (weight > weightMax) {
      tooHeavy = true;
      const least = drawn.pop();
      amount -= amounts[least];
      weight -= weights[least];
    }
    if (amount >= target) return { positions: drawn.positions, tooHeavy, tries: count - left + 1, complete: true };
  }
  return { positions: null, tooHeavy, tries: count, complete: true };
}

/** Positions with the last one on top: candidates are sorted, so it is the least valuable. */
class PositionHeap {
  readonly positions: number[] = [];

  push(position: number): void {
    const heap = this.positions;
    let at = heap.length;
    heap.push(position);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent] >= position) break;
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = position;
  }

  pop(): number {
    const heap = this.positions;
    const top = heap[0];
    const moved = heap.pop() as number;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && heap[child + 1] > heap[child]) child++;
      if (heap[child] <= moved) break;
      heap[at] = heap[child];
      at = child;
    }
    if (heap.length > 0) heap[at] = moved;
    return top;
  }
}
