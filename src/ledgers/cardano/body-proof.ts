/**
 * Recomputes what a block's header says of its body. A source that has already
 * checked the bytes does not need this; for all others it is what stands
 * between a flipped bit and a wrong transaction id.
 */

import { blake2b256, blake2b256Prefixed } from '../../crypto/hash.ts';
import { concatBytes, equalBytes } from '../../util/bytes.ts';
import { Cursor } from '../../util/cbor.ts';
import { UnspentError } from '../../util/errors.ts';
import type { CardanoBlock } from './decode.ts';
import { ERA } from './header.ts';

const HASH_BYTES = 32;
/** Hashes of the parts of one body; there are four at most. */
const partHashes = new Uint8Array(4 * HASH_BYTES);
/** Most blocks of quiet times are empty, as no bodies, no witnesses, no auxiliary data, nothing invalid: hashed once and for all. */
const EMPTY_BODY = Uint8Array.of(0x80, 0x80, 0xa0, 0x80);
const EMPTY_PARTS = Array.from(EMPTY_BODY, (byte) => blake2b256(Uint8Array.of(byte)));
const EMPTY_PROOFS = Array.from({ length: EMPTY_BODY.length + 1 }, (_, count) => blake2b256(concatBytes(...EMPTY_PARTS.slice(0, count))));
const LEAF = Uint8Array.of(0);
const BRANCH = Uint8Array.of(1);

/** Throws BLOCK_INVALID when header and body do not belong together. */
export function verifyBody(block: CardanoBlock): void {
  const good = block.era === ERA.byronBoundary ? boundaryBody(block) : block.era === ERA.byron ? byronBody(block) : shelleyBody(block);
  if (!good) throw new UnspentError('BLOCK_INVALID', `the body of block ${block.height} (slot ${block.slot}) does not match its header`);
}

/** The hash of the hashes of each part, as encoded. */
function shelleyBody({ raw, parts, header }: CardanoBlock): boolean {
  const count = parts.length - 1;
  let empty = 0;
  for (let i = 0; i < count; i++) {
    const isEmpty = parts[i + 1] - parts[i] === 1 && raw[parts[i]] === EMPTY_BODY[i];
    if (isEmpty) empty++;
    partHashes.set(isEmpty ? EMPTY_PARTS[i] : blake2b256(raw, parts[i], parts[i + 1]), HASH_BYTES * i);
  }
  return equalBytes(empty === count ? EMPTY_PROOFS[count] : blake2b256(partHashes, 0, HASH_BYTES * count), header.bodyProof);
}

function boundaryBody({ raw, parts, header }: CardanoBlock): boolean {
  const c = new Cursor(header.bodyProof);
  c.span(32);
  return equalBytes(blake2b256(raw, parts[0], parts[1]), c.bytes.subarray(c.start, c.stop));
}

/** Byron's proof begins with the number of transactions and the root of their Merkle tree; that much covers the outputs. */
function byronBody({ raw, txs, header }: CardanoBlock): boolean {
  const c = new Cursor(header.bodyProof);
  c.array();
  c.array();
  if (c.uint() !== txs.length) return false;
  c.span(32);
  const leaves = txs.map((tx) => blake2b256Prefixed(LEAF, raw, tx.start, tx.end));
  return equalBytes(merkleRoot(leaves), c.bytes.subarray(c.start, c.stop));
}

function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return blake2b256(new Uint8Array(0));
  if (leaves.length === 1) return leaves[0];
  let split = 1;
  while (2 * split < leaves.length) split *= 2;
  const pair = concatBytes(merkleRoot(leaves.slice(0, split)), merkleRoot(leaves.slice(split)));
  return blake2b256Prefixed(BRANCH, pair, 0, pair.length);
}
