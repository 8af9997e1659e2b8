/**
 * `unspent/proofs`: Merkle trees that move with the chain, their proofs and the
 * verifiers. Pure: no I/O, nothing of Node's, so it runs in a browser too.
 *
 * A verifier trusts the root it is given and nothing else.
 */
export {
  type Bits,
  bitAt,
  bitsFromText,
  bitsOf,
  bitsToText,
  commonBits,
  compareBits,
  concatBits,
  equalBits,
  isBits,
  sliceBits,
  startsWith,
} from './bits.ts';
export * as cage from './cardano/cage/index.ts';
export * as csmt from './csmt/index.ts';
export * from './document.ts';
export * from './document-json.ts';
export { addressIn, FAMILY_NAMES, type FamilyName, ownerHash } from './families.ts';
export * as mmr from './mmr/index.ts';
export * as mpf from './mpf/index.ts';
export {
  MemoryNodes,
  NodeOverlay,
  type NodeReader,
  type NodeSink,
  type NodeWrite,
  sinkWithin,
  within,
  writeAll,
} from './node-store.ts';
export { encodeTxIn } from './utxo.ts';
export type { Refused, Verdict } from './verdict.ts';
