/**
 * Tombstones in the record: which slots of the first page are of a transaction
 * that a pass has deleted, and when. They go with the record and cost no row of
 * their own. A slot that is unspent leaves its list, and the tombstone gets a row
 * (TX_TOMBSTONE), as those of further pages have.
 *
 *   count u16; of each, by slot: slot u16, height u32
 */
import { readU16, readU32, writeU16, writeU32 } from '../../util/bytes.ts';
import { isSameId } from '../../util/id-map.ts';
import { Scratch } from '../../util/scratch.ts';
import { FLAG, HEAD, SLOT_BYTES } from './codec.ts';
import type { RecordHead } from './record-head.ts';

export interface PrunedSlot {
  /** The first slot that the transaction held. */
  readonly slot: number;
  /** Of the pass. */
  readonly height: number;
}

const COUNT_BYTES = 2;
const ENTRY_BYTES = 6;

export function prunedSlotsBytes(count: number): number {
  return count === 0 ? 0 : COUNT_BYTES + ENTRY_BYTES * count;
}

export function readPrunedSlots(bytes: Uint8Array, at: number): PrunedSlot[] {
  const slots: PrunedSlot[] = [];
  for (let n = readU16(bytes, at), entry = at + COUNT_BYTES; n > 0; n--, entry += ENTRY_BYTES)
    slots.push({ slot: readU16(bytes, entry), height: readU32(bytes, entry + 2) });
  return slots;
}

export function writePrunedSlots(to: Uint8Array, at: number, slots: readonly PrunedSlot[]): void {
  writeU16(to, at, slots.length);
  let entry = at + COUNT_BYTES;
  for (const { slot, height } of slots) {
    writeU16(to, entry, slot);
    writeU32(to, entry + 2, height);
    entry += ENTRY_BYTES;
  }
}

/** Whether one of the slots is of the transaction whose id stands at `idAt`. `at`: of the list; `slotsAt`: of the first page. */
export function isPrunedSpender(bytes: Uint8Array, at: number, slotsAt: number, ids: Uint8Array, idAt = 0): boolean {
  for (let n = readU16(bytes, at), entry = at + COUNT_BYTES; n > 0; n--, entry += ENTRY_BYTES)
    if (isSameId(bytes, slotsAt + SLOT_BYTES * readU16(bytes, entry) + 1, ids, idAt)) return true;
  return false;
}

const rewritten = new Scratch(1024);

/** The record that the head stands on and that ends there, with more slots in its list: a view, good until the next call. */
export function rowWithPruned(head: RecordHead, end: number, more: readonly PrunedSlot[]): Uint8Array {
  const { bytes, at } = head;
  const [listAt, outputsAt] = [head.prunedPlace(), head.outputsPlace()];
  const slots = [...(head.hasPruned ? readPrunedSlots(bytes, listAt) : []), ...more].sort((a, b) => a.slot - b.slot);
  const length = end - at - (outputsAt - listAt) + prunedSlotsBytes(slots.length);
  const row = rewritten.view(length);
  row.set(bytes.subarray(at, listAt));
  writeU16(row, HEAD.flags, readU16(row, HEAD.flags) | FLAG.hasPruned);
  writePrunedSlots(row, listAt - at, slots);
  row.set(bytes.subarray(outputsAt, end), length - (end - outputsAt));
  return row;
}
