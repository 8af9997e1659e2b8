/**
 * `unspent/proofs`: proof documents and their verifier, and the Merkle structures
 * below them. Pure: no I/O, nothing of Node's, so it runs in a browser too. A
 * verifier trusts the root it is given and nothing else.
 */

import './util/node-version.ts';

/** Cages (the MPFS protocol): verifies what a server says of tokens, facts and requests. */
export * as cage from './proofs/cardano/cage/index.ts';
/** Compact sparse Merkle tree: entries under bit keys, with proofs that one is there, that one is not, and that a set is complete. */
export * as csmt from './proofs/csmt/api.ts';
export {
  type AbsenceDocument,
  addressIn,
  type Bits,
  bitAt,
  bitsFromText,
  bitsOf,
  bitsToText,
  type CompleteDocument,
  commonBits,
  compareBits,
  concatBits,
  type DocumentHead,
  type DocumentPoint,
  documentFromJson,
  documentFromText,
  documentToJson,
  type EntryJson,
  encodeTxIn,
  equalBits,
  type FamilyName,
  type InclusionDocument,
  isBits,
  MemoryNodes,
  NodeOverlay,
  type NodeReader,
  type NodeSink,
  type NodeWrite,
  type OutpointJson,
  type OwnerClaim,
  type OwnerJson,
  ownerHash,
  type ProofDocument,
  type ProofDocumentJson,
  type ProofKind,
  type RangeDocument,
  type Refused,
  sinkWithin,
  sliceBits,
  startsWith,
  type Trusted,
  type Verdict,
  verifyDocument,
  within,
  writeAll,
} from './proofs/index.ts';
/** Merkle mountain ranges, and the range over all outputs with the bitmap that makes "unspent" provable. */
export * as mmr from './proofs/mmr/api.ts';
/** Merkle Patricia Forestry: keys and values by hash, with proofs that scripts on chain verify, too. */
export * as mpf from './proofs/mpf/index.ts';
