/**
 * Proofs that a leaf stands in a mountain range: the siblings on the way to its
 * peak, the peaks to the right bagged into one, the peaks to the left. A proof
 * holds for one size of the range. It shows that the leaf came into being, not
 * that it is still unspent: for that see unspent.ts.
 */
import { equalBytes, readBigU64, toHex, writeU64 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { arrayAt, decimalAt, hexAt, objectAt } from '../json.ts';
import type { NodeReader } from '../node-store.ts';
import { check, checkHash, HASH_BYTES, malformed, type Verdict, verdictOf } from '../verdict.ts';
import { INDEXED, type MmrRule } from './hash.ts';
import { climbFrom, isSize, leafPosition, leavesIn } from './positions.ts';
import { bag, nodeKey } from './range.ts';

/** That a leaf stands in a range of that size. */
export interface MmrProof {
  /** Nodes of the range the proof is for. */
  readonly mmrSize: number;
  /** Which leaf it is, from 0. */
  readonly leafIndex: number;
  /** The hashes on the way to the root. */
  readonly path: readonly Uint8Array[];
}

const HEAD_BYTES = 16;

/** Refused with PRUNED when compaction took away what the proof needs. */
export function proveLeaf(nodes: NodeReader, mmrSize: number, leafIndex: number, rule: MmrRule = INDEXED): MmrProof {
  if (!isSize(mmrSize) || !Number.isInteger(leafIndex) || leafIndex < 0 || leafIndex >= leavesIn(mmrSize)) {
    throw new UnspentError('USAGE', `no leaf ${leafIndex} in a mountain range of ${mmrSize} nodes`);
  }
  const { families, peaks, peak } = climbFrom(leafPosition(leafIndex), mmrSize);
  const positions = [...families.map(({ sibling }) => sibling), ...peaks.filter((_, i) => i !== peak)];
  const hashes = nodes.getMany(positions.map(nodeKey)).map((hash, i) => hash ?? pruned(positions[i]));
  const siblings = hashes.slice(0, families.length);
  const left = hashes.slice(families.length, families.length + peak);
  const right = hashes.slice(families.length + peak);
  const bagged = right.length === 0 ? [] : [bag(mmrSize, right, rule)];
  return { mmrSize, leafIndex, path: [...siblings, ...bagged, ...left.reverse()] };
}

function pruned(position: number): never {
  throw new UnspentError('PRUNED', `node ${position} of the mountain range was compacted away`, { position });
}

/** The leaf with this content stands at this index in the range with this root. */
export function verifyLeaf(root: Uint8Array, leafIndex: number, content: Uint8Array, proof: MmrProof, rule: MmrRule = INDEXED): Verdict {
  return verdictOf(() => {
    checkHash(root, 'the root');
    check(proof.leafIndex === leafIndex, 'the proof is of another leaf');
    check(equalBytes(rootFrom(content, proof, rule), root), 'the proof leads to another root');
    return {};
  });
}

/** The root that the proof leads to; inside `verdictOf`. */
export function rootFrom(content: Uint8Array, { mmrSize, leafIndex, path }: MmrProof, rule: MmrRule = INDEXED): Uint8Array {
  check(isSize(mmrSize), 'no mountain range has that size');
  check(Number.isInteger(leafIndex) && leafIndex >= 0 && leafIndex < leavesIn(mmrSize), 'the leaf is not in the range');
  const position = leafPosition(leafIndex);
  const { families, peaks, peak } = climbFrom(position, mmrSize);
  const hasRight = peak < peaks.length - 1;
  check(path.length === families.length + (hasRight ? 1 : 0) + peak, 'the path has the wrong length');
  for (const hash of path) checkHash(hash, 'a hash of the path');
  let root = rule.leaf(position, content);
  families.forEach(({ parent, right }, i) => {
    root = right ? rule.parent(parent, path[i], root) : rule.parent(parent, root, path[i]);
  });
  let next = families.length;
  if (hasRight) root = rule.bag(mmrSize, root, path[next++]);
  while (next < path.length) root = rule.bag(mmrSize, path[next++], root);
  return root;
}

/** `u64 size, u64 count, hashes`. The leaf index is not a part of it. */
export function encodeProof({ mmrSize, path }: MmrProof): Uint8Array {
  const out = new Uint8Array(HEAD_BYTES + HASH_BYTES * path.length);
  writeU64(out, 0, mmrSize);
  writeU64(out, 8, path.length);
  path.forEach((hash, i) => {
    out.set(hash, HEAD_BYTES + HASH_BYTES * i);
  });
  return out;
}

/** Reads a proof; which leaf it is for the caller says. Throws USAGE. */
export function decodeProof(bytes: Uint8Array, leafIndex: number): MmrProof {
  if (bytes.length < HEAD_BYTES) malformed('a mountain range proof is cut');
  const mmrSize = readBigU64(bytes, 0);
  const count = readBigU64(bytes, 8);
  if (mmrSize > Number.MAX_SAFE_INTEGER) malformed('a mountain range of more than 2^53 nodes');
  if (count * BigInt(HASH_BYTES) !== BigInt(bytes.length - HEAD_BYTES))
    malformed('a mountain range proof with another number of hashes than it says');
  const path = Array.from({ length: Number(count) }, (_, i) => bytes.slice(HEAD_BYTES + HASH_BYTES * i, HEAD_BYTES + HASH_BYTES * (i + 1)));
  return { mmrSize: Number(mmrSize), leafIndex, path };
}

/** A proof as JSON. */
export interface MmrProofJson {
  /** Nodes of the range, in decimal. */
  readonly mmrSize: string;
  /** Which leaf it is, in decimal. */
  readonly leafIndex: string;
  /** The hashes on the way to the root, in hex. */
  readonly path: readonly string[];
}

/** Writes a proof as JSON. */
export function proofToJson({ mmrSize, leafIndex, path }: MmrProof): MmrProofJson {
  return { mmrSize: `${mmrSize}`, leafIndex: `${leafIndex}`, path: path.map((hash) => toHex(hash)) };
}

/** Reads a proof from JSON; `at` names it in messages. Throws USAGE. */
export function proofFromJson(json: unknown, at = 'proof'): MmrProof {
  const { mmrSize, leafIndex, path } = objectAt(json, at, ['mmrSize', 'leafIndex', 'path']);
  return {
    mmrSize: decimalAt(mmrSize, `${at}.mmrSize`),
    leafIndex: decimalAt(leafIndex, `${at}.leafIndex`),
    path: arrayAt(path, `${at}.path`).map((hash, i) => hexAt(hash, `${at}.path[${i}]`, HASH_BYTES)),
  };
}
