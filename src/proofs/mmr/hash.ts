/**
 * What a mountain range hashes. The indexed rule is ours: every node hashes its
 * own position, every bag the size, so no part of a range can be moved or taken
 * for another. The plain rule is that of another public library and is here for
 * the arithmetic they share.
 */

import { blake2b256, blake2b256Prefixed } from '../../crypto/hash.ts';
import { concatBytes, writeU64 } from '../../util/bytes.ts';
import { HASH_BYTES } from '../verdict.ts';

export interface MmrRule {
  /** The hash of a leaf at that position. */
  leaf(position: number, content: Uint8Array): Uint8Array;
  /** The hash of a parent at that position. */
  parent(position: number, left: Uint8Array, right: Uint8Array): Uint8Array;
  /** A peak and what is bagged of the peaks to its right. */
  bag(size: number, peak: Uint8Array, right: Uint8Array): Uint8Array;
}

/** The root of a range without leaves. */
export const EMPTY_ROOT: Uint8Array = new Uint8Array(HASH_BYTES);

const INDEX_BYTES = 8;
const index = new Uint8Array(INDEX_BYTES);
const pair = new Uint8Array(INDEX_BYTES + 2 * HASH_BYTES);

/** `H(u64 index, left, right)`: parents, bags, and the merged root of a range and its bitmap. */
export function hashPair(at: number, left: Uint8Array, right: Uint8Array): Uint8Array {
  writeU64(pair, 0, at);
  pair.set(left, INDEX_BYTES);
  pair.set(right, INDEX_BYTES + HASH_BYTES);
  return blake2b256(pair);
}

/** The rule of our ranges: every node hashes its own position. */
export const INDEXED: MmrRule = {
  leaf(position, content) {
    writeU64(index, 0, position);
    return blake2b256Prefixed(index, content, 0, content.length);
  },
  parent: hashPair,
  bag: hashPair,
};

/** The rule of another public library, without positions. */
export const PLAIN: MmrRule = {
  leaf: (_, content) => blake2b256(content),
  parent: (_, left, right) => blake2b256(concatBytes(left, right)),
  bag: (_, peak, right) => blake2b256(concatBytes(right, peak)),
};
