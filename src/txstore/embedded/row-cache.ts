/**
 * Records that were read or written last, as bytes in one ring: the newest takes
 * the place of the oldest. That a record is not there can be in it, too. It
 * costs the collector nothing, however many records it has.
 *
 * An entry is the id, the length of the record u32 (0: there is no such record)
 * and the record. Entries are numbered by where they begin, counted from the
 * first of all laps of the ring, so that the number alone says which are
 * overwritten: nothing has to be taken out when the ring comes round. A group of
 * eight entries is one line of memory; a ninth takes the place of its oldest.
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, readU32, writeU32 } from '../../util/bytes.ts';
import { idHash, isSameId } from '../../util/id-map.ts';

/** Of an entry, in front of the record. */
export const ENTRY_HEAD_BYTES = TXID_BYTES + 4;
/** Bytes of the ring for each entry that a group has room for: most are three times as large. */
const BYTES_PER_ENTRY = 128;
const GROUPS_MIN = 8;
const GROUP_ENTRIES = 8;
/** Eight numbers of entries (0: none), then the hash of the id of each. */
const GROUP_WORDS = 2 * GROUP_ENTRIES;
/** Numbers of entries are of 32 bits: before they end, all is forgotten. */
const NUMBER_MAX = 2 ** 32 - 1;
const NOT_HERE = -1;

export class RowCache {
  /** The ring: `find` gives places in it, which are good until the next `put`. */
  readonly bytes: Uint8Array;
  readonly #groups: Uint32Array;
  readonly #numberMax: number;
  /** Words of four bytes in the ring. */
  readonly #lap: number;
  /** Where the next entry begins, and the lap that it is of: in words, over all laps. */
  #next: number;
  #lapBegin: number;
  /** Entries from here on are held: `add` ends none of them. */
  #heldFrom = NUMBER_MAX;

