/**
 * How a compressed radix tree rests in a node store. The CSMT (a bit a level)
 * and the MPF (four bits a level) differ in what they hash, not in shape, so
 * they share this layout and the walks over it.
 *
 * There is one record a branch, under the path at which it branches, and it
 * holds the references of its children: whether each is a leaf, the path
 * skipped below it (its jump) and its 32 bytes. A leaf has no record of its own,
 * a split or a merge moves no record, and a walk to a leaf reads the siblings it
 * needs on the way. The top has a record too, with one reference (docs/adr/0011).
 */
import { copyBytes, readU16, writeU16 } from '../../util/bytes.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import { Scratch } from '../../util/scratch.ts';
import { type Bits, copyBits, takeBits } from '../bits.ts';
import type { NodeSink } from '../node-store.ts';
import { Slab } from '../slab.ts';
import { HASH_BYTES } from '../verdict.ts';

/** Bits of a digit: 1 in a binary tree, 4 in one of nibbles. */
export type Width = 1 | 4;

/** A jump and 32 bytes, as places in bytes that hold more: thousands are looked at in an update, and few of them are copied. */
export interface NodeReference {
  /** The jump: `jumpBits` bits of `path` from bit `from` on. */
  readonly path: Uint8Array;
  readonly from: number;
  readonly jumpBits: number;
  /** Of a leaf its value, of a branch what the tree's rule makes of its children: at `valueAt` in `values`. */
  readonly values: Uint8Array;
  readonly valueAt: number;
}

/** The jump goes from where the parent puts this node to its own end: a branch point, or the end of a key. */
export interface TreeNode extends NodeReference {
  readonly leaf: boolean;
  /** Of a branch: by slot, once read. */
  kids: Children | null;
}

export type Children = readonly (TreeNode | undefined)[];

/** Bits of the longest path: a byte of a record key counts its whole bytes, and 255 is the top's. */
export const PATH_BITS_MAX = 1024;

const LEAF_FLAG = 0x80;
const HEAD_BYTES = 3;

/** Above every branch key, whose first byte is at most PATH_BITS_MAX / 8. */
export const TOP_KEY = Uint8Array.of(0xff);

export function jumpOf(node: NodeReference): Bits {
  return takeBits(node.path, node.from, node.jumpBits);
}

export function valueBytes(node: NodeReference): Uint8Array {
  return node.values.slice(node.valueAt, node.valueAt + HASH_BYTES);
}

/**
 * The key of the branch at the first `length` bits of a path: whole bytes
 * counted, the bytes, and the rest of the bits with a one behind them. Eight
 * levels stand together, level by level from the top, so a walk touches few
 * pages and the pages of the top stay warm.
 */
export function branchKey(path: Uint8Array, length: number): Uint8Array {
  return writeBranchKey(new Uint8Array(branchKeyBytes(length)), path, length);
}

function branchKeyBytes(length: number): number {
  return (length >> 3) + 2;
}

/** Into an array of that many bytes. */
function writeBranchKey(key: Uint8Array, path: Uint8Array, length: number): Uint8Array {
  const whole = length >> 3;
  const rest = length & 7;
  key[0] = whole;
  copyBytes(path, 0, key, 1, whole);
  const partial = rest === 0 ? 0 : path[whole] & (0xff00 >> rest);
  key[whole + 1] = (partial & 0xff) | (0x80 >> rest);
  return key;
}

export function isTopKey(key: Uint8Array): boolean {
  return key.length === 1 && key[0] === TOP_KEY[0];
}

/** Where the branch with this key branches. Throws STORE_DAMAGED when it is no key of a branch. */
export function branchPath(key: Uint8Array): Bits {
  const whole = key[0];
  const last = key[whole + 1];
  if (key.length !== whole + 2 || last === 0 || 8 * whole >= PATH_BITS_MAX) damaged('has a bad key');
  // The lowest one that is set stands behind the bits.
  const rest = Math.clz32(last & -last) - 24;
  return takeBits(key.subarray(1), 0, 8 * whole + rest);
}

