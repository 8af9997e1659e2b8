/**
 * A map whose keys are ids of 32 bytes. It looks at the bytes themselves: to
 * make a text of each id, as a plain Map needs it, takes longer than the lookup.
 */
import { readU32 } from './bytes.ts';

const ID_BYTES = 32;
const TABLE_MIN = 16;
/** So many ids are compared with each other sooner than a table is made for them. */
const FEW_IDS = 8;
/** Nobody outside knows it, so that nobody can choose ids that all fall into one place. */
const SEED = crypto.getRandomValues(new Uint32Array(1))[0];

/** 32 bits of the id at `at`. */
export function idHash(bytes: Uint8Array, at = 0): number {
  let hash = Math.imul(readU32(bytes, at) ^ SEED, 0x9e37_79b1);
  hash = Math.imul(hash ^ (hash >>> 15) ^ readU32(bytes, at + 4), 0x85eb_ca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Whether the ids at these places are the same. */
export function isSameId(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}

export class IdMap<V> {
  readonly ids: Uint8Array[] = [];
  readonly #values: V[] = [];
  /** Places of entries by hash, plus one; 0: free. */
  #table: Int32Array;

  /** `expected`: how many ids will come, roughly. */
  constructor(expected = 0) {
    this.#table = new Int32Array(Math.max(TABLE_MIN, 2 ** Math.ceil(Math.log2(2 * expected + 1))));
  }

  get size(): number {
    return this.ids.length;
  }

  has(id: Uint8Array): boolean {
    return this.#table[this.#find(id)] !== 0;
  }

  get(id: Uint8Array): V | undefined {
    const place = this.#table[this.#find(id)];
    return place === 0 ? undefined : this.#values[place - 1];
  }

  /** The bytes of a new id must not change any more. */
  set(id: Uint8Array, value: V): void {
    this.#values[this.place(id, value)] = value;
  }

  /** The place of the id among all; one that is new gets the next one, and that value. */
  place(id: Uint8Array, value: V): number {
    const at = this.#find(id);
    const place = this.#table[at];
    if (place !== 0) return place - 1;
    this.ids.push(id);
    this.#values.push(value);
    this.#table[at] = this.ids.length;
    if (2 * this.ids.length > this.#table.length) this.#grow();
    return this.ids.length - 1;
  }

  setAt(place: number, value: V): void {
    this.#values[place] = value;
  }

  /** In the order in which their ids came. */
  values(): readonly V[] {
    return this.#values;
  }

  #find(id: Uint8Array): number {
    const mask = this.#table.length - 1;
    for (let at = idHash(id) & mask; ; at = (at + 1) & mask) {
      const place = this.#table[at];
      if (place === 0 || isSameId(this.ids[place - 1], 0, id, 0)) return at;
    }
  }

  #grow(): void {
    this.#table = new Int32Array(4 * this.#table.length);
    for (const [place, id] of this.ids.entries()) this.#table[this.#find(id)] = place + 1;
  }
}

/** Each id once, in the order of their first appearance. */
export function distinctIds(ids: readonly Uint8Array[]): Uint8Array[] {
  if (ids.length <= FEW_IDS) return ids.filter((id, n) => isFirst(ids, id, n));
  const found = new IdMap<true>(ids.length);
  for (const id of ids) found.set(id, true);
  return found.ids;
}

function isFirst(ids: readonly Uint8Array[], id: Uint8Array, n: number): boolean {
  for (let before = 0; before < n; before++) if (isSameId(ids[before], 0, id, 0)) return false;
  return true;
}
