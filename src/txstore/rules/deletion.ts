/**
 * When a record becomes a candidate for deletion: `deleteAtHeight` from the
 * state of the record, in one function that every store calls after every change
 * of a record. It only marks; whether a candidate may go is decided by
 * verdict.ts, from its spenders.
 */
import type { DeletionState } from '../records.ts';
import { heightAfter } from './heights.ts';

/** What it follows from: of the blocks, only whether there are any. */
export type DueState = Omit<DeletionState, 'blocks'> & { readonly blocks: { readonly length: number } };

/** The height at which a pass is to look at the record; null: none does. `retention` 0: never. */
export function deleteAtHeightOf(state: DueState, height: number, retention: number): number | null {
  if (retention === 0 || state.preserveUntil !== null) return null;
  const due = heightAfter(height, retention);
  if (state.isConflicting) return state.deleteAtHeight ?? due;
  if (!isDone(state) || due === null) return null;
  return Math.max(state.deleteAtHeight ?? 0, due);
}

/** Nobody can spend anything of it any more, and the best chain has it. */
function isDone(state: DueState): boolean {
  const isSpent = state.spentCount === state.spendable;
  return isSpent && state.blocks.length > 0 && state.unminedSince === null && !state.isLocked && !state.isCreating;
}
