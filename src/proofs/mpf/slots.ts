/**
 * The binary tree over the 16 slots of a branch. Its root is the value of the
 * branch, not the branch's hash: a proof and a merge need the former, and the
 * latter follows from it.
 *
 * The record of a branch with many children keeps the roots of its quarters, four
 * slots each. A change of one child then hashes the four children of its quarter
 * and six pairs, instead of 16 children and 15 pairs; a step of a proof hashes
 * three children and two pairs.
 */
import { blake2b256Into } from '../../crypto/hash.ts';
import { copyBytes } from '../../util/bytes.ts';
import type { Branch, Children } from '../radix/record.ts';
import type { RadixRule } from '../radix/update.ts';
import { Slab } from '../slab.ts';
import { HASH_BYTES } from '../verdict.ts';
import { EMPTY_PARTS, hashPair, NIBBLE_BITS, NULL_HASH, nodeHashInto, SLOTS } from './hash.ts';

const QUARTERS = 4;
const QUARTER_SLOTS = SLOTS / QUARTERS;
const QUARTERS_BYTES = QUARTERS * HASH_BYTES;

/** Children from which on a record keeps its quarters: with fewer, they would cost more bytes than they spare hashes. */
const QUARTERS_CHILDREN_MIN = 8;

/** Places for two hashes that become one, on each level. */
const slotPair = new Uint8Array(2 * HASH_BYTES);
const pairs = new Uint8Array(2 * HASH_BYTES);
const quarters = new Uint8Array(QUARTERS_BYTES);
const halves = new Uint8Array(2 * HASH_BYTES);

/** Quarters that are to be written. */
const slab = new Slab(32 * 1024);

/** The hash of the child in a slot, or zeros. */
function writeSlot(kids: Children, slot: number, to: Uint8Array, at: number): void {
  const kid = kids[slot];
  if (kid === undefined) copyBytes(NULL_HASH, 0, to, at, HASH_BYTES);
  else nodeHashInto(kid, to, at);
}

/** Writes the root of a part of 2^height slots if none of them has a child: it need not be hashed. */
function writesEmpty(kids: Children, first: number, height: number, to: Uint8Array, at: number): boolean {
  for (let slot = first; slot < first + (1 << height); slot++) if (kids[slot] !== undefined) return false;
  copyBytes(EMPTY_PARTS[height], 0, to, at, HASH_BYTES);
  return true;
}

function writePair(kids: Children, pair: number, to: Uint8Array, at: number): void {
  if (writesEmpty(kids, 2 * pair, 1, to, at)) return;
  writeSlot(kids, 2 * pair, slotPair, 0);
  writeSlot(kids, 2 * pair + 1, slotPair, HASH_BYTES);
  blake2b256Into(slotPair, 0, slotPair.length, to, at);
}

function writeQuarter(kids: Children, quarter: number, to: Uint8Array, at: number): void {
  if (writesEmpty(kids, QUARTER_SLOTS * quarter, 2, to, at)) return;
  writePair(kids, 2 * quarter, pairs, 0);
  writePair(kids, 2 * quarter + 1, pairs, HASH_BYTES);
  blake2b256Into(pairs, 0, pairs.length, to, at);
}

function isSameQuarter(kids: Children, before: Children, quarter: number): boolean {
  const first = QUARTER_SLOTS * quarter;
  for (let slot = first; slot < first + QUARTER_SLOTS; slot++) if (kids[slot] !== before[slot]) return false;
  return true;
}

/** All four, as far as possible from those of the branch that was there. */
function writeQuarters(kids: Children, before: Branch | null): void {
  const known = before?.parts ?? null;
  for (let quarter = 0; quarter < QUARTERS; quarter++) {
    const at = HASH_BYTES * quarter;
    if (known !== null && isSameQuarter(kids, before!.kids, quarter)) copyBytes(known, at, quarters, at, HASH_BYTES);
    else writeQuarter(kids, quarter, quarters, at);
  }
}

function keepsQuarters(kids: Children): boolean {
  let count = 0;
  for (let slot = 0; slot < SLOTS; slot++) if (kids[slot] !== undefined) count++;
  return count >= QUARTERS_CHILDREN_MIN;
}

/** From the roots of the quarters. */
function writeHalf(kids: Children, roots: Uint8Array, half: number, to: Uint8Array, at: number): void {
  if (writesEmpty(kids, (SLOTS / 2) * half, 3, to, at)) return;
  const begin = (QUARTERS_BYTES / 2) * half;
  blake2b256Into(roots, begin, begin + QUARTERS_BYTES / 2, to, at);
}

/** The forestry, as a radix tree. */
export const MPF_RULE: RadixRule = {
  width: NIBBLE_BITS,
  branchValue: (kids: Children, to: Uint8Array, at: number, before: Branch | null) => {
    writeQuarters(kids, before);
    writeHalf(kids, quarters, 0, halves, 0);
    writeHalf(kids, quarters, 1, halves, HASH_BYTES);
    blake2b256Into(halves, 0, halves.length, to, at);
    if (!keepsQuarters(kids)) return null;
    const parts = slab.run(QUARTERS_BYTES);
    parts.set(quarters);
    return parts;
  },
};

/** Roots of the slots that are not followed to one of them: the other half, the other quarter, pair and slot. */
export function neighborsOf({ kids, parts }: Branch, slot: number): Uint8Array {
  const out = new Uint8Array(4 * HASH_BYTES);
  if (parts === null) writeQuarters(kids, null);
  const roots = parts ?? quarters;
  writeHalf(kids, roots, (slot >> 3) ^ 1, out, 0);
  copyBytes(roots, HASH_BYTES * ((slot >> 2) ^ 1), out, HASH_BYTES, HASH_BYTES);
  writePair(kids, (slot >> 1) ^ 1, out, 2 * HASH_BYTES);
  writeSlot(kids, slot ^ 1, out, 3 * HASH_BYTES);
  return out;
}

/** The root over slots whose hashes are known; parts that are empty are not hashed. */
export function slotRoot(slots: readonly (Uint8Array | undefined)[]): Uint8Array {
  let level = slots.map((hash) => hash ?? NULL_HASH);
  for (let height = 1; level.length > 1; height++) {
    const empty = EMPTY_PARTS[height - 1];
    level = Array.from({ length: level.length / 2 }, (_, i) => {
      const [left, right] = [level[2 * i], level[2 * i + 1]];
      return left === empty && right === empty ? EMPTY_PARTS[height] : hashPair(left, right);
    });
  }
  return level[0];
}
