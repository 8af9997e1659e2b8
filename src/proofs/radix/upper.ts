/**
 * The upper levels of a tree in memory, before the store that has all of it:
 * every update passes through them, and reading them again each time costs more
 * than hashing them.
 *
 * What is remembered is trusted only while the record of the top in the store is
 * the one written last: it commits to the whole tree. So a batch that was never
 * written, a store that went back, or another one make it start anew, and nobody
 * has to say so.
 */
import { copyBytes, equalBytes } from '../../util/bytes.ts';
import type { NodeReader, NodeSink } from '../node-store.ts';
import { isTopKey } from './record.ts';

/** Slots of one size, in pages that are made when they are needed. */
interface Region {
  /** Bytes of a record that is remembered in it. */
  readonly slotBytes: number;
  readonly pageSlots: number;
  readonly pages: number;
}

/** The first sixteen levels of bits: keys `00 x` and `01 x y` (`branchKey`), a page for those that begin alike. Two leaves right below the top fit, with room to spare. */
const TOP: Region = { slotBytes: 224, pageSlots: 256, pages: 1 + 256 };

/** The three levels below: keys `02 x y z`, of which seven begin alike. Two branches fit, which is what a large tree has there; leaves do not. */
const NEXT: Region = { slotBytes: 80, pageSlots: 7 * 256, pages: 256 };
const TOP_SLOTS = TOP.pageSlots * TOP.pages;

/** Where such a key is remembered; -1: it is not. */
function slotOf(key: Uint8Array): number {
  if (key.length === 2) return key[1];
  if (key.length === 3) return 256 * (1 + key[1]) + key[2];
  const place = key.length === 4 ? placeBelow(key[3]) : -1;
  return place < 0 ? -1 : TOP_SLOTS + NEXT.pageSlots * key[1] + 7 * key[2] + place;
}

/** Of the last byte of a key: up to two bits and a one behind them, level by level; -1: more bits. */
function placeBelow(last: number): number {
  if (last === 0x80) return 0;
  if ((last & 0x7f) === 0x40) return 1 + (last >> 7);
  return (last & 0x3f) === 0x20 ? 3 + (last >> 6) : -1;
}

/** Records in slots, and writes of the last update that are not taken over yet. */
class Slots {
  private readonly region: Region;
  private readonly pages: (Uint8Array | undefined)[];
  /** So many bytes of each slot are used; 0: nothing is remembered in it. */
  private readonly lengths: Uint8Array;
  /** Slots, and what is written into each: so many bytes of a slot's room in one buffer. */
  private readonly written: number[] = [];
  private readonly writtenLengths: number[] = [];
  private writtenBytes = new Uint8Array(0);

  constructor(region: Region) {
    this.region = region;
    this.pages = new Array(region.pages);
    this.lengths = new Uint8Array(region.pages * region.pageSlots);
  }

  fill(slot: number, from: Uint8Array, at: number, length: number): void {
    const { slotBytes, pageSlots } = this.region;
    const taken = length > slotBytes ? 0 : length;
    this.lengths[slot] = taken;
    if (taken === 0) return;
    const number = Math.floor(slot / pageSlots);
    let page = this.pages[number];
    if (page === undefined) {
      page = new Uint8Array(pageSlots * slotBytes);
      this.pages[number] = page;
    }
    copyBytes(from, at, page, slotBytes * (slot % pageSlots), taken);
  }

  /** The record in a slot; undefined: it has none. */
  record(slot: number): Uint8Array | undefined {
    if (this.lengths[slot] === 0) return undefined;
    const { slotBytes, pageSlots } = this.region;
    const at = slotBytes * (slot % pageSlots);
    return this.pages[Math.floor(slot / pageSlots)]!.subarray(at, at + this.lengths[slot]);
  }

