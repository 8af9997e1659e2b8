/**
 * Keys of one column, numbered in the order they come: open addressing over
 * their bytes, which stand one after the other in slabs. So a key is neither a
 * text nor an object that is to be collected. What belongs to a key stands in
 * lists of the caller, at its number.
 */
import { copyBytes } from '../util/bytes.ts';

const SLOTS_FIRST = 256;
/** Most tables are of a block at the tip. */
const SLAB_BYTES_FIRST = 1024;
const SLAB_BYTES = 64 * 1024;
const SPREAD = 0x9e37_79b1;

export class NumberedKeys {
  private count = 0;
  private hashes = new Int32Array(SLOTS_FIRST / 2);
  private ends = new Int32Array(SLOTS_FIRST / 2);
  /** By key. */
  private readonly slabs: Uint8Array[] = [];
  private slab = new Uint8Array(0);
  private used = 0;
  /** Numbers of keys, from 1; 0: free. Never more than half of them are taken. */
  private slots = new Int32Array(SLOTS_FIRST);

  get size(): number {
    return this.count;
  }

  key(number: number): Uint8Array {
    return this.slabs[number].subarray(this.startOf(number), this.ends[number]);
  }

  /** Its first four bytes, with zeros behind a shorter one. */
  prefix(number: number): number {
    const slab = this.slabs[number];
    const start = this.startOf(number);
    const end = this.ends[number];
    const byte = (at: number): number => (at < end ? slab[at] : 0);
    return ((byte(start) << 24) | (byte(start + 1) << 16) | (byte(start + 2) << 8) | byte(start + 3)) >>> 0;
  }

  /** The number of a key, which is copied if it is new. */
  add(key: Uint8Array): number {
    const hash = hashOf(key);
    const slot = this.slotOf(key, hash);
    if (this.slots[slot] !== 0) return this.slots[slot] - 1;
    const number = this.count++;
    this.copy(key, number);
    this.hashes[number] = hash;
    this.slots[slot] = number + 1;
    if (this.count === this.hashes.length) this.grow();
    return number;
  }

  private copy(key: Uint8Array, number: number): void {
    if (this.used + key.length > this.slab.length) {
      this.slab = new Uint8Array(Math.max(Math.min(2 * this.slab.length, SLAB_BYTES), SLAB_BYTES_FIRST, key.length));
      this.used = 0;
    }
    copyBytes(key, 0, this.slab, this.used, key.length);
    this.used += key.length;
    this.slabs.push(this.slab);
    this.ends[number] = this.used;
  }

  /** Keys of a slab follow each other. */
  private startOf(number: number): number {
    return number > 0 && this.slabs[number - 1] === this.slabs[number] ? this.ends[number - 1] : 0;
  }

  /** Where the key stands, or would. */
  private slotOf(key: Uint8Array, hash: number): number {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = slots[slot] - 1;
      if (number < 0 || (hashes[number] === hash && this.isSame(number, key))) return slot;
    }
  }

  private isSame(number: number, key: Uint8Array): boolean {
    const slab = this.slabs[number];
    const start = this.startOf(number);
    if (this.ends[number] - start !== key.length) return false;
    for (let i = 0; i < key.length; i++) if (slab[start + i] !== key[i]) return false;
    return true;
  }

  private grow(): void {
    const { hashes, ends } = this;
    this.hashes = new Int32Array(2 * hashes.length);
    this.hashes.set(hashes);
    this.ends = new Int32Array(2 * hashes.length);
    this.ends.set(ends);
    this.slots = new Int32Array(4 * hashes.length);
    const mask = this.slots.length - 1;
    for (let number = 0; number < this.count; number++) {
      let slot = hashes[number] & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = number + 1;
    }
  }
}

/** Of every byte: what keys of a column have in common, and where they differ, is not known here. */
function hashOf(key: Uint8Array): number {
  let hash = key.length;
  let at = 0;
  for (const end = key.length - 3; at < end; at += 4) {
    const word = key[at] | (key[at + 1] << 8) | (key[at + 2] << 16) | (key[at + 3] << 24);
    hash = Math.imul(hash ^ word, SPREAD);
    hash ^= hash >>> 15;
  }
  for (; at < key.length; at++) hash = Math.imul(hash ^ key[at], SPREAD);
  return hash ^ (hash >>> 13);
}
