/**
 * The change, as a value: what a block, the undoing of a block, or upkeep did to
 * every column of a store. Applied in order to a copy they make it, byte for
 * byte, what the store is. A change says nothing of how blocks were grouped.
 */
import type { Row } from '../engine/engine.ts';
import type { Head } from '../state/head.ts';

/**
 * `applied`, `undone`: one block. `upkeep`: what pruning deleted, and what settles behind the horizon; the block stays.
 * `rollback`: several blocks at once that were undone while nobody looked; only for targets that keep no columns.
 */
export type ChangeKind = 'applied' | 'undone' | 'upkeep' | 'rollback';

/** What happened to one column; no key is in both lists, or twice in one. */
export interface ColumnChange {
  readonly column: string;
  readonly puts: readonly Row[];
  readonly deletes: readonly Uint8Array[];
}

export interface CopyChange {
  readonly kind: ChangeKind;
  /** The block that was applied or undone; for others, the block that the copy is at. Null: the origin. */
  readonly block: { readonly height: number; readonly hash: Uint8Array } | null;
  /** Where the copy is after it; null: at the origin. */
  readonly head: Head | null;
  /** The same for readers of events: a position to go on from. */
  readonly position: string;
  readonly columns: readonly ColumnChange[];
}

/** Rows that a change writes and deletes. */
export function changeRows({ columns }: Pick<CopyChange, 'columns'>): number {
  return columns.reduce((sum, { puts, deletes }) => sum + puts.length + deletes.length, 0);
}

/** Bytes of its keys and values. */
export function changeBytes({ columns }: Pick<CopyChange, 'columns'>): number {
  let bytes = 0;
  for (const { puts, deletes } of columns) {
    for (const [key, value] of puts) bytes += key.length + value.length;
    for (const key of deletes) bytes += key.length;
  }
  return bytes;
}
