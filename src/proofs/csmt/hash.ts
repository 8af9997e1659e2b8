/**
 * What a compact sparse Merkle tree hashes. A reference is the path skipped
 * below a place and 32 bytes; its serialization is
 * `u16 bits, packed path, u16 32, value`. A branch is the hash of its two
 * references, the root that of the top's reference, so every skipped bit is
 * committed to.
 */

import { blake2b256, blake2b256Into } from '../../crypto/hash.ts';
import { copyBytes, writeU16 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type Bits, copyBits } from '../bits.ts';
import type { Children, NodeReference as RawReference } from '../radix/record.ts';
import type { RadixRule } from '../radix/update.ts';
import { HASH_BYTES } from '../verdict.ts';

/** How a branch refers to a child: the bits on the way to it, and its hash. */
export interface Reference {
  /** The bits between the branch and the child. */
  readonly jump: Bits;
  /** The hash of the child. */
  readonly value: Uint8Array;
}

/** Bits of a key, by the specification: an address hash and an input take 560 at most; a proof may not claim absurd ones. */
export const KEY_BITS_MAX = 1024;

const REFERENCE_BYTES_MAX = 4 + KEY_BITS_MAX / 8 + HASH_BYTES;
/** The shortest thing a branch hashes: two references without a jump. */
const BRANCH_BYTES_MIN = 2 * (4 + HASH_BYTES);
const scratch = new Uint8Array(2 * REFERENCE_BYTES_MAX);

/** Writes a reference at `at`; returns where it ends. */
function write(at: number, { path, from, jumpBits, values, valueAt }: RawReference): number {
  const end = at + 2 + ((jumpBits + 7) >> 3);
  writeU16(scratch, at, jumpBits);
  for (let i = at + 2; i < end; i++) scratch[i] = 0;
  copyBits(path, from, scratch, 8 * (at + 2), jumpBits);
  writeU16(scratch, end, HASH_BYTES);
  copyBytes(values, valueAt, scratch, end + 2, HASH_BYTES);
  return end + 2 + HASH_BYTES;
}

/** The bits `from` to `to` of a path as a jump. */
export function partOf(path: Bits, from: number, to: number, value: Uint8Array): RawReference {
  return { path: path.bytes, from, jumpBits: to - from, values: value, valueAt: 0 };
}

export function wholeOf({ jump, value }: Reference): RawReference {
  return partOf(jump, 0, jump.length, value);
}

export function branchValue(left: RawReference, right: RawReference): Uint8Array {
  return blake2b256(scratch, 0, write(write(0, left), right));
}

export function rootOf(top: RawReference): Uint8Array {
  return blake2b256(scratch, 0, write(0, top));
}

export const CSMT_RULE: RadixRule = {
  width: 1,
  branchValue: (kids: Children, to: Uint8Array, at: number) => {
    blake2b256Into(scratch, 0, write(write(0, kids[0]!), kids[1]!), to, at);
    return null;
  },
};

/**
 * The value of a leaf that stands for these bytes. Nothing else keeps a leaf
 * apart from a branch, so bytes that could be read as what a branch hashes are
 * refused: those are at least 72 and begin with the length of a path.
 */
export function leafValue(content: Uint8Array): Uint8Array {
  if (content.length >= BRANCH_BYTES_MIN && ((content[0] << 8) | content[1]) <= KEY_BITS_MAX) {
    throw new UnspentError('USAGE', 'these bytes could be taken for a branch of the tree: begin them with a CBOR array or map');
  }
  return blake2b256(content);
}

/** `u16 bits, packed path`: how a path stands in a serialization. */
export function serializePath(path: Bits): Uint8Array {
  const out = new Uint8Array(2 + path.bytes.length);
  writeU16(out, 0, path.length);
  out.set(path.bytes, 2);
  return out;
}
