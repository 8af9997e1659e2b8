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

/** Bytes of a record that is remembered: two leaves right below the top, with room to spare. */
const SLOT_BYTES = 224;

/** Keys of the first sixteen levels of bits, by their bytes: `00 x` and `01 x y` (`branchKey`). There is memory for those that begin alike. */
const PAGE_SLOTS = 256;
const PAGE_SHIFT = 8;
const PAGES = 1 + 256;

/** Where such a key is remembered; -1: it is not. */
function slotOf(key: Uint8Array): number {
  if (key.length === 2) return key[1];
  return key.length === 3 ? PAGE_SLOTS * (1 + key[1]) + key[2] : -1;
}

export class UpperRecords {
  /** SLOT_BYTES for each slot, in pages made when they are needed; so many bytes of each are used, 0: nothing is remembered. */
  private readonly pages: (Uint8Array | undefined)[] = new Array(PAGES);
  private readonly lengths = new Uint8Array(PAGES * PAGE_SLOTS);
  /** The top of the tree after the writes below; null: they are not all there, and of no tree. */
  private top: Uint8Array | undefined | null;
  /** Writes of the last update, into these slots. Taken over when the next update finds them in the store: until then, nodes point into slots. */
  private readonly written: number[] = [];
  private writtenBytes = new Uint8Array(0);
  private readonly writtenLengths: number[] = [];

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
    if (!isKnown) this.lengths.fill(0);
    else
      for (let i = 0; i < this.written.length; i++) this.fill(this.written[i], this.writtenBytes, SLOT_BYTES * i, this.writtenLengths[i]);
    this.written.length = 0;
    this.writtenLengths.length = 0;
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
    const at = SLOT_BYTES * this.written.push(slot) - SLOT_BYTES;
    const length = value === undefined || value.length > SLOT_BYTES ? 0 : value.length;
    this.writtenLengths.push(length);
    if (at + SLOT_BYTES > this.writtenBytes.length) this.writtenBytes = grown(this.writtenBytes);
    if (value !== undefined) copyBytes(value, 0, this.writtenBytes, at, length);
  }

  private fill(slot: number, from: Uint8Array, at: number, length: number): void {
    this.lengths[slot] = length;
    if (length === 0) return;
    let page = this.pages[slot >> PAGE_SHIFT];
    if (page === undefined) {
      page = new Uint8Array(PAGE_SLOTS * SLOT_BYTES);
      this.pages[slot >> PAGE_SHIFT] = page;
    }
    copyBytes(from, at, page, SLOT_BYTES * (slot % PAGE_SLOTS), length);
  }

  private remembered(slot: number): Uint8Array {
    const at = SLOT_BYTES * (slot % PAGE_SLOTS);
    return this.pages[slot >> PAGE_SHIFT]!.subarray(at, at + this.lengths[slot]);
  }

  private getMany(nodes: NodeReader, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const found: (Uint8Array | undefined)[] = new Array(keys.length);
    const missed: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const slot = slotOf(keys[i]);
      if (slot < 0 || this.lengths[slot] === 0) missed.push(i);
      else found[i] = this.remembered(slot);
    }
    if (missed.length === 0) return found;
    const read = nodes.getMany(missed.length === keys.length ? keys : missed.map((i) => keys[i]));
    for (let j = 0; j < missed.length; j++) {
      const value = read[j];
      const slot = slotOf(keys[missed[j]]);
      found[missed[j]] = value;
      if (slot >= 0 && value !== undefined && value.length <= SLOT_BYTES) this.fill(slot, value, 0, value.length);
    }
    return found;
  }
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const more = new Uint8Array(Math.max(64 * SLOT_BYTES, 2 * bytes.length));
  more.set(bytes);
  return more;
}
