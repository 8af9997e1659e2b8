/**
 * The change, as a value: what a block, the undoing of a block, or upkeep did to
 * every column of a store. Applied in order to a copy they make it, byte for
 * byte, what the store is. A change says nothing of how blocks were grouped.
 */
import type { Row } from '../engine/engine.ts';
import type { Head } from '../state/head.ts';

/**
 * `applied`, `undone`: a block. `upkeep`: what pruning deleted, and what settles behind the horizon; the block stays.
 * `rollback`: several blocks at once that were undone while nobody looked; only for targets that keep no columns.
 */
export type ChangeKind = 'applied' | 'undone' | 'upkeep' | 'rollback';

/** What happened to one column; no key is in both lists, or twice in one. */
export interface ColumnChange {
  readonly column: string;
  readonly puts: readonly Row[];
  readonly deletes: readonly Uint8Array[];
  /** So many of the first puts are of keys that were not there before; absent: that is not known of any. */
  readonly fresh?: number;
}

export interface CopyChange {
  readonly kind: ChangeKind;
  /** How many changes it stands for: blocks that were applied one after the other may be told as one. */
  readonly count: number;
  /** The block that was applied or undone, of several the newest; for others, the block that the copy is at. Null: the origin. */
  readonly block: { readonly height: number; readonly hash: Uint8Array } | null;
  /** Where the copy is after it; null: at the origin. */
  readonly head: Head | null;
  /** The same for readers of events: a position to go on from. */
  readonly position: string;
  readonly columns: readonly ColumnChange[];
}

/** A column change in the making. */
export class ColumnChanges implements ColumnChange {
  readonly column: string;
  readonly puts: Row[] = [];
  readonly deletes: Uint8Array[] = [];
  fresh = 0;

  constructor(column: string) {
    this.column = column;
  }

  /** A key that it does not have yet; no value: to be deleted. */
  add(key: Uint8Array, value: Uint8Array | null | undefined): void {
    if (value === null || value === undefined) this.deletes.push(key);
    else this.puts.push([key, value]);
  }

  get isEmpty(): boolean {
    return this.puts.length + this.deletes.length === 0;
  }
}

/** By how many the number of a copy grows with them. */
export function countOf(changes: readonly CopyChange[]): number {
  return changes.reduce((sum, { count }) => sum + count, 0);
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