/** Records share slabs: a buffer of its own costs more than the record in it. */
const slab = new Slab(32 * 1024);

/** What changes at a branch: its children, or nothing is left of it. */
export interface RecordWrite {
  readonly path: Uint8Array;
  readonly end: number;
  readonly kids: Children | null;
}

/** Where records are written that are copied at once. */
const keyScratch = new Scratch(branchKeyBytes(PATH_BITS_MAX));
const recordScratch = new Scratch(4096);

/** Tells the sink all of them, and then the top. */
export function writeRecords(writes: readonly RecordWrite[], top: TreeNode | undefined, sink: NodeSink): void {
  const copies = sink.copies === true;
  for (const { path, end, kids } of writes) {
    const keyBytes = branchKeyBytes(end);
    const key = writeBranchKey(copies ? keyScratch.view(keyBytes) : new Uint8Array(keyBytes), path, end);
    if (kids === null) sink.del(key);
    else sink.put(key, encodeRecord(kids, copies));
  }
  if (top === undefined) sink.del(TOP_KEY);
  else sink.put(TOP_KEY, encodeRecord([top], copies));
}

/** References in slot order: a flag and the slot, the bits of the jump, the jump, the value. */
function encodeRecord(kids: Children, copies: boolean): Uint8Array {
  const length = recordBytes(kids);
  const out = copies ? recordScratch.view(length).fill(0) : slab.run(length);
  let at = 0;
  for (let slot = 0; slot < kids.length; slot++) {
    const kid = kids[slot];
    if (kid === undefined) continue;
    assert(kid.jumpBits <= PATH_BITS_MAX, 'a jump that can be stored');
    out[at] = kid.leaf ? slot | LEAF_FLAG : slot;
    writeU16(out, at + 1, kid.jumpBits);
    copyBits(kid.path, kid.from, out, 8 * (at + HEAD_BYTES), kid.jumpBits);
    at += HEAD_BYTES + ((kid.jumpBits + 7) >> 3);
    copyBytes(kid.values, kid.valueAt, out, at, HASH_BYTES);
    at += HASH_BYTES;
  }
  return out;
}

function recordBytes(kids: Children): number {
  let length = 0;
  for (let slot = 0; slot < kids.length; slot++) {
    const kid = kids[slot];
    if (kid !== undefined) length += HEAD_BYTES + ((kid.jumpBits + 7) >> 3) + HASH_BYTES;
  }
  return length;
}

/** The children of a branch; with `least` one, the top alone in slot 0. */
export function decodeRecord(record: Uint8Array, width: Width, least = 2): Children {
  const kids = noChildren(width);
  let count = 0;
  let last = -1;
  for (let at = 0; at < record.length; count++) {
    if (at + HEAD_BYTES > record.length) damaged('is cut');
    const slot = record[at] & ~LEAF_FLAG;
    const jumpBits = readU16(record, at + 1);
    const end = at + HEAD_BYTES + ((jumpBits + 7) >> 3);
    if (slot <= last || slot >= kids.length || end + HASH_BYTES > record.length) damaged('has a bad reference');
    if (jumpBits % width !== 0 || jumpBits > PATH_BITS_MAX) damaged('has a bad path');
    const leaf = record[at] >= LEAF_FLAG;
    kids[slot] = { leaf, path: record, from: 8 * (at + HEAD_BYTES), jumpBits, values: record, valueAt: end, kids: null };
    last = slot;
    at = end + HASH_BYTES;
  }
  if (count < least) damaged(`has ${count} references`);
  return kids;
}

export function noChildren(width: Width): (TreeNode | undefined)[] {
  return width === 1 ? [undefined, undefined] : new Array(1 << width).fill(undefined);
}

function damaged(what: string): never {
  throw new UnspentError('STORE_DAMAGED', `a record of a tree ${what}`);
}

/** The top of the tree, or undefined when it is empty. */
export function decodeTop(record: Uint8Array | undefined, width: Width): TreeNode | undefined {
  return record === undefined ? undefined : decodeRecord(record, width, 1)[0];
}
