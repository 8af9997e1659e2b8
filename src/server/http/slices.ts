/**
 * Lists of rows, made in slices: between two of them other requests get their
 * turn, and what a list holds counts among the answers on their way.
 */
import type { EncodedRow, RowEncoder } from './rows.ts';
import type { Task } from './work/task.ts';

export interface PageRows {
  readonly rows: readonly EncodedRow[];
  /** Where the last row stands, if there are rows behind it. */
  readonly next: Uint8Array | null;
}

/** A row that says where it stands in its list. */
interface PlacedRow {
  readonly cursor: Uint8Array;
}

export interface PageBounds<Row> {
  readonly skip: number;
  readonly limit: number;
  readonly accept?: ((row: Row) => boolean) | undefined;
}

/** A page of the rows of a list. */
export function makePage<Row extends PlacedRow>(
  task: Task,
  source: Iterable<Row>,
  wanted: PageBounds<Row>,
  encode: RowEncoder<Row>,
): PageRows | Promise<PageRows> {
  const finish = ({ rows, last, isLast }: TakenPage<Row, EncodedRow>): PageRows => ({
    rows,
    next: isLast ? null : (last?.cursor ?? null),
  });
  const taken = takePage(task, source, wanted, (row) => held(task, encode(row)));
  return taken instanceof Promise ? taken.then(finish) : finish(taken);
}

/** Some of many rows, as something made of each. */
export interface TakenPage<Row, Made> {
  readonly rows: readonly Made[];
  /** The row that the last one was made of. */
  readonly last: Row | null;
  /** There are no rows behind it. */
  readonly isLast: boolean;
}

/** Those rows that `accept` takes (absent: all), but for the first `skip`, and `limit` of them at most. */
export function takePage<Row, Made>(
  task: Task,
  source: Iterable<Row>,
  wanted: PageBounds<Row>,
  make: (row: Row) => Made,
): TakenPage<Row, Made> | Promise<TakenPage<Row, Made>> {
  const { limit, accept } = wanted;
  const rows: Made[] = [];
  let { skip } = wanted;
  let last: Row | null = null;
  let isLast = true;
  const take = (row: Row): boolean => {
    if (accept?.(row) === false) return true;
    if (skip > 0) {
      skip--;
      return true;
    }
    isLast = rows.length < limit;
    if (!isLast) return false;
    rows.push(make(row));
    last = row;
    return true;
  };
  return task.inSlices(source, take, () => ({ rows, last, isLast }));
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
