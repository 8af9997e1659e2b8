/**
 * Proofs of the merged root: that an output was created, and that it is unspent
 * (or spent) at the point the root is of. A leaf proof leads to the root of the
 * range, a chunk of the bitmap with its proof to the root of the bitmap, both
 * together to the merged root.
 *
 * Where the chunk of a leaf is at the right end and all zero, it does not count;
 * the proof then shows the last chunk that does, and with it that the leaf lies
 * behind. Absence of an output that never was cannot be shown here: see the CSMT.
 */
import { equalBytes, toHex } from '../../util/bytes.ts';
import { hexAt, objectAt } from '../json.ts';
import type { NodeReader } from '../node-store.ts';
import { check, checkHash, type Refused, type Verdict, verdictOf } from '../verdict.ts';
import { CHUNK_BYTES, chunkOf, hasBit, isZero, readChunk } from './bitmap.ts';
import { EMPTY_ROOT } from './hash.ts';
import { leavesIn, sizeOf } from './positions.ts';
import { type MmrProof, type MmrProofJson, proofFromJson, proofToJson, proveLeaf, rootFrom } from './proof.ts';
import { mergedRoot, type UtxoMmr, type UtxoSpaces } from './utxo.ts';

/** That an output was created, and that it is unspent or spent. */
export interface UtxoProof {
  /** That it was created. */
  readonly leaf: MmrProof;
  /** Null: nothing at all is unspent. */
  readonly bits: { readonly chunk: Uint8Array; readonly proof: MmrProof } | null;
}

/** What a proof shows of an output. */
export type UtxoStatus = 'unspent' | 'spent';

/** The rows that a proof needs. */
export type ProofSpaces<T> = Omit<UtxoSpaces<T>, 'pruned'>;

/** Refused with PRUNED when the leaf was compacted away. */
export function proveUtxo(nodes: ProofSpaces<NodeReader>, { range, bitmap }: UtxoMmr, leafIndex: number): UtxoProof {
  const leaf = proveLeaf(nodes.nodes, range.size, leafIndex);
  if (bitmap.chunkCount === 0) return { leaf, bits: null };
  const chunk = Math.min(chunkOf(leafIndex), bitmap.chunkCount - 1);
  const proof = proveLeaf(nodes.chunkNodes, sizeOf(bitmap.chunkCount), chunk);
  return { leaf, bits: { chunk: readChunk(nodes.chunks, chunk), proof } };
}

/** The output with this leaf content was created and is unspent. */
export function verifyUnspent(merged: Uint8Array, content: Uint8Array, proof: UtxoProof): Verdict {
  return expectStatus(merged, content, proof, 'unspent');
}

/** The output with this leaf content was created and is spent. */
export function verifySpent(merged: Uint8Array, content: Uint8Array, proof: UtxoProof): Verdict {
  return expectStatus(merged, content, proof, 'spent');
}

function expectStatus(merged: Uint8Array, content: Uint8Array, proof: UtxoProof, wanted: UtxoStatus): Verdict {
  const verdict = verifyUtxo(merged, content, proof);
  return verdict.ok && verdict.status !== wanted ? { ok: false, why: `the output is ${verdict.status}` } : verdict;
}

/** What the proof shows of the output with this leaf content: one of the two, or nothing. */
export function verifyUtxo(
  merged: Uint8Array,
  content: Uint8Array,
  { leaf, bits }: UtxoProof,
): { readonly ok: true; readonly status: UtxoStatus } | Refused {
  return verdictOf(() => {
    checkHash(merged, 'the root');
    checkHash(content, 'the content of the leaf');
    const pmmrRoot = rootFrom(content, leaf);
    const bitmapRoot = bits === null ? EMPTY_ROOT : bitmapRootFrom(bits);
    check(equalBytes(mergedRoot(leaf.mmrSize, pmmrRoot, bitmapRoot), merged), 'the proof leads to another root');
    return { status: bits === null ? 'spent' : statusIn(bits, leaf.leafIndex) };
  });
}

function bitmapRootFrom({ chunk, proof }: NonNullable<UtxoProof['bits']>): Uint8Array {
  check(chunk.length === CHUNK_BYTES, `a chunk is not ${CHUNK_BYTES} bytes`);
  return rootFrom(chunk, proof);
}

function statusIn({ chunk, proof }: NonNullable<UtxoProof['bits']>, leafIndex: number): UtxoStatus {
  const last = leavesIn(proof.mmrSize) - 1;
  check(proof.leafIndex !== last || !isZero(chunk), 'the last chunk has no bit');
  const wanted = chunkOf(leafIndex);
  if (wanted > last) {
    check(proof.leafIndex === last, 'the chunk is not the last one');
    return 'spent';
  }
  check(proof.leafIndex === wanted, 'the chunk is of other leaves');
  return hasBit(chunk, leafIndex) ? 'unspent' : 'spent';
}

/** A proof as JSON. */
export interface UtxoProofJson {
  /** That it was created. */
  readonly leaf: MmrProofJson;
  /** The chunk of the bitmap with the output's bit, in hex, and its proof; null: nothing at all is unspent. */
  readonly bits: { readonly chunk: string; readonly proof: MmrProofJson } | null;
}

/** Writes a proof as JSON. */
export function utxoProofToJson({ leaf, bits }: UtxoProof): UtxoProofJson {
  return { leaf: proofToJson(leaf), bits: bits === null ? null : { chunk: toHex(bits.chunk), proof: proofToJson(bits.proof) } };
}

/** Reads a proof from JSON; `at` names it in messages. Throws USAGE. */
export function utxoProofFromJson(json: unknown, at = 'proof'): UtxoProof {
  const { leaf, bits } = objectAt(json, at, ['leaf', 'bits']);
  if (bits === null) return { leaf: proofFromJson(leaf, `${at}.leaf`), bits: null };
  const { chunk, proof } = objectAt(bits, `${at}.bits`, ['chunk', 'proof']);
  return {
    leaf: proofFromJson(leaf, `${at}.leaf`),
    bits: { chunk: hexAt(chunk, `${at}.bits.chunk`, CHUNK_BYTES), proof: proofFromJson(proof, `${at}.bits.proof`) },
  };
}
