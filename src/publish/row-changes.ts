/**
 * Operations on rows, collected: a batch that commits nowhere. The last
 * operation on a key counts, so that several changes can be made one.
 */
import type { Batch } from '../engine/engine.ts';
import { assert } from '../util/errors.ts';
import { copied } from '../util/slab.ts';
import { type ColumnChange, ColumnChanges, type CopyChange } from './change.ts';

/** A row that is to be; no value: to be deleted. */
export interface RowChange {
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** Keys as text whose order is that of the bytes. */
export function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
}

export class RowChanges implements Batch {
  readonly columns = new Map<string, Map<string, RowChange>>();
  size = 0;
  private readonly onCommit: ((changes: readonly ColumnChange[]) => void) | undefined;

  /** `onCommit`: gets what a commit would have written. */
  constructor(onCommit?: (changes: readonly ColumnChange[]) => void) {
    this.onCommit = onCommit;
  }

  put(column: string, key: Uint8Array, value: Uint8Array): void {
    this.set(column, copied(key), copied(value));
  }

  del(column: string, key: Uint8Array): void {
    this.set(column, copied(key), undefined);
  }

  /** The bytes are kept, not copied. */
  set(column: string, key: Uint8Array, value: Uint8Array | undefined): void {
    let rows = this.columns.get(column);
    if (rows === undefined) {
      rows = new Map();
      this.columns.set(column, rows);
    }
    rows.set(keyText(key), { key, value });
    this.size++;
  }

  add(changes: readonly ColumnChange[]): void {
    for (const { column, puts, deletes } of changes) {
      for (const [key, value] of puts) this.set(column, key, value);
      for (const key of deletes) this.set(column, key, undefined);
    }
  }

  commit(): void {
    assert(this.onCommit !== undefined, 'somebody takes what is committed');
    this.onCommit(this.list());
    this.clear();
  }

  clear(): void {
    this.columns.clear();
    this.size = 0;
  }

  /** What was collected; rows that `isLeftOut` are left out. */
  list(isLeftOut: (column: string, key: Uint8Array) => boolean = () => false): ColumnChange[] {
    const changes: ColumnChange[] = [];
    for (const [column, rows] of this.columns) {
      const change = new ColumnChanges(column);
      for (const { key, value } of rows.values()) if (!isLeftOut(column, key)) change.add(key, value);
      if (!change.isEmpty) changes.push(change);
    }
    return changes;
  }
}

/** Several changes as one: of each key the last operation, and columns always in the same order, so that statements repeat. */
export function netted(changes: readonly Pick<CopyChange, 'columns'>[]): readonly ColumnChange[] {
  if (changes.length === 1) return changes[0].columns;
  const rows = new RowChanges();
  for (const { columns } of changes) rows.add(columns);
  return rows.list().sort((a, b) => (a.column < b.column ? -1 : 1));
}
