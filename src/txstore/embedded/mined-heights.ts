/**
 * What a prune pass asks of children, for as many records as are in a whole
 * retention: since which height the best chain has them, or that they are gone.
 * The oldest entry makes room for a new one. A record of which something is to
 * be relied on is here with its height; of one that is unmined or conflicting
 * nothing is known.
 *
 * An entry is an id and a number in plain arrays: it costs the collector nothing.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes } from '../../util/bytes.ts';
import { idHash, isSameId } from '../../util/id-map.ts';

export const UNKNOWN = 0;
/** A record of this height would never be stable: no height is higher. */
export const GONE = 0xffff_ffff;

/** Entries at first; there are four times as many each time that they are full. */
const ENTRIES_FIRST = 1024;

export class MinedHeights {
  readonly #entriesMax: number;
  #ids = new Uint8Array(0);
  #heights = new Uint32Array(0);
  /** Numbers of entries plus one; 0: free. */
  #table = new Int32Array(1);
  /** The entry that is written next, and how many there are. */
  #next = 0;
  #count = 0;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  /** Of the id at `at`. */
  get(id: Uint8Array, at = 0): number {
    const entry = this.#table[this.#placeOf(id, at)];
    return entry === 0 ? UNKNOWN : this.#heights[entry - 1];
  }

  /** As `get` for each; in one loop for each step, as `RowCache.findAll`. */
  getAll(ids: readonly Uint8Array[]): Uint32Array {
    const mask = this.#table.length - 1;
    const entries = new Int32Array(ids.length);
    const heights = new Uint32Array(ids.length);
    for (let n = 0; n < ids.length; n++) entries[n] = idHash(ids[n]) & mask;
    for (let n = 0; n < ids.length; n++) entries[n] = this.#table[entries[n]];
    for (let n = 0; n < ids.length; n++) heights[n] = entries[n] === 0 ? UNKNOWN : this.#heights[entries[n] - 1];
    for (let n = 0; n < ids.length; n++) {
      const isFound = entries[n] !== 0 && isSameId(this.#ids, TXID_BYTES * (entries[n] - 1), ids[n], 0);
      if (!isFound) heights[n] = this.get(ids[n]);
    }
    return heights;
  }

  /** As `getAll` for ids that stand in one run of bytes. */
  getAllAt(ids: Uint8Array, places: readonly number[]): Uint32Array {
    const mask = this.#table.length - 1;
    const entries = new Int32Array(places.length);
    const heights = new Uint32Array(places.length);
    for (let n = 0; n < places.length; n++) entries[n] = idHash(ids, places[n]) & mask;
    for (let n = 0; n < places.length; n++) entries[n] = this.#table[entries[n]];
    for (let n = 0; n < places.length; n++) heights[n] = entries[n] === 0 ? UNKNOWN : this.#heights[entries[n] - 1];
    for (let n = 0; n < places.length; n++) {
      const isFound = entries[n] !== 0 && isSameId(this.#ids, TXID_BYTES * (entries[n] - 1), ids, places[n]);
      if (!isFound) heights[n] = this.get(ids, places[n]);
    }
    return heights;
  }

  /** The record is there; height 0: it is not to be relied on. */
  setMined(id: Uint8Array, height: number): void {
    this.#set(id, 0, height === GONE ? UNKNOWN : height);
  }

  /** As `setMined` for each. What a first loop has read is near when the second one needs it, as in `getAll`. */
  setAllMined(ids: readonly Uint8Array[], heights: readonly number[]): void {
    const mask = this.#table.length - 1;
    let near = 0;
    for (let n = 0; n < ids.length; n++) near |= this.#table[idHash(ids[n]) & mask];
    for (let n = 0; n < ids.length; n++) this.setMined(ids[n], near < 0 ? UNKNOWN : heights[n]);
  }

  setGone(id: Uint8Array): void {
    this.#set(id, 0, GONE);
  }

  /** As `setGone` for ids that stand in one run of bytes. */
  setAllGone(ids: Uint8Array, places: readonly number[]): void {
    for (const at of places) this.#set(ids, at, GONE);
  }

  #set(id: Uint8Array, at: number, height: number): void {
    const place = this.#placeOf(id, at);
    const entry = this.#table[place];
    if (entry !== 0) this.#heights[entry - 1] = height;
    else if (height !== UNKNOWN) this.#add(id, at, height);
  }

  clear(): void {
    if (this.#count === 0) return;
    this.#table.fill(0);
    this.#next = this.#count = 0;
  }

  #add(id: Uint8Array, at: number, height: number): void {
    if (this.#count === this.#heights.length && this.#count < this.#entriesMax) this.#grow();
    const entry = this.#next;
    if (this.#count === this.#heights.length) this.#remove(this.#placeOf(this.#ids, TXID_BYTES * entry));
    else this.#count++;
    copyBytes(id, at, this.#ids, TXID_BYTES * entry, TXID_BYTES);
    this.#heights[entry] = height;
    this.#table[this.#placeOf(id, at)] = entry + 1;
    this.#next = entry + 1 < this.#entriesMax ? entry + 1 : 0;
  }

  #grow(): void {
    const entries = Math.min(this.#entriesMax, Math.max(ENTRIES_FIRST, 4 * this.#count));
    const [ids, heights] = [this.#ids, this.#heights];
    this.#ids = new Uint8Array(TXID_BYTES * entries);
    this.#ids.set(ids);
    this.#heights = new Uint32Array(entries);
    this.#heights.set(heights);
    this.#table = new Int32Array(2 ** Math.ceil(Math.log2(1.3 * entries + 1)));
    for (let entry = 0; entry < this.#count; entry++) this.#table[this.#placeOf(this.#ids, TXID_BYTES * entry)] = entry + 1;
  }

  /** Where the id is in the table, or would be. */
  #placeOf(id: Uint8Array, idAt: number): number {
    const mask = this.#table.length - 1;
    for (let at = idHash(id, idAt) & mask; ; at = (at + 1) & mask) {
      const entry = this.#table[at];
      if (entry === 0 || isSameId(this.#ids, TXID_BYTES * (entry - 1), id, idAt)) return at;
    }
  }

  /** Entries behind it that could stand there move up, so that no search ends too early. */
  #remove(place: number): void {
    const mask = this.#table.length - 1;
    let free = place;
    for (let at = (place + 1) & mask; this.#table[at] !== 0; at = (at + 1) & mask) {
      const wanted = idHash(this.#ids, TXID_BYTES * (this.#table[at] - 1)) & mask;
      if (((at - wanted) & mask) < ((at - free) & mask)) continue;
      this.#table[free] = this.#table[at];
      free = at;
    }
    this.#table[free] = 0;
  }
}
