/**
 * Records that were read or written last, as bytes in one ring: the newest takes
 * the place of the oldest. That a record is not there can be in it, too. It
 * costs the collector nothing, however many records it has.
 *
 * An entry is the id, the length of the record u32 (0: there is no such record)
 * and the record; entries begin at multiples of four.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, readU32, writeU32 } from '../../util/bytes.ts';
import { idHash, isSameId } from '../../util/id-map.ts';

/** Of an entry, in front of the record. */
export const ENTRY_HEAD_BYTES = TXID_BYTES + 4;
/** Bytes of the ring for each place in the table: most entries are larger. */
const BYTES_PER_PLACE = 64;
const TABLE_MIN = 64;

export class RowCache {
  /** The ring: `find` gives places in it, which are good until the next `put`. */
  readonly bytes: Uint8Array;
  /** Where entries begin, divided by four and plus one; 0: free. */
  readonly #table: Int32Array;
  /** Where the next entry is written, and the oldest one begins. */
  #head = 0;
  #tail = 0;
  /** Where the entries behind `tail` end, if the newest begin at the beginning again. */
  #lapEnd: number | null = null;
  #count = 0;

  constructor(capacity: number) {
    this.bytes = new Uint8Array(capacity);
    this.#table = new Int32Array(Math.max(TABLE_MIN, 2 ** Math.ceil(Math.log2(capacity / BYTES_PER_PLACE))));
  }

  /** Where the record begins in the ring; null: nothing is known of it. */
  find(id: Uint8Array): number | null {
    const place = this.#table[this.#placeOf(id)];
    return place === 0 ? null : 4 * (place - 1) + ENTRY_HEAD_BYTES;
  }

  /**
   * As `find` for each, -1 where nothing is known. One loop for each step: what it reads is far apart in memory, and
   * within a loop the processor waits for many ids at once.
   */
  findAll(ids: readonly Uint8Array[]): Int32Array {
    const mask = this.#table.length - 1;
    const found = new Int32Array(ids.length);
    const isLike = new Uint8Array(ids.length);
    for (let n = 0; n < ids.length; n++) found[n] = idHash(ids[n]) & mask;
    for (let n = 0; n < ids.length; n++) found[n] = this.#table[found[n]];
    for (let n = 0; n < ids.length; n++) isLike[n] = found[n] !== 0 && this.bytes[4 * (found[n] - 1)] === ids[n][0] ? 1 : 0;
    for (let n = 0; n < ids.length; n++) {
      const at = 4 * (found[n] - 1);
      const isFound = isLike[n] === 1 && isSameId(this.bytes, at, ids[n], 0);
      found[n] = isFound ? at + ENTRY_HEAD_BYTES : (this.find(ids[n]) ?? -1);
    }
    return found;
  }

  /** As `findAll` for ids that stand in one run of bytes. */
  findAllAt(ids: Uint8Array, places: readonly number[]): Int32Array {
    const mask = this.#table.length - 1;
    const found = new Int32Array(places.length);
    for (let n = 0; n < places.length; n++) found[n] = idHash(ids, places[n]) & mask;
    for (let n = 0; n < places.length; n++) found[n] = this.#table[found[n]];
    for (let n = 0; n < places.length; n++) {
      const place = found[n] === 0 ? 0 : this.#table[this.#placeOf(ids, places[n])];
      found[n] = place === 0 ? -1 : 4 * (place - 1) + ENTRY_HEAD_BYTES;
    }
    return found;
  }

  /** Of the record that begins there; 0: there is no such record. */
  lengthAt(at: number): number {
    return readU32(this.bytes, at - 4);
  }

