/** The parts of a list of transactions by heights, where a negative height stands for "in no block". */

/** Confirmed rows of some heights, both included; `to` null: without end. In each block their order in it. */
export interface ConfirmedPart {
  readonly from: number;
  readonly to: number | null;
  readonly newestBlockFirst: boolean;
}

/** `unmined`: rows without a block, dead ones included. */
export function detailParts(start: number, end: number): readonly ('unmined' | ConfirmedPart)[] {
  if (start < 0) return end < 0 ? ['unmined'] : ['unmined', { from: end, to: null, newestBlockFirst: true }];
  if (end < 0) return [{ from: start, to: null, newestBlockFirst: false }, 'unmined'];
  return [{ from: Math.min(start, end), to: Math.max(start, end), newestBlockFirst: start > end }];
}
