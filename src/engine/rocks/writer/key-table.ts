/**
 * What a batch on its way does to the keys of one column: open addressing over
 * the keys where they lie. Made when the column is first read.
 */
import { readU32 } from '../../../util/bytes.ts';
import { OperationPlace, type Operations, readOperation, SLAB_BITS } from './operations.ts';

const IN_SLAB = (1 << SLAB_BITS) - 1;

const [SPREAD_A, SPREAD_B, SPREAD_C] = [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35];

export class KeyTable {
  readonly #operations: Operations;
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #place = new OperationPlace();

  constructor(operations: Operations, column: number) {
    this.#operations = operations;
    let capacity = 16;
    while (capacity < 2 * operations.counts[column]) capacity *= 2;
    this.#slots = new Int32Array(capacity);
    this.#mask = capacity - 1;
    this.#enter(column);
  }

  /** The value that it puts; null: it deletes the key; undefined: it leaves it as it was. */
  find(key: Uint8Array): Uint8Array | null | undefined {
    const found = this.#slots[this.#slotOf(key, 0, key.length)];
    if (found === 0) return undefined;
    const { bytes, words } = this.#operations.slabs[(found - 1) >>> SLAB_BITS];
    const place = this.#place;
    readOperation(words, (found - 1) & IN_SLAB, place);
    return place.isDeletion ? null : bytes.slice(place.valueAt, place.valueEnd);
  }

  #enter(column: number): void {
    const { slabs } = this.#operations;
    const place = new OperationPlace();
    for (let i = 0; i < slabs.length; i++) {
      const { bytes, words, used } = slabs[i];
      for (let at = 0; at < used; at = place.end) {
        readOperation(words, at, place);
        // A later operation on the same key takes its place.
        if (place.column === column) this.#slots[this.#slotOf(bytes, place.keyAt, place.keyEnd)] = ((i << SLAB_BITS) | at) + 1;
      }
    }
  }

  /** Where the key is, or would be. */
  #slotOf(bytes: Uint8Array, from: number, to: number): number {
    const slots = this.#slots;
    for (let slot = hashOf(bytes, from, to) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const found = slots[slot];
      if (found === 0 || this.#isKey(found - 1, bytes, from, to)) return slot;
    }
  }

  #isKey(operation: number, bytes: Uint8Array, from: number, to: number): boolean {
    const slab = this.#operations.slabs[operation >>> SLAB_BITS];
    const place = this.#place;
    readOperation(slab.words, operation & IN_SLAB, place);
    const { keyAt, keyEnd } = place;
    if (keyEnd - keyAt !== to - from) return false;
    for (let i = from, j = keyAt; i < to; i++, j++) if (bytes[i] !== slab.bytes[j]) return false;
    return true;
  }
}

/** Ends and middle of a key: most keys begin with a hash, the others end in a number. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  if (length < 4) {
    let hash = length;
    for (let i = from; i < to; i++) hash = Math.imul(hash ^ bytes[i], SPREAD_A);
    return (hash ^ (hash >>> 15)) >>> 0;
  }
  const hash =
    Math.imul(readU32(bytes, from), SPREAD_A) ^
    Math.imul(readU32(bytes, to - 4), SPREAD_B) ^
    Math.imul(readU32(bytes, from + ((length - 4) >> 1)), SPREAD_C);
  return (hash ^ (hash >>> 15)) >>> 0;
}
