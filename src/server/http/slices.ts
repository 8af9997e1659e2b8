/**
 * Lists of rows, made in slices: between two of them other requests get their
 * turn, and what a list holds counts among the answers on their way.
 */
import type { IndexedUtxo } from '../../query/query.ts';
import type { EncodedRow, RowEncoder, RowFilter } from './rows.ts';
import type { Task } from './work/task.ts';

export interface PageRows {
  readonly rows: readonly EncodedRow[];
  /** Where the last row stands, if there are rows behind it. */
  readonly next: Uint8Array | null;
}

export interface PageBounds {
  readonly skip: number;
  readonly limit: number;
  readonly accept?: RowFilter | undefined;
}

/** A page of the rows of an index. */
export function makePage(
  task: Task,
  source: Iterable<IndexedUtxo>,
  wanted: PageBounds,
  encode: RowEncoder<IndexedUtxo>,
): PageRows | Promise<PageRows> {
  const { limit, accept } = wanted;
  const rows: EncodedRow[] = [];
  let { skip } = wanted;
  let last: Uint8Array | null = null;
  let more = false;
  const take = (row: IndexedUtxo): boolean => {
    if (accept?.(row) === false) return true;
    if (skip > 0) {
      skip--;
      return true;
    }
    more = rows.length === limit;
    if (more) return false;
    rows.push(held(task, encode(row)));
    last = row.cursor;
    return true;
  };
  return task.inSlices(source, take, () => ({ rows, next: more ? last : null }));
}

/** All of them. */
export function makeRows<Row>(
  task: Task,
  source: readonly Row[],
  encode: RowEncoder<Row>,
): readonly EncodedRow[] | Promise<readonly EncodedRow[]> {
  const rows: EncodedRow[] = [];
  return task.inSlices(
    source,
    (row) => rows.push(held(task, encode(row))) > 0,
    () => rows,
  );
}

function held(task: Task, row: EncodedRow): EncodedRow {
  task.hold(row.length);
  return row;
}
