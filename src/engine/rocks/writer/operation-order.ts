/**
 * Operations of a batch in the order in which they are best written: column by
 * column, in each by the first four bytes of the key (`util/key-order.ts`).
 * Operations on the same key stay in the order in which they were added.
 */
import { readU32 } from '../../../util/bytes.ts';
import { OperationPlace, readOperation, SLAB_BITS } from './operations.ts';

/** 32 bits of a key and so many of a number fit a double exactly. */
const NUMBER_RANGE = 2 ** 21;
const IN_SLAB = (1 << SLAB_BITS) - 1;

/** Bytes with operations in them, one after the other, up to `used`. */
export interface FilledSlab {
  readonly bytes: Uint8Array;
  /** The same bytes, four at a time. */
  readonly words: Int32Array;
  readonly used: number;
}

export class OperationOrder {
  /** In the order they were added: where each is, and its column. */
  #added = new Int32Array(1024);
  #columns = new Uint8Array(1024);
  /** By column: where each is, and what it is sorted by. */
  #places = new Int32Array(1024);
  #packed = new Float64Array(1024);
  #sorted = new Int32Array(1024);
  readonly #place = new OperationPlace();

  /** Where they begin: the number of the slab above `SLAB_BITS` bits of the place in it. Valid until the next call. */
  arrange(slabs: readonly FilledSlab[], columns: number): Int32Array {
    const counts = new Int32Array(columns);
    const count = this.#list(slabs, counts);
    if (this.#places.length < count) {
      this.#places = new Int32Array(this.#added.length);
      this.#packed = new Float64Array(this.#added.length);
      this.#sorted = new Int32Array(this.#added.length);
    }
    const starts = startsOf(counts);
    this.#group(slabs, count, starts.slice());
    for (let column = 0; column < columns; column++) this.#sort(starts[column], starts[column] + counts[column]);
    return this.#sorted.subarray(0, count);
  }

  /** All of them as they come. */
  #list(slabs: readonly FilledSlab[], counts: Int32Array): number {
    const place = this.#place;
    let count = 0;
    for (let i = 0; i < slabs.length; i++) {
      const { words, used } = slabs[i];
      for (let at = 0; at < used; at = place.end) {
        readOperation(words, at, place);
        if (count === this.#added.length) this.#grow();
        this.#added[count] = (i << SLAB_BITS) | at;
        this.#columns[count++] = place.column;
        counts[place.column]++;
      }
    }
    return count;
  }

  #grow(): void {
    const [added, columns] = [this.#added, this.#columns];
    this.#added = new Int32Array(2 * added.length);
    this.#columns = new Uint8Array(2 * added.length);
    this.#added.set(added);
    this.#columns.set(columns);
  }

  #group(slabs: readonly FilledSlab[], count: number, next: Int32Array): void {
    const place = this.#place;
    const first = next.slice();
    for (let i = 0; i < count; i++) {
      const added = this.#added[i];
      const { bytes, words } = slabs[added >>> SLAB_BITS];
      readOperation(words, added & IN_SLAB, place);
      const column = this.#columns[i];
      const to = next[column]++;
      this.#places[to] = added;
      this.#packed[to] = prefixOf(bytes, place.keyAt, place.keyEnd) * NUMBER_RANGE + (to - first[column]);
    }
  }

  /** Those of one column. More than can be numbered are left as they came: they are right in any order. */
  #sort(from: number, to: number): void {
    if (to - from > NUMBER_RANGE) {
      this.#sorted.set(this.#places.subarray(from, to), from);
      return;
    }
    const packed = this.#packed.subarray(from, to).sort();
    for (let i = 0; i < packed.length; i++) this.#sorted[from + i] = this.#places[from + (packed[i] % NUMBER_RANGE)];
  }
}

function startsOf(counts: Int32Array): Int32Array {
  const starts = new Int32Array(counts.length);
  for (let i = 1; i < counts.length; i++) starts[i] = starts[i - 1] + counts[i - 1];
  return starts;
}

/** A shorter key is as if zeros followed, which come first as well. */
function prefixOf(bytes: Uint8Array, from: number, to: number): number {
  if (to - from >= 4) return readU32(bytes, from);
  let prefix = 0;
  for (let i = 0; i < 4; i++) prefix = prefix * 256 + (from + i < to ? bytes[from + i] : 0);
  return prefix;
}
