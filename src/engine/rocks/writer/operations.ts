/**
 * Operations of a batch as flat bytes in memory that two threads share: slabs
 * that are filled one after the other, and used again when their batch is written.
 *
 *   32 bits: column (its place in the engine) 7, deletion 1, key length 16 from
 *   the ninth on | value length, 32 bits | key | value
 *
 * in the numbers of this machine. Key and value begin at multiples of four bytes,
 * so that the other thread copies four at a time. An operation lies in one slab;
 * one that is longer has a slab of its own.
 */
import { copyBytes } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import { WRITER_IDLE_BYTES_MAX } from '../../../util/limits.ts';

const HEADER_BYTES = 8;
const DELETION = 0x80;
const COLUMN_MASK = 0x7f;
const KEY_LENGTH_SHIFT = 8;
const KEY_BYTES_MAX = 0xffff;
/** Operations begin within so many bits of their slab; where a batch has more bits, they are the number of the slab. */
export const SLAB_BITS = 20;
const SLAB_BYTES = 1 << SLAB_BITS;
const SLABS_MAX = 2 ** (31 - SLAB_BITS) - 1;

/** Below this a loop is faster than a call of the platform. */
const LOOP_BYTES_MAX = 48;

const NOTHING = new Uint8Array(0);

export class OperationSlab {
  readonly shared: SharedArrayBuffer;
  readonly bytes: Uint8Array;
  /** The same bytes, four at a time. */
  readonly words: Int32Array;
  /** Bytes of it that have operations in them. */
  used = 0;
  /** Under which the other thread knows it; 0: it does not. */
  id = 0;

  constructor(bytes: number) {
    this.shared = new SharedArrayBuffer(wordsEnd(bytes));
    this.bytes = new Uint8Array(this.shared);
    this.words = new Int32Array(this.shared);
  }
}

/** Slabs that nobody uses at the moment. */
export class SlabPool {
  readonly #free: OperationSlab[] = [];

  take(bytes: number): OperationSlab {
    if (bytes > SLAB_BYTES) return new OperationSlab(bytes);
    return this.#free.pop() ?? new OperationSlab(SLAB_BYTES);
  }

  /** All that it has. */
  empty(): readonly OperationSlab[] {
    return this.#free.splice(0);
  }

  /** Those that are not kept are returned. */
  give(slabs: readonly OperationSlab[]): readonly OperationSlab[] {
    const dropped: OperationSlab[] = [];
    for (const slab of slabs) {
      slab.used = 0;
      if (slab.bytes.length === SLAB_BYTES && this.#free.length * SLAB_BYTES < WRITER_IDLE_BYTES_MAX) this.#free.push(slab);
      else dropped.push(slab);
    }
    return dropped;
  }
}

/** Where the parts of an operation are in its slab. */
export class OperationPlace {
  column = 0;
  isDeletion = false;
  keyAt = 0;
  keyEnd = 0;
  valueAt = 0;
  valueEnd = 0;
  /** Where the next one begins. */
  end = 0;
}

/** Reads the operation that begins there. */
export function readOperation(words: Int32Array, at: number, into: OperationPlace): void {
  const first = words[at >> 2];
  into.column = first & COLUMN_MASK;
  into.isDeletion = (first & DELETION) !== 0;
  into.keyAt = at + HEADER_BYTES;
  into.keyEnd = into.keyAt + (first >>> KEY_LENGTH_SHIFT);
  into.valueAt = wordsEnd(into.keyEnd);
  into.valueEnd = into.valueAt + words[(at >> 2) + 1];
  into.end = wordsEnd(into.valueEnd);
}

/** The next multiple of four. */
function wordsEnd(at: number): number {
  return (at + 3) & ~3;
}

/** The operations of one batch, in order. */
export class Operations {
  readonly slabs: OperationSlab[] = [];
  readonly #pool: SlabPool;
  /** By column. */
  readonly counts: number[];
  size = 0;
  bytes = 0;
  #slab: OperationSlab | null = null;

  constructor(columns: number, pool: SlabPool) {
    this.#pool = pool;
    this.counts = new Array(columns).fill(0);
  }

  put(column: number, key: Uint8Array, value: Uint8Array): void {
    this.#add(column, column, key, value);
  }

  del(column: number, key: Uint8Array): void {
    this.#add(column, column | DELETION, key, NOTHING);
  }

  /** Forgets them. Where they were is filled anew. */
  clear(): void {
    this.#pool.give(this.slabs.splice(0));
    this.counts.fill(0);
    this.size = this.bytes = 0;
    this.#slab = null;
  }

  #add(column: number, first: number, key: Uint8Array, value: Uint8Array): void {
    assert(key.length <= KEY_BYTES_MAX, 'the length of a key has 16 bits');
    const valueFrom = wordsEnd(HEADER_BYTES + key.length);
    const length = wordsEnd(valueFrom + value.length);
    const slab = this.#slab !== null && this.#slab.used + length <= this.#slab.bytes.length ? this.#slab : this.#next(length);
    const { bytes, words, used } = slab;
    words[used >> 2] = first | (key.length << KEY_LENGTH_SHIFT);
    words[(used >> 2) + 1] = value.length;
    const keyAt = used + HEADER_BYTES;
    const valueAt = used + valueFrom;
    if (key.length <= LOOP_BYTES_MAX) copyBytes(key, 0, bytes, keyAt, key.length);
    else bytes.set(key, keyAt);
    if (value.length <= LOOP_BYTES_MAX) copyBytes(value, 0, bytes, valueAt, value.length);
    else bytes.set(value, valueAt);
    slab.used = used + length;
    this.bytes += length;
    this.size++;
    this.counts[column]++;
  }

  #next(length: number): OperationSlab {
    const slab = this.#pool.take(length);
    assert(this.slabs.length < SLABS_MAX, 'a batch has its places in 31 bits');
    this.slabs.push(slab);
    this.#slab = slab;
    return slab;
  }
}
