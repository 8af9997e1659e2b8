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
 * Behind the references may stand parts of the branch's value, by which the value
 * follows without all children being hashed again (docs/adr/0032).
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
  /** Of a branch, once read. */
  branch: Branch | null;
}

/** By slot. */
export type Children = readonly (TreeNode | undefined)[];

/** What the record of a branch says. */
export interface Branch {
  readonly kids: Children;
  /** What of its value the record has besides, as the tree's rule made it; null: nothing. */
  readonly parts: Uint8Array | null;
}

/** Bits of the longest path: a byte of a record key counts its whole bytes, and 255 is the top's. */
export const PATH_BITS_MAX = 1024;

const LEAF_FLAG = 0x80;
const HEAD_BYTES = 3;

/** Stands where a reference would begin, before the parts: no slot has this number. */
const PARTS_MARK = 0x40;

/** Bytes of the parts of a branch, where there are some: a hash for each four slots. */
export const partsBytes = (width: Width): number => ((1 << width) >> 2) * HASH_BYTES;

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

/** What changes at a branch; null: nothing is left of it. */
export interface RecordWrite {
  readonly path: Uint8Array;
  readonly end: number;
  readonly branch: Branch | null;
}

/** Where records are written that are copied at once. */
const keyScratch = new Scratch(branchKeyBytes(PATH_BITS_MAX));
const recordScratch = new Scratch(4096);

/** Tells the sink all of them, and then the top. */
export function writeRecords(writes: readonly RecordWrite[], top: TreeNode | undefined, sink: NodeSink): void {
  const copies = sink.copies === true;
  for (const { path, end, branch } of writes) {
    const keyBytes = branchKeyBytes(end);
    const key = writeBranchKey(copies ? keyScratch.view(keyBytes) : new Uint8Array(keyBytes), path, end);
    if (branch === null) sink.del(key);
    else sink.put(key, encodeRecord(branch, copies));
  }
  if (top === undefined) sink.del(TOP_KEY);
  else sink.put(TOP_KEY, encodeRecord({ kids: [top], parts: null }, copies));
}

/** References in slot order: a flag and the slot, the bits of the jump, the jump, the value. Then the parts, if there are some. */
function encodeRecord({ kids, parts }: Branch, copies: boolean): Uint8Array {
  const length = recordBytes(kids, parts);
  const out = copies ? recordScratch.view(length).fill(0) : slab.run(length);
  let at = 0;
  for (let slot = 0; slot < kids.length; ) {
    const kid = kids[slot];
    if (kid === undefined) slot++;
    else if (isStored(kid, slot)) {
      const begin = headOf(kid);
      let end = referenceEnd(kid);
      for (slot++; slot < kids.length; slot++) {
        const next = kids[slot];
        if (next === undefined) continue;
        if (next.values !== kid.values || headOf(next) !== end || !isStored(next, slot)) break;
        end = referenceEnd(next);
      }
      out.set(kid.values.subarray(begin, end), at);
      at += end - begin;
    } else at = writeReference(out, at, kid, slot++);
  }
  if (parts !== null) {
    out[at] = PARTS_MARK;
    out.set(parts, at + 1);
  }
  return out;
}

function writeReference(out: Uint8Array, at: number, kid: TreeNode, slot: number): number {
  assert(kid.jumpBits <= PATH_BITS_MAX, 'a jump that can be stored');
  out[at] = kid.leaf ? slot | LEAF_FLAG : slot;
  writeU16(out, at + 1, kid.jumpBits);
  copyBits(kid.path, kid.from, out, 8 * (at + HEAD_BYTES), kid.jumpBits);
  const valueAt = at + HEAD_BYTES + ((kid.jumpBits + 7) >> 3);
  copyBytes(kid.values, kid.valueAt, out, valueAt, HASH_BYTES);
  return valueAt + HASH_BYTES;
}

const headOf = (kid: TreeNode): number => (kid.from >> 3) - HEAD_BYTES;
const referenceEnd = (kid: TreeNode): number => kid.valueAt + HASH_BYTES;

/** Whether the child lies in its bytes as a reference in this slot does: most do, in the record that they were read from, and runs of them are copied at once. */
function isStored({ leaf, path, from, jumpBits, values, valueAt }: TreeNode, slot: number): boolean {
  const at = from >> 3;
  if (path !== values || from % 8 !== 0 || at < HEAD_BYTES || valueAt !== at + ((jumpBits + 7) >> 3)) return false;
  return path[at - HEAD_BYTES] === (leaf ? slot | LEAF_FLAG : slot) && readU16(path, at - 2) === jumpBits;
}

function recordBytes(kids: Children, parts: Uint8Array | null): number {
  let length = parts === null ? 0 : 1 + parts.length;
  for (let slot = 0; slot < kids.length; slot++) {
    const kid = kids[slot];
    if (kid !== undefined) length += HEAD_BYTES + ((kid.jumpBits + 7) >> 3) + HASH_BYTES;
  }
  return length;
}

/** With `least` one, the top alone in slot 0. Throws STORE_DAMAGED. */
export function decodeRecord(record: Uint8Array, width: Width, least = 2): Branch {
  const kids = noChildren(width);
  let count = 0;
  let last = -1;
  let at = 0;
  for (; at < record.length && record[at] !== PARTS_MARK; count++) {
    if (at + HEAD_BYTES > record.length) damaged('is cut');
    const slot = record[at] & ~LEAF_FLAG;
    const jumpBits = readU16(record, at + 1);
    const end = at + HEAD_BYTES + ((jumpBits + 7) >> 3);
    if (slot <= last || slot >= kids.length || end + HASH_BYTES > record.length) damaged('has a bad reference');
    if (jumpBits % width !== 0 || jumpBits > PATH_BITS_MAX) damaged('has a bad path');
    const leaf = record[at] >= LEAF_FLAG;
    kids[slot] = { leaf, path: record, from: 8 * (at + HEAD_BYTES), jumpBits, values: record, valueAt: end, branch: null };
    last = slot;
    at = end + HASH_BYTES;
  }
  if (count < least) damaged(`has ${count} references`);
  if (at === record.length) return { kids, parts: null };
  if (partsBytes(width) === 0 || record.length - at - 1 !== partsBytes(width)) damaged('has bad parts');
  return { kids, parts: record.subarray(at + 1) };
}

export function noChildren(width: Width): (TreeNode | undefined)[] {
  return width === 1 ? [undefined, undefined] : new Array(1 << width).fill(undefined);
}

function damaged(what: string): never {
  throw new UnspentError('STORE_DAMAGED', `a record of a tree ${what}`);
}

/** The top of the tree, or undefined when it is empty. */
export function decodeTop(record: Uint8Array | undefined, width: Width): TreeNode | undefined {
  return record === undefined ? undefined : decodeRecord(record, width, 1).kids[0];
}
