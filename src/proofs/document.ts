/**
 * A proof document: what is claimed, the proof, and the root it is for, so that
 * one file is enough to be convinced by. Verifying needs no store and no
 * network, and trusts only what the verifier knows from elsewhere: the root, and
 * which network it is the root of.
 *
 * A claim is bytes that the root commits to, never words about them. Network and
 * family are compared with the verifier's own, because the family decides in
 * which order the bytes of a transaction id are read: a document that could
 * choose it would say of one output what was shown of another. The point is a
 * word: it says where to ask for the root, and nothing shows that it is true.
 */
import { equalBytes } from '../util/bytes.ts';
import { isUnspentError } from '../util/errors.ts';
import type { CompletenessProof, ExclusionProof, InclusionProof } from './csmt/proof.ts';
import type { Root } from './csmt/tree.ts';
import { type Outpoint, type UtxoEntry, verifyNoUtxo, verifyOwner, verifyUtxo } from './csmt/utxo.ts';
import { addressIn, type FamilyName, namesOwnersByHash, ownerHash } from './families.ts';
import { type UtxoProof, verifySpent, verifyUnspent } from './mmr/unspent.ts';
import { leafContent } from './mmr/utxo.ts';
import { claim, isHash, type Refused, type Verdict } from './verdict.ts';

/** What the verifier knows from elsewhere than the document. */
export interface Trusted {
  /** Null: of the empty tree. */
  readonly root: Root;
  /** The network that root is of. */
  readonly network: string;
  /** The family of that network. */
  readonly family: FamilyName;
}

/** Where the root is said to be from; the hash as people write it. */
export interface DocumentPoint {
  /** Its height. */
  readonly height: number;
  /** Its slot; of the Bitcoin family, its height. */
  readonly slot: number;
  /** Its hash, as people of the family write it. */
  readonly hash: string;
}

/** What every document says. */
export interface DocumentHead {
  /** The network it is about. */
  readonly network: string;
  /** How ids are written, how the bytes of an owner become its hash, and what an output looks like. */
  readonly family: FamilyName;
  /** Null: before the first block. */
  readonly point: DocumentPoint | null;
  /** Null: of the empty tree. */
  readonly root: Root;
}

/** The owner that a claim is about. */
export interface OwnerClaim {
  /** The hash that stands in the tree. */
  readonly owner: Uint8Array;
  /** What it is a hash of: a raw address or a script. Null (Bitcoin family only): it goes by its hash, which others call the script hash. */
  readonly address: Uint8Array | null;
}

/** The output is unspent. */
export interface InclusionDocument extends DocumentHead {
  /** That the output is in the set. */
  readonly kind: 'csmt-inclusion';
  /** The output and its owner. */
  readonly claim: UtxoEntry & { readonly owner: Uint8Array };
  /** From the tree over the unspent set. */
  readonly proof: InclusionProof;
}

/** The owner has no such unspent output. */
export interface AbsenceDocument extends DocumentHead {
  /** That the output is not among the owner's. */
  readonly kind: 'csmt-absent';
  /** The owner, and the output it does not have. */
  readonly claim: OwnerClaim & Outpoint;
  /** From the tree over the unspent set. */
  readonly proof: ExclusionProof;
}

/** These are all unspent outputs of the owner. */
export interface CompleteDocument extends DocumentHead {
  /** That these are all. */
  readonly kind: 'csmt-complete';
  /** The owner, and all its unspent outputs. */
  readonly claim: OwnerClaim & { readonly outputs: readonly UtxoEntry[] };
  /** From the tree over the unspent set. */
  readonly proof: CompletenessProof;
}

/**
 * The output was created as the leaf that the proof names, and is unspent; or is spent. An outpoint that was created again after it was
 * spent (the Bitcoin family before BIP34) has a leaf for each time: spent is said of the one leaf, not of the outpoint.
 */
export interface RangeDocument extends DocumentHead {
  /** Which of the two is claimed. */
  readonly kind: 'mmr-unspent' | 'mmr-spent';
  /** The output. */
  readonly claim: UtxoEntry;
  /** From the mountain range over all outputs. */
  readonly proof: UtxoProof;
}

/** A claim with its proof and the root it is for. */
export type ProofDocument = InclusionDocument | AbsenceDocument | CompleteDocument | RangeDocument;
/** What a document claims, and from which structure. */
export type ProofKind = ProofDocument['kind'];

/** The claim holds at the point that the trusted root is of. */
export function verifyDocument(document: ProofDocument, trusted: Trusted): Verdict {
  const { root } = trusted;
  const refused = headRefused(document, trusted) ?? claimRefused(document);
  if (refused !== null) return refused;
  switch (document.kind) {
    case 'csmt-inclusion':
      return verifyUtxo(root, document.claim.owner, document.claim, document.proof);
    case 'csmt-absent':
      return verifyNoUtxo(root, document.claim.owner, document.claim, document.proof);
    case 'csmt-complete':
      return verifyOwner(root, document.claim.owner, document.claim.outputs, document.proof);
    default:
      return verifyRange(document, root);
  }
}

function verifyRange({ kind, claim: { txId, index, txOut }, proof }: RangeDocument, root: Root): Verdict {
  if (root === null) return refuse('a mountain range has a root, even an empty one');
  const leaf = claim(() => ({ content: leafContent(txId, index, txOut) }));
  if (!leaf.ok) return leaf;
  return kind === 'mmr-unspent' ? verifyUnspent(root, leaf.content, proof) : verifySpent(root, leaf.content, proof);
}

function headRefused(document: ProofDocument, { root, network, family }: Trusted): Refused | null {
  if (document.family !== family) return refuse(`the document is of the ${document.family} family, and the root is of the ${family} one`);
  if (document.network !== network) return refuse(`the document is about ${document.network}, and the root is of ${network}`);
  return sameRoot(document.root, root) ? null : refuse('the document is about another root');
}

function sameRoot(a: Root, b: Root): boolean {
  return a === null || b === null ? a === b : isHash(a) && equalBytes(a, b);
}

/** What a claim says about owners must follow from its own bytes, before any proof is looked at. */
function claimRefused(document: ProofDocument): Refused | null {
  const { family } = document;
  switch (document.kind) {
    case 'csmt-inclusion':
      return outputRefused(family, document.claim.txOut, document.claim.owner);
    case 'csmt-absent':
      return ownerRefused(family, document.claim);
    case 'csmt-complete': {
      const { outputs, owner } = document.claim;
      const wrong = outputs.map(({ txOut }) => outputRefused(family, txOut, owner)).find((refused) => refused !== null);
      return ownerRefused(family, document.claim) ?? wrong ?? null;
    }
    default:
      return outputRefused(family, document.claim.txOut, null);
  }
}

/** The owner of a Cardano output is an address, so it has to be said which; of the Bitcoin family a script hash is a name of its own. */
function ownerRefused(family: FamilyName, { owner, address }: OwnerClaim): Refused | null {
  if (address === null) return namesOwnersByHash(family) ? null : refuse('the address of the owner is missing');
  return equalBytes(ownerHash(family, address), owner) ? null : refuse('the address is not that of the owner');
}

/** The bytes are an output of that family, and its own address or script is that of the owner. */
function outputRefused(family: FamilyName, txOut: Uint8Array, owner: Uint8Array | null): Refused | null {
  try {
    const address = addressIn(family, txOut);
    return owner === null || equalBytes(ownerHash(family, address), owner) ? null : refuse('the output is not of that owner');
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return refuse(`the bytes are not an output of the ${family} family: ${error.message}`);
  }
}

function refuse(why: string): Refused {
  return { ok: false, why };
}
