/**
 * The rules of a scan, the same in every engine, so that a mistake shows in a
 * test on the memory engine too.
 *
 * The strict one: in a `prefix` column a scan stays inside one prefix, because
 * a filter on prefixes may hide every other. The exception is the whole column,
 * forwards, which engines read in total order.
 */
import { compareBytes } from '../util/bytes.ts';
import { assert } from '../util/errors.ts';
import { keyAfterPrefix } from '../util/key-range.ts';
import type { ColumnSpec, ScanOptions } from './engine.ts';

/** Rows of the first chunk of a scan: most scans end within it. Later chunks grow to SCAN_ROWS. */
export const SCAN_ROWS_FIRST = 32;

/** How fast chunks grow: from 32 to 1024 in three steps. */
export const SCAN_ROWS_GROWTH = 4;

export interface ScanRange {
  readonly gte: Uint8Array | undefined;
  readonly lt: Uint8Array | undefined;
  readonly reverse: boolean;
  readonly limit: number;
  /** Nothing can be in it. */
  readonly empty: boolean;
  /** In a `prefix` column: the prefix of the scan, undefined for the whole column. */
  readonly prefix: Uint8Array | undefined;
}

/** Copies the bounds: a caller may reuse its buffers while the scan goes on. */
export function scanRange(column: ColumnSpec, options: ScanOptions = {}): ScanRange {
  const { reverse = false, limit = Number.POSITIVE_INFINITY } = options;
  assert(limit >= 0 && (Number.isInteger(limit) || limit === Number.POSITIVE_INFINITY), `scan limit ${limit} of '${column.name}'`);
  const gte = options.gte && Uint8Array.from(options.gte);
  const lt = options.lt && Uint8Array.from(options.lt);
  const empty = limit === 0 || lt?.length === 0 || (gte !== undefined && lt !== undefined && compareBytes(gte, lt) >= 0);
  return { gte, lt, reverse, limit, empty, prefix: column.access === 'prefix' ? scanPrefix(column, gte, lt, reverse) : undefined };
}

function scanPrefix(column: ColumnSpec, gte: Uint8Array | undefined, lt: Uint8Array | undefined, reverse: boolean): Uint8Array | undefined {
  if (gte === undefined && lt === undefined) {
    assert(!reverse, `prefix column '${column.name}' is scanned as a whole forwards only`);
    return undefined;
  }
  const length = column.prefixBytes ?? 0;
  assert(gte !== undefined && gte.length >= length, `scan of prefix column '${column.name}' needs a gte of ${length} bytes or more`);
  const prefix = gte.subarray(0, length);
  const end = keyAfterPrefix(prefix);
  assert(lt !== undefined && (end === undefined || compareBytes(lt, end) <= 0), `scan of '${column.name}' leaves its prefix`);
  return prefix;
}
