/**
 * Proof of work: a header's hash must not be above the target that its bits
 * name, nor that target above the network's easiest. What the target should be
 * at a height is the node's business; this much makes a false branch expensive.
 */

import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { readU32LE } from '../../../util/bytes.ts';
import { targetOf } from '../header-tree.ts';

const HASH_BYTES = 32;
const BITS_AT = 72;

export type WorkCheck = (header: Uint8Array, hash: Uint8Array) => boolean;

/** Litecoin's work is scrypt, a quarter of a millisecond a header: minutes for its chain, so that it is taken on trust. */
export function workCheck({ mweb, genesis }: BitcoinNetwork): WorkCheck {
  if (mweb) return () => true;
  // The first block of each network is as easy as a block may be.
  const easiest = targetOf(genesis.bits) ?? 0n;
  let lastBits = -1;
  let target: Uint8Array | null = null;
  return (header, hash) => {
    const bits = readU32LE(header, BITS_AT);
    if (bits !== lastBits) {
      const number = targetOf(bits);
      target = number === null || number > easiest ? null : toBytes(number);
      lastBits = bits;
    }
    return target !== null && isAtMost(hash, target);
  };
}

/** Both as numbers with their lowest byte first. */
function isAtMost(hash: Uint8Array, target: Uint8Array): boolean {
  for (let i = HASH_BYTES - 1; i >= 0; i--) if (hash[i] !== target[i]) return hash[i] < target[i];
  return true;
}

function toBytes(number: bigint): Uint8Array {
  return Uint8Array.from({ length: HASH_BYTES }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn));
}
