/**
 * Columns that a selection fills in and has no use for afterwards. A wallet of
 * 100,000 coins needs 10 MB of them for each payment: made anew, they were most
 * of what the garbage collector had to do, every third payment in the middle of
 * one. So their memory is used again, as a stack: what was taken inside of
 * `reusingColumns` may be given to others when that returns.
 *
 * A column holds whatever was in it before. Whoever takes one fills it.
 */
import { SELECTION_COLUMN_KEPT_MAX } from '../../util/limits.ts';

type Column = Float64Array | Uint32Array | Uint8Array;

/** Columns of one type, by how many are in use. */
class ColumnStack<C extends Column> {
  readonly #make: (length: number) => C;
  readonly #columns: C[] = [];
  inUse = 0;

  constructor(make: (length: number) => C) {
    this.#make = make;
  }

  take(length: number): C {
    if (scopes === 0 || length > SELECTION_COLUMN_KEPT_MAX) return this.#make(length);
    const at = this.inUse++;
    if (at === this.#columns.length || this.#columns[at].length < length) this.#columns[at] = this.#make(roomFor(length));
    return this.#columns[at].subarray(0, length) as C;
  }
}

/** A power of two: a wallet with a few coins more needs no other memory. */
function roomFor(length: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(length, 1024)));
}

const numbers = new ColumnStack((length) => new Float64Array(length));
const indexes = new ColumnStack((length) => new Uint32Array(length));
const flags = new ColumnStack((length) => new Uint8Array(length));
/** How many calls of `reusingColumns` have not returned yet; without one columns are new. */
let scopes = 0;

/** `work` returns no column that it took, nor anything that has one. It does not wait for anything. */
export function reusingColumns<T>(work: () => T): T {
  const before = [numbers.inUse, indexes.inUse, flags.inUse];
  scopes++;
  try {
    return work();
  } finally {
    scopes--;
    [numbers.inUse, indexes.inUse, flags.inUse] = before;
  }
}

export function takeNumbers(length: number): Float64Array {
  return numbers.take(length);
}

export function takeIndexes(length: number): Uint32Array {
  return indexes.take(length);
}

/** All of them 0. */
export function takeFlags(length: number): Uint8Array {
  return flags.take(length).fill(0);
}