  /** What is written into the slot; undefined: nothing is there any more. */
  note(slot: number, value: Uint8Array | undefined): void {
    const { slotBytes } = this.region;
    const at = slotBytes * (this.written.push(slot) - 1);
    const length = value === undefined || value.length > slotBytes ? 0 : value.length;
    this.writtenLengths.push(length);
    if (length === 0) return;
    if (at + slotBytes > this.writtenBytes.length) {
      const more = new Uint8Array(Math.max(64 * slotBytes, at + slotBytes, 2 * this.writtenBytes.length));
      more.set(this.writtenBytes);
      this.writtenBytes = more;
    }
    copyBytes(value!, 0, this.writtenBytes, at, length);
  }

  /** Takes the writes over, or forgets them and all there is. */
  settle(isKnown: boolean): void {
    if (!isKnown) this.lengths.fill(0);
    else {
      const { slotBytes } = this.region;
      for (let i = 0; i < this.written.length; i++) this.fill(this.written[i], this.writtenBytes, slotBytes * i, this.writtenLengths[i]);
    }
    this.written.length = 0;
    this.writtenLengths.length = 0;
  }
}

export class UpperRecords {
  private readonly upper = new Slots(TOP);
  private readonly next = new Slots(NEXT);
  /** The top of the tree after the last update; null: they are not all there, and of no tree. */
  private top: Uint8Array | undefined | null;

  /** The tree in `nodes`, for one update that is told to `sink`. */
  over(nodes: NodeReader, sink: NodeSink): NodeReader & NodeSink {
    return {
      copies: sink.copies === true,
      get: (key) => {
        const value = nodes.get(key);
        if (isTopKey(key)) this.begin(value);
        return value;
      },
      getMany: (keys) => this.getMany(nodes, keys),
      put: (key, value) => {
        sink.put(key, value);
        this.note(key, value);
      },
      del: (key) => {
        sink.del(key);
        this.note(key, undefined);
      },
    };
  }

  private begin(top: Uint8Array | undefined): void {
    const isKnown = top === undefined || this.top == null ? top === this.top : equalBytes(top, this.top);
    // Only now that they are in the store: until then, nodes point into slots.
    for (const slots of [this.upper, this.next]) slots.settle(isKnown);
    // Copied: what was read may hold on to more than this one row.
    this.top = top === undefined ? undefined : Uint8Array.from(top);
  }

  private note(key: Uint8Array, value: Uint8Array | undefined): void {
    if (isTopKey(key)) {
      this.top = value === undefined ? undefined : Uint8Array.from(value);
      return;
    }
    // The top comes last.
    this.top = null;
    const slot = slotOf(key);
    if (slot < 0) return;
    if (slot < TOP_SLOTS) this.upper.note(slot, value);
    else this.next.note(slot - TOP_SLOTS, value);
  }

  private fill(slot: number, record: Uint8Array): void {
    if (slot < TOP_SLOTS) this.upper.fill(slot, record, 0, record.length);
    else this.next.fill(slot - TOP_SLOTS, record, 0, record.length);
  }

  /** Undefined: it is not remembered. */
  private remembered(slot: number): Uint8Array | undefined {
    return slot < TOP_SLOTS ? this.upper.record(slot) : this.next.record(slot - TOP_SLOTS);
  }

  private getMany(nodes: NodeReader, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const found: (Uint8Array | undefined)[] = new Array(keys.length);
    const missed: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const slot = slotOf(keys[i]);
      found[i] = slot < 0 ? undefined : this.remembered(slot);
      if (found[i] === undefined) missed.push(i);
    }
    if (missed.length === 0) return found;
    const read = nodes.getMany(missed.length === keys.length ? keys : missed.map((i) => keys[i]));
    for (let j = 0; j < missed.length; j++) {
      const value = read[j];
      const slot = slotOf(keys[missed[j]]);
      found[missed[j]] = value;
      if (slot >= 0 && value !== undefined) this.fill(slot, value);
    }
    return found;
  }
}
