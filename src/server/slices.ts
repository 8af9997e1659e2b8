/**
 * Long work without keeping others waiting: rows are gone through in slices of
 * a few milliseconds, between which other requests get their turn. What fits
 * into one slice is done at once, without a promise.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IndexedUtxo } from '../query/query.ts';
import { HTTP_SLICE_MS } from '../util/limits.ts';
import type { Accept, Encode, Encoded } from './rows.ts';

/** Rows between two looks at the clock. */
export const ROWS_PER_LOOK = 8;

/** False: that was enough. */
type Take<Row> = (row: Row) => boolean;

/** Goes through the rows, then gives what `result` says. */
export function inSlices<Row, T>(source: Iterable<Row>, take: Take<Row>, result: () => T): T | Promise<T> {
  const rows = source[Symbol.iterator]();
  return slice(rows, take) ? result() : rest(rows, take).then(result);
}

async function rest<Row>(rows: Iterator<Row>, take: Take<Row>): Promise<void> {
  do await nextTurn();
  while (!slice(rows, take));
}

/** True: it was the last one. */
function slice<Row>(rows: Iterator<Row>, take: Take<Row>): boolean {
  const end = performance.now() + HTTP_SLICE_MS;
  for (let i = 1; ; i++) {
    if (i % ROWS_PER_LOOK === 0 && performance.now() > end) return false;
    const { done, value } = rows.next();
    if (done === true) return true;
    if (take(value)) continue;
    rows.return?.();
    return true;
  }
}

export interface Made {
  readonly rows: readonly Encoded[];
  /** Where the last row stands, if there are rows behind it. */
  readonly next: Uint8Array | null;
}

export interface Wanted {
  readonly skip: number;
  readonly limit: number;
  readonly accept?: Accept | undefined;
}

/** A page of the rows of an index. */
export function makePage(source: Iterable<IndexedUtxo>, wanted: Wanted, encode: Encode<IndexedUtxo>): Made | Promise<Made> {
  const { limit, accept } = wanted;
  const rows: Encoded[] = [];
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
    rows.push(encode(row));
    last = row.cursor;
    return true;
  };
  return inSlices(source, take, () => ({ rows, next: more ? last : null }));
}

/** All of them. */
export function makeRows<Row>(source: readonly Row[], encode: Encode<Row>): readonly Encoded[] | Promise<readonly Encoded[]> {
  const rows: Encoded[] = [];
  return inSlices(
    source,
    (row) => rows.push(encode(row)) > 0,
    () => rows,
  );
}
