/**
 * A proof document: what is claimed, the proof, and the root it is for, so that
 * one file is enough to be convinced by. Verifying needs no store and no
 * network, and trusts only the root that it is given.
 *
 * A claim is bytes that the root commits to, never words about them. The name
 * of the network and the point are words: they say where to ask somebody else
 * for the root, and nothing shows that they are true.
 */
import { equalBytes } from '../util/bytes.ts';
import { blake2b256 } from '../util/hash.ts';
import { sha256 } from '../util/sha256.ts';
import type { CompletenessProof, ExclusionProof, InclusionProof } from './csmt/proof.ts';
import type { Root } from './csmt/tree.ts';
import { type Outpoint, type UtxoEntry, verifyNoUtxo, verifyOwner, verifyUtxo } from './csmt/utxo.ts';
import { type UtxoProof, verifySpent, verifyUnspent } from './mmr/unspent.ts';
import { leafContent } from './mmr/utxo.ts';
import { claim, isHash, type Verdict } from './verdict.ts';

export type Family = 'cardano' | 'bitcoin';

/** Where the root is said to be from; the hash as people write it. */
export interface DocumentPoint {
  readonly height: number;
  readonly slot: number;
  readonly hash: string;
}

interface Head {
  readonly network: string;
  /** How ids are written, and how the bytes of an owner become its hash. */
  readonly family: Family;
  /** Null: before the first block. */
  readonly point: DocumentPoint | null;
  /** Null: of the empty tree. */
  readonly root: Root;
}

export interface OwnerClaim {
  /** The hash that stands in the tree. */
  readonly owner: Uint8Array;
  /** What it is a hash of: a raw address or a script. Null: not said. */
  readonly address: Uint8Array | null;
}

/** The output is unspent. */
export interface InclusionDocument extends Head {
  readonly kind: 'csmt-inclusion';
  readonly claim: UtxoEntry & { readonly owner: Uint8Array };
  readonly proof: InclusionProof;
}

/** The owner has no such unspent output. */
export interface AbsenceDocument extends Head {
  readonly kind: 'csmt-absent';
  readonly claim: OwnerClaim & Outpoint;
  readonly proof: ExclusionProof;
}

/** These are all unspent outputs of the owner. */
export interface CompleteDocument extends Head {
  readonly kind: 'csmt-complete';
  readonly claim: OwnerClaim & { readonly outputs: readonly UtxoEntry[] };
  readonly proof: CompletenessProof;
}

/** The output was created, and is unspent; or is spent. */
export interface RangeDocument extends Head {
  readonly kind: 'mmr-unspent' | 'mmr-spent';
  readonly claim: UtxoEntry;
  readonly proof: UtxoProof;
}

export type ProofDocument = InclusionDocument | AbsenceDocument | CompleteDocument | RangeDocument;
export type ProofKind = ProofDocument['kind'];

/** The claim holds at the point that this root is of (null: the empty tree). */
export function verifyDocument(document: ProofDocument, root: Root): Verdict {
  if (!sameRoot(document.root, root)) return { ok: false, why: 'the document is about another root' };
  switch (document.kind) {
    case 'csmt-inclusion':
      return verifyUtxo(root, document.claim.owner, document.claim, document.proof);
    case 'csmt-absent':
      return ownerRefused(document) ?? verifyNoUtxo(root, document.claim.owner, document.claim, document.proof);
    case 'csmt-complete':
      return ownerRefused(document) ?? verifyOwner(root, document.claim.owner, document.claim.outputs, document.proof);
    default:
      return verifyRange(document, root);
  }
}

function verifyRange({ kind, claim: { txId, index, txOut }, proof }: RangeDocument, root: Root): Verdict {
  if (root === null) return { ok: false, why: 'a mountain range has a root, even an empty one' };
  const leaf = claim(() => ({ content: leafContent(txId, index, txOut) }));
  if (!leaf.ok) return leaf;
  return kind === 'mmr-unspent' ? verifyUnspent(root, leaf.content, proof) : verifySpent(root, leaf.content, proof);
}

function sameRoot(a: Root, b: Root): boolean {
  return a === null || b === null ? a === b : isHash(a) && equalBytes(a, b);
}

/** An address that stands beside the hash of an owner must be the one it is the hash of. */
function ownerRefused({ family, claim: { owner, address } }: AbsenceDocument | CompleteDocument): Verdict | null {
  if (address === null || equalBytes(ownerHash(family, address), owner)) return null;
  return { ok: false, why: 'the address is not that of the owner' };
}

/** From a raw address (Cardano) or a script (the Bitcoin family) to the hash of the owner. */
export function ownerHash(family: Family, address: Uint8Array): Uint8Array {
  return family === 'bitcoin' ? sha256(address) : blake2b256(address);
}
