/**
 * Compares two sets of nodes of a tree without holding either: what a walk meets
 * is hashed and added up, so that order does not matter. For whoever checks a
 * tree; it finds faults, and is no defence against entries made to fool it.
 */
import { blake2b256 } from '../crypto/hash.ts';
import type { Bits } from '../proofs/index.ts';
import { concatBytes, readU32, writeU16 } from '../util/bytes.ts';

const WORDS = 8;

/** Hashes of pairs (path, 32 bytes), added up modulo 2^256. */
export class PairSum {
  count = 0;
  private readonly words = new Uint32Array(WORDS);

  add(path: Bits, value: Uint8Array): void {
    const length = new Uint8Array(2);
    writeU16(length, 0, path.length);
    const hash = blake2b256(concatBytes(length, path.bytes, value));
    let carry = 0;
    for (let i = WORDS - 1; i >= 0; i--) {
      const sum = this.words[i] + readU32(hash, 4 * i) + carry;
      this.words[i] = sum;
      carry = sum > 0xffff_ffff ? 1 : 0;
    }
    this.count++;
  }

  equals(other: PairSum): boolean {
    return this.count === other.count && this.words.every((word, i) => word === other.words[i]);
  }
}