  /** `numberMax`: of entries; another one is for tests. */
  constructor(capacity: number, numberMax: number = NUMBER_MAX) {
    this.#numberMax = numberMax;
    this.#lap = Math.floor(capacity / 4);
    this.bytes = new Uint8Array(4 * this.#lap);
    const groups = Math.max(GROUPS_MIN, 2 ** Math.ceil(Math.log2(capacity / BYTES_PER_ENTRY / GROUP_ENTRIES)));
    this.#groups = new Uint32Array(GROUP_WORDS * groups);
    this.#next = this.#lapBegin = this.#lap;
  }

  /** Where the record begins in the ring; null: nothing is known of it. */
  find(id: Uint8Array): number | null {
    const slot = this.#slotOf(id, 0, idHash(id));
    return slot === NOT_HERE ? null : this.#placeOf(this.#groups[slot]) + ENTRY_HEAD_BYTES;
  }

  /**
   * As `find` for each, -1 where nothing is known. One loop for each step: what it reads is far apart in memory, and
   * within a loop the processor waits for many ids at once.
   */
  findAll(ids: readonly Uint8Array[]): Int32Array {
    const hashes = new Uint32Array(ids.length);
    const found = new Int32Array(ids.length);
    for (let n = 0; n < ids.length; n++) hashes[n] = idHash(ids[n]);
    for (let n = 0; n < ids.length; n++) found[n] = this.#alike(hashes[n]);
    for (let n = 0; n < ids.length; n++) if (found[n] >= 0 && this.bytes[found[n]] !== ids[n][0]) found[n] = NOT_HERE - 1;
    for (let n = 0; n < ids.length; n++) {
      if (found[n] === NOT_HERE) continue;
      if (found[n] >= 0 && isSameId(this.bytes, found[n], ids[n], 0)) found[n] += ENTRY_HEAD_BYTES;
      else found[n] = this.find(ids[n]) ?? NOT_HERE;
    }
    return found;
  }

  /** As `findAll` for ids that stand in one run of bytes. */
  findAllAt(ids: Uint8Array, places: readonly number[]): Int32Array {
    const hashes = new Uint32Array(places.length);
    const found = new Int32Array(places.length);
    for (let n = 0; n < places.length; n++) hashes[n] = idHash(ids, places[n]);
    for (let n = 0; n < places.length; n++) found[n] = this.#alike(hashes[n]);
    for (let n = 0; n < places.length; n++) {
      if (found[n] === NOT_HERE) continue;
      const slot = this.#slotOf(ids, places[n], hashes[n]);
      found[n] = slot === NOT_HERE ? NOT_HERE : this.#placeOf(this.#groups[slot]) + ENTRY_HEAD_BYTES;
    }
    return found;
  }

  /** Of the record that begins there; 0: there is no such record. */
  lengthAt(at: number): number {
    return readU32(this.bytes, at - 4);
  }

  /** An empty row: there is no such record. A record that is too large for the ring is not kept. */
  put(id: Uint8Array, row: Uint8Array): void {
    const hash = idHash(id);
    const slot = this.#slotOf(id, 0, hash);
    const known = slot === NOT_HERE ? NOT_HERE : this.#placeOf(this.#groups[slot]) + ENTRY_HEAD_BYTES;
    if (slot !== NOT_HERE && this.lengthAt(known) === row.length) this.bytes.set(row, known);
    else this.#append(id, hash, row, slot === NOT_HERE ? this.#oldest(hash) : slot);
  }

  /** What is added from here on is not ended by what is added later, until `release`. */
  hold(): void {
    // Less than a lap is held: the numbers last for it.
    if (this.#lapBegin + 3 * this.#lap > this.#numberMax) this.clear();
    this.#heldFrom = this.#next;
  }

  release(): void {
    this.#heldFrom = NUMBER_MAX;
  }

  /** A new record. False: one of this id is here, or there is no room for it beside what is held. */
  add(id: Uint8Array, row: Uint8Array): boolean {
    const hash = idHash(id);
    let slot = this.#slotOf(id, 0, hash);
    if (slot === NOT_HERE) slot = this.#oldest(hash);
    else if (this.lengthAt(this.#placeOf(this.#groups[slot]) + ENTRY_HEAD_BYTES) > 0) return false;
    return this.#groups[slot] < this.#heldFrom && this.#append(id, hash, row, slot);
  }

  /** Nothing is known of it any more. */
  forget(id: Uint8Array): void {
    this.#forget(id, 0, idHash(id));
  }

  /** As `forget` for ids that stand in one run of bytes. What a first loop has read is near when the second one needs it. */
  forgetAllAt(ids: Uint8Array, places: readonly number[]): void {
    const isHere = new Uint8Array(places.length);
    for (let n = 0; n < places.length; n++) isHere[n] = this.#alike(idHash(ids, places[n])) === NOT_HERE ? 0 : 1;
    for (let n = 0; n < places.length; n++) if (isHere[n] === 1) this.#forget(ids, places[n], idHash(ids, places[n]));
  }

  #forget(ids: Uint8Array, at: number, hash: number): void {
    const slot = this.#slotOf(ids, at, hash);
    if (slot !== NOT_HERE) this.#groups[slot] = 0;
  }

  clear(): void {
    if (this.#next === this.#lap) return;
    this.#groups.fill(0);
    this.#next = this.#lapBegin = this.#lap;
  }

  /** Of an entry, in the ring. */
  #placeOf(entry: number): number {
    return 4 * (entry >= this.#lapBegin ? entry - this.#lapBegin : entry - this.#lapBegin + this.#lap);
  }

  /** Where the first entry begins whose id may be one with this hash. */
  #alike(hash: number): number {
    const groups = this.#groups;
    const oldest = this.#next - this.#lap;
    const first = GROUP_WORDS * (hash & (groups.length / GROUP_WORDS - 1));
    for (let slot = first; slot < first + GROUP_ENTRIES; slot++)
      if (groups[slot + GROUP_ENTRIES] === hash && groups[slot] >= oldest && groups[slot] !== 0) return this.#placeOf(groups[slot]);
    return NOT_HERE;
  }

  #slotOf(ids: Uint8Array, at: number, hash: number): number {
    const groups = this.#groups;
    const oldest = this.#next - this.#lap;
    const first = GROUP_WORDS * (hash & (groups.length / GROUP_WORDS - 1));
    for (let slot = first; slot < first + GROUP_ENTRIES; slot++) {
      if (groups[slot + GROUP_ENTRIES] !== hash || groups[slot] < oldest || groups[slot] === 0) continue;
      if (isSameId(this.bytes, this.#placeOf(groups[slot]), ids, at)) return slot;
    }
    return NOT_HERE;
  }

  /** Of the group of the hash: one that is free or overwritten, if there is one. */
  #oldest(hash: number): number {
    const groups = this.#groups;
    const first = GROUP_WORDS * (hash & (groups.length / GROUP_WORDS - 1));
    let found = first;
    for (let slot = first + 1; slot < first + GROUP_ENTRIES; slot++) if (groups[slot] < groups[found]) found = slot;
    return found;
  }

  /** As the newest entry, at that slot of its group. False: it is too large for the ring, or for what is not held. */
  #append(id: Uint8Array, hash: number, row: Uint8Array, slot: number): boolean {
    const words = Math.ceil((ENTRY_HEAD_BYTES + row.length) / 4);
    this.#groups[slot] = 0;
    if (words > this.#lap / 8) return false;
    if (this.#next + words > this.#lapBegin + this.#lap) this.#nextLap();
    if (this.#next + words - this.#lap > this.#heldFrom) return false;
    const at = this.#placeOf(this.#next);
    copyBytes(id, 0, this.bytes, at, TXID_BYTES);
    writeU32(this.bytes, at + TXID_BYTES, row.length);
    this.bytes.set(row, at + ENTRY_HEAD_BYTES);
    this.#groups[slot] = this.#next;
    this.#groups[slot + GROUP_ENTRIES] = hash;
    this.#next += words;
    return true;
  }

  #nextLap(): void {
    this.#next = this.#lapBegin += this.#lap;
    if (this.#lapBegin + this.#lap > this.#numberMax) this.clear();
  }
}