  /** An empty row: there is no such record. A record that is too large for the ring is not kept. */
  put(id: Uint8Array, row: Uint8Array): void {
    const { length } = row;
    const place = this.#placeOf(id);
    const known = 4 * (this.#table[place] - 1) + ENTRY_HEAD_BYTES;
    if (this.#table[place] !== 0 && this.lengthAt(known) === length) {
      this.bytes.set(row, known);
      return;
    }
    if (this.#table[place] !== 0) this.#remove(place);
    if (this.#append(id, length)) this.bytes.set(row, this.#head - entryBytes(length) + ENTRY_HEAD_BYTES);
  }

  /** A new record. False: one of this id is here, or it is too large for the ring. */
  add(id: Uint8Array, row: Uint8Array): boolean {
    const place = this.#placeOf(id);
    if (this.#table[place] !== 0) {
      if (this.lengthAt(4 * (this.#table[place] - 1) + ENTRY_HEAD_BYTES) > 0) return false;
      this.#remove(place);
    }
    if (!this.#append(id, row.length)) return false;
    this.bytes.set(row, this.#head - entryBytes(row.length) + ENTRY_HEAD_BYTES);
    return true;
  }

  /** Nothing is known of it any more. */
  forget(id: Uint8Array): void {
    const place = this.#placeOf(id);
    if (this.#table[place] !== 0) this.#remove(place);
  }

  /** As `forget` for ids that stand in one run of bytes. What a first loop has read is near when the second one needs it. */
  forgetAllAt(ids: Uint8Array, places: readonly number[]): void {
    const mask = this.#table.length - 1;
    let near = 0;
    for (const at of places) near |= this.#table[idHash(ids, at) & mask];
    if (near === 0) return;
    for (const at of places) {
      const place = this.#placeOf(ids, at);
      if (this.#table[place] !== 0) this.#remove(place);
    }
  }

  /** The last entry, whose row is still to be written. False: it is too large for the ring. */
  #append(id: Uint8Array, length: number): boolean {
    const size = entryBytes(length);
    if (size > this.bytes.length / 8) return false;
    this.#makeRoom(size);
    copyBytes(id, 0, this.bytes, this.#head, TXID_BYTES);
    writeU32(this.bytes, this.#head + TXID_BYTES, length);
    this.#table[this.#placeOf(id)] = this.#head / 4 + 1;
    this.#count++;
    this.#head += size;
    return true;
  }

  clear(): void {
    if (this.#head === 0 && this.#lapEnd === null) return;
    this.#table.fill(0);
    this.#head = this.#tail = this.#count = 0;
    this.#lapEnd = null;
  }

  #makeRoom(size: number): void {
    while (2 * this.#count >= this.#table.length) this.#removeOldest();
    for (;;) {
      if (this.#lapEnd === null) {
        if (this.#head + size <= this.bytes.length) return;
        this.#lapEnd = this.#head;
        this.#head = 0;
      } else if (this.#head + size <= this.#tail) return;
      this.#removeOldest();
    }
  }

  #removeOldest(): void {
    const place = this.#placeOf(this.bytes, this.#tail);
    // An entry that was replaced by one of another length is in no place any more.
    if (this.#table[place] === this.#tail / 4 + 1) this.#remove(place);
    this.#tail += entryBytes(readU32(this.bytes, this.#tail + TXID_BYTES));
    if (this.#tail === this.#lapEnd) {
      this.#tail = 0;
      this.#lapEnd = null;
    }
  }

  /** Where the id is in the table, or would be. */
  #placeOf(id: Uint8Array, idAt = 0): number {
    const mask = this.#table.length - 1;
    for (let at = idHash(id, idAt) & mask; ; at = (at + 1) & mask) {
      const place = this.#table[at];
      if (place === 0 || isSameId(this.bytes, 4 * (place - 1), id, idAt)) return at;
    }
  }

  /** Entries behind it that could stand there move up, so that no search ends too early. */
  #remove(place: number): void {
    const mask = this.#table.length - 1;
    let free = place;
    for (let at = (place + 1) & mask; this.#table[at] !== 0; at = (at + 1) & mask) {
      const wanted = idHash(this.bytes, 4 * (this.#table[at] - 1)) & mask;
      if (((at - wanted) & mask) < ((at - free) & mask)) continue;
      this.#table[free] = this.#table[at];
      free = at;
    }
    this.#table[free] = 0;
    this.#count--;
  }
}

function entryBytes(length: number): number {
  return 4 * Math.ceil((ENTRY_HEAD_BYTES + length) / 4);
}
