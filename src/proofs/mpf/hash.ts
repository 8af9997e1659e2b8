/**
 * What a Merkle Patricia Forestry hashes. Keys are placed by the 64 nibbles of
 * their hash; a leaf hashes what is left of those and its value's hash, a branch
 * its prefix and the root of a fixed binary tree over its 16 slots. Empty slots
 * count as 32 zero bytes, also the root of the empty trie.
 */

import { blake2b256, blake2b256Into } from '../../crypto/hash.ts';
import { copyBytes } from '../../util/bytes.ts';
import { type Bits, bitsOf, digitAt } from '../bits.ts';
import type { TreeNode } from '../radix/record.ts';
import { HASH_BYTES } from '../verdict.ts';

export const NIBBLE_BITS = 4;
export const SLOTS = 16;
/** Nibbles of a path. */
export const PATH_NIBBLES = 64;

/** The root of an empty trie. */
export const NULL_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

const EVEN = 0xff;
const ODD = 0x00;
const scratch = new Uint8Array(2 + PATH_NIBBLES + 2 * HASH_BYTES);

export function hashPair(left: Uint8Array, right: Uint8Array): Uint8Array {
  copyBytes(left, 0, scratch, 0, HASH_BYTES);
  copyBytes(right, 0, scratch, HASH_BYTES, HASH_BYTES);
  return blake2b256(scratch, 0, 2 * HASH_BYTES);
}

/** Roots of empty parts of the slot tree: of 1, 2, 4, 8 and 16 slots. */
export const EMPTY_PARTS: readonly Uint8Array[] = emptyParts();

function emptyParts(): Uint8Array[] {
  const parts = [NULL_HASH];
  for (let slots = 2; slots <= SLOTS; slots *= 2) parts.push(hashPair(parts.at(-1)!, parts.at(-1)!));
  return parts;
}

/** Where a key is placed. */
export function pathOfKey(key: Uint8Array): Bits {
  return bitsOf(blake2b256(key));
}

export function nibbleAt(path: Bits, nibble: number): number {
  return digitAt(path.bytes, NIBBLE_BITS * nibble, NIBBLE_BITS);
}

/** A leaf whose suffix is the path from nibble `from` on. */
export function leafHash(path: Bits, from: number, valueHash: Uint8Array): Uint8Array {
  return blake2b256(scratch, 0, writeLeaf(path.bytes, from, path.length / NIBBLE_BITS - from, valueHash, 0));
}

/** What a leaf hashes, into the scratch; returns its length. */
function writeLeaf(path: Uint8Array, from: number, count: number, values: Uint8Array, valueAt: number): number {
  const odd = count % 2;
  scratch[0] = odd === 1 ? ODD : EVEN;
  if (odd === 1) scratch[1] = digitAt(path, NIBBLE_BITS * from, NIBBLE_BITS);
  const start = 1 + odd;
  const packed = (count - odd) / 2;
  copyNibbles(path, from + odd, start, packed);
  copyBytes(values, valueAt, scratch, start + packed, HASH_BYTES);
  return start + packed + HASH_BYTES;
}

/** Whole bytes of nibbles into the scratch. */
function copyNibbles(path: Uint8Array, from: number, at: number, bytes: number): void {
  const first = from >> 1;
  if (from % 2 === 0) copyBytes(path, first, scratch, at, bytes);
  else for (let i = 0; i < bytes; i++) scratch[at + i] = ((path[first + i] << 4) | (path[first + i + 1] >> 4)) & 0xff;
}

/** A branch whose prefix is the nibbles `from` to `to` of the path, a byte each. */
export function branchHash(path: Bits, from: number, to: number, childrenRoot: Uint8Array): Uint8Array {
  return blake2b256(scratch, 0, writeBranch(path.bytes, from, to - from, childrenRoot, 0));
}

/** The same for a branch. */
function writeBranch(path: Uint8Array, from: number, count: number, values: Uint8Array, valueAt: number): number {
  for (let i = 0; i < count; i++) scratch[i] = digitAt(path, NIBBLE_BITS * (from + i), NIBBLE_BITS);
  copyBytes(values, valueAt, scratch, count, HASH_BYTES);
  return count + HASH_BYTES;
}

/** The same with a prefix that has one byte a nibble already. */
export function branchHashRaw(prefix: Uint8Array, childrenRoot: Uint8Array): Uint8Array {
  copyBytes(prefix, 0, scratch, 0, prefix.length);
  copyBytes(childrenRoot, 0, scratch, prefix.length, HASH_BYTES);
  return blake2b256(scratch, 0, prefix.length + HASH_BYTES);
}

export function nodeHash(node: TreeNode): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES);
  nodeHashInto(node, hash, 0);
  return hash;
}

/** Written where it is wanted: an update hashes hundreds of nodes. */
export function nodeHashInto({ leaf, path, from, jumpBits, values, valueAt }: TreeNode, to: Uint8Array, at: number): void {
  const write = leaf ? writeLeaf : writeBranch;
  blake2b256Into(scratch, 0, write(path, from / NIBBLE_BITS, jumpBits / NIBBLE_BITS, values, valueAt), to, at);
}

/** Folds one level of the slot tree: `bit` says on which side we are. */
export function foldSlot(me: Uint8Array, neighbor: Uint8Array, bit: number): Uint8Array {
  return bit === 0 ? hashPair(me, neighbor) : hashPair(neighbor, me);
}
