/**
 * Rows of a step that are not written yet, in front of the store, and what they
 * were before each block. The undo of a block is the earlier content of every
 * row that it changed, nodes of tries excepted: those follow from the values
 * (`tries.ts`), because the shape of a trie depends on its entries alone.
 *
 * Undo: n varint, then per row: column u8, key length varint, key, 0 (there was
 * none) or value length + 1 varint, value. Rows that end as they began are left
 * out, so that what comes and goes within a block leaves no trace.
 */
import type { Batch, Reader } from '../../../engine/engine.ts';
import { ByteReader, type ByteWriter } from '../../../util/byte-writer.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { CAGE, CAGE_VALUES } from './rows.ts';

/** Columns whose rows an undo restores, by their number in it. */
const UNDO_COLUMNS = [CAGE, CAGE_VALUES] as const;
type UndoColumn = (typeof UNDO_COLUMNS)[number];

export interface RowBefore {
  readonly column: UndoColumn;
  readonly key: Uint8Array;
  readonly before: Uint8Array | undefined;
}

interface PendingRow {
  readonly column: UndoColumn;
  readonly key: Uint8Array;
  /** In the store. */
  readonly stored: Uint8Array | undefined;
  value: Uint8Array | undefined;
}

export interface ChangedRow {
  readonly key: Uint8Array;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

export class CageChanges {
  private readonly view: Reader;
  private readonly rows = new Map<string, PendingRow>();
  /** What rows were when the present block began. */
  private readonly touched = new Map<string, Uint8Array | undefined>();

  constructor(view: Reader) {
    this.view = view;
  }

  get(column: UndoColumn, key: Uint8Array): Uint8Array | undefined {
    return this.row(column, key)[1].value;
  }

  put(column: UndoColumn, key: Uint8Array, value: Uint8Array | undefined): void {
    const [name, row] = this.row(column, key);
    if (!this.touched.has(name)) this.touched.set(name, row.value);
    row.value = value;
  }

  del(column: UndoColumn, key: Uint8Array): void {
    this.put(column, key, undefined);
  }

  private row(column: UndoColumn, key: Uint8Array): readonly [string, PendingRow] {
    const name = rowName(column, key);
    const known = this.rows.get(name);
    if (known !== undefined) return [name, known];
    const stored = this.view.get(column, key);
    const row = { column, key, stored, value: stored };
    this.rows.set(name, row);
    return [name, row];
  }

  /** The undo of the block that ends here; undefined: it changed nothing. */
  endBlock(w: ByteWriter): Uint8Array | undefined {
    const changed = [...this.touched].flatMap(([name, before]) => {
      const row = this.rows.get(name)!;
      return same(before, row.value) ? [] : [{ column: row.column, key: row.key, before }];
    });
    this.touched.clear();
    return changed.length === 0 ? undefined : encodeUndo(w, changed);
  }

  /** Takes a block back. */
  restore(undo: Uint8Array, what: string): void {
    for (const { column, key, before } of decodeUndo(undo, what)) this.put(column, key, before);
    this.touched.clear();
  }

  /** Rows of the column that will differ from those in the store. */
  *changed(column: UndoColumn): Iterable<ChangedRow> {
    for (const row of this.rows.values()) {
      if (row.column === column && !same(row.stored, row.value)) yield { key: row.key, before: row.stored, after: row.value };
    }
  }

  flush(batch: Batch): void {
    for (const column of UNDO_COLUMNS) {
      for (const { key, after } of this.changed(column)) {
        if (after === undefined) batch.del(column, key);
        else batch.put(column, key, after);
      }
    }
  }
}

function rowName(column: UndoColumn, key: Uint8Array): string {
  let name = column === CAGE ? 'c' : 'v';
  for (let i = 0; i < key.length; i++) name += String.fromCharCode(key[i]);
  return name;
}

function same(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalBytes(a, b);
}

function encodeUndo(w: ByteWriter, rows: readonly RowBefore[]): Uint8Array {
  w.reset();
  w.varint(rows.length);
  for (const { column, key, before } of rows) {
    w.u8(UNDO_COLUMNS.indexOf(column));
    w.varint(key.length);
    w.run(key);
    w.varint(before === undefined ? 0 : before.length + 1);
    if (before !== undefined) w.run(before);
  }
  return w.view().slice();
}

/** Throws STORE_DAMAGED. */
export function decodeUndo(bytes: Uint8Array, what: string): RowBefore[] {
  const r = new ByteReader(bytes, what);
  const rows: RowBefore[] = [];
  for (let n = r.varint(); n > 0; n--) {
    const column = UNDO_COLUMNS[r.u8()];
    if (column === undefined) throw new UnspentError('STORE_DAMAGED', `${what} names a column that no cage has`);
    const key = r.run(r.varint());
    const length = r.varint();
    rows.push({ column, key, before: length === 0 ? undefined : r.run(length - 1) });
  }
  r.end();
  return rows;
}
