/**
 * Operations of a batch in the order in which they are best written: column by
 * column, in each by the first four bytes of the key (`util/key-order.ts`).
 * Operations on the same key stay in the order in which they were added.
 */
import { readU32 } from '../../../util/bytes.ts';
import { OperationPlace, readOperation, SLAB_BITS } from './operations.ts';

/** What operations are sorted by is looked at eight bits at a time, from the last to the first. */
const DIGIT_BITS = 8;
const DIGITS = 1 << DIGIT_BITS;
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
  /** By column: where each is, and what it is sorted by; and the same again, to move them to. */
  #places = new Int32Array(1024);
  #prefixes = new Uint32Array(1024);
  #otherPlaces = new Int32Array(1024);
  #otherPrefixes = new Uint32Array(1024);
  readonly #starts = new Uint32Array(DIGITS);
  readonly #place = new OperationPlace();

  /** Where they begin: the number of the slab above `SLAB_BITS` bits of the place in it. Valid until the next call. */
  arrange(slabs: readonly FilledSlab[], columns: number): Int32Array {
    const counts = new Int32Array(columns);
    const count = this.#list(slabs, counts);
    if (this.#places.length < count) {
      const { length } = this.#added;
      [this.#places, this.#otherPlaces] = [new Int32Array(length), new Int32Array(length)];
      [this.#prefixes, this.#otherPrefixes] = [new Uint32Array(length), new Uint32Array(length)];
    }
    const starts = startsOf(counts);
    this.#group(slabs, count, starts.slice());
    for (let column = 0; column < columns; column++) this.#sort(starts[column], starts[column] + counts[column]);
    return this.#places.subarray(0, count);
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
    for (let i = 0; i < count; i++) {
      const added = this.#added[i];
      const { bytes, words } = slabs[added >>> SLAB_BITS];
      readOperation(words, added & IN_SLAB, place);
      const column = this.#columns[i];
      const to = next[column]++;
      this.#places[to] = added;
      this.#prefixes[to] = prefixOf(bytes, place.keyAt, place.keyEnd);
    }
  }

  /** Those of one column. Each pass keeps the order of the one before it among equals. */
  #sort(from: number, to: number): void {
    if (to - from < 2) return;
    let [places, prefixes, otherPlaces, otherPrefixes] = [this.#places, this.#prefixes, this.#otherPlaces, this.#otherPrefixes];
    for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
      if (!this.#countDigits(prefixes, from, to, shift)) continue;
      const starts = this.#starts;
      for (let i = from; i < to; i++) {
        const at = starts[(prefixes[i] >>> shift) & (DIGITS - 1)]++;
        otherPlaces[at] = places[i];
        otherPrefixes[at] = prefixes[i];
      }
      [places, otherPlaces, prefixes, otherPrefixes] = [otherPlaces, places, otherPrefixes, prefixes];
    }
    if (places !== this.#places) this.#places.set(places.subarray(from, to), from);
  }

  /** Where those with each digit begin; false: all have the same. */
  #countDigits(prefixes: Uint32Array, from: number, to: number, shift: number): boolean {
    const starts = this.#starts.fill(0);
    for (let i = from; i < to; i++) starts[(prefixes[i] >>> shift) & (DIGITS - 1)]++;
    if (starts[(prefixes[from] >>> shift) & (DIGITS - 1)] === to - from) return false;
    for (let digit = 0, at = from; digit < DIGITS; digit++) {
      const count = starts[digit];
      starts[digit] = at;
      at += count;
    }
    return true;
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
