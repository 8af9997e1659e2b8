/**
 * Proof documents as JSON: what `prove` prints, the server answers with, and
 * `verify-proof` reads. Read strictly: exactly the fields that belong there.
 * Where a proof has a CBOR form too it stands beside, and must be the same proof.
 */
import { equalBytes, toHex } from '../util/bytes.ts';
import { encodeCompleteness, encodeExclusion, encodeInclusion } from './csmt/cbor.ts';
import {
  type CompletenessJson,
  completenessFromJson,
  completenessToJson,
  type ExclusionJson,
  exclusionFromJson,
  exclusionToJson,
  type InclusionJson,
  inclusionFromJson,
  inclusionToJson,
} from './csmt/json.ts';
import type { Outpoint, UtxoEntry } from './csmt/utxo.ts';
import type { DocumentPoint, OwnerClaim, ProofDocument, ProofKind } from './document.ts';
import { FAMILY_NAMES, type FamilyName, writtenOrder } from './families.ts';
import { arrayAt, countAt, type Fields, hexAt, objectAt } from './json.ts';
import { parseExactJson } from './json-text.ts';
import { type UtxoProofJson, utxoProofFromJson, utxoProofToJson } from './mmr/unspent.ts';
import { HASH_BYTES, malformed } from './verdict.ts';

/** An output by name. */
export interface OutpointJson {
  /** As people write it: of the Bitcoin family from the last byte to the first. */
  readonly tx_hash: string;
  /** Which of its transaction's outputs it is. */
  readonly output_index: number;
}

/** An output with its bytes. */
export interface EntryJson extends OutpointJson {
  /** The bytes that the leaf stands for. */
  readonly output: string;
}

/** The owner that a claim is about. */
export interface OwnerJson {
  /** The hash that stands in the tree, in hex. */
  readonly owner: string;
  /** What it is a hash of, in hex: a raw address or a script. */
  readonly address?: string;
}

/** A proof document as it is handed over (docs/proofs.md). */
export interface ProofDocumentJson {
  /** What it claims. */
  readonly kind: ProofKind;
  /** The network it is about. */
  readonly network: string;
  /** The family of that network. */
  readonly family: FamilyName;
  /** The block it is said to be of; null: before the first. */
  readonly point: DocumentPoint | null;
  /** The root it is for, in hex; null: of the empty tree. */
  readonly root: string | null;
  /** What is claimed. */
  readonly claim: OutpointJson | EntryJson | (OwnerJson & { readonly outputs: readonly EntryJson[] });
  /** What shows it. */
  readonly proof: InclusionJson | ExclusionJson | CompletenessJson | UtxoProofJson;
  /** The same proof in CBOR, in hex. */
  readonly cbor?: string;
}

const KINDS: readonly ProofKind[] = ['csmt-inclusion', 'csmt-absent', 'csmt-complete', 'mmr-unspent', 'mmr-spent'];
const FIELDS = ['kind', 'network', 'family', 'point', 'root', 'claim', 'proof'] as const;
const NAME_CHARS_MAX = 100;

/** Writes a document as JSON. */
export function documentToJson(document: ProofDocument): ProofDocumentJson {
  const { kind, network, family, point, root } = document;
  const head = { kind, network, family, point, root: root === null ? null : toHex(root) };
  switch (document.kind) {
    case 'csmt-inclusion': {
      const claim = { ...entryJson(document.claim, family), owner: toHex(document.claim.owner) };
      return { ...head, claim, proof: inclusionToJson(document.proof), cbor: toHex(encodeInclusion(document.proof)) };
    }
    case 'csmt-absent': {
      const claim = { ...ownerJson(document.claim), ...outpointJson(document.claim, family) };
      return { ...head, claim, proof: exclusionToJson(document.proof), cbor: toHex(encodeExclusion(document.proof)) };
    }
    case 'csmt-complete': {
      const outputs = document.claim.outputs.map((entry) => entryJson(entry, family));
      const claim = { ...ownerJson(document.claim), outputs };
      return { ...head, claim, proof: completenessToJson(document.proof), cbor: toHex(encodeCompleteness(document.proof)) };
    }
    default:
      return { ...head, claim: entryJson(document.claim, family), proof: utxoProofToJson(document.proof) };
  }
}

/** Throws USAGE for what is no document, and for what another reader might take for another one. That it is one says nothing about whether it holds. */
export function documentFromText(text: string): ProofDocument {
  return documentFromJson(parseExactJson(text));
}

/** The same from a value. Who has the text uses `documentFromText`: a parser before this one may have dropped fields written twice. */
export function documentFromJson(json: unknown): ProofDocument {
  const fields = withOptional(json, 'the document', FIELDS, 'cbor');
  const kind = wordAt(fields['kind'], 'kind', KINDS);
  const family = wordAt(fields['family'], 'family', FAMILY_NAMES);
  const root = fields['root'] === null ? null : hexAt(fields['root'], 'root', HASH_BYTES);
  const head = { network: nameAt(fields['network']), family, point: pointAt(fields['point']), root };
  const { claim, proof } = fields;
  switch (kind) {
    case 'csmt-inclusion': {
      const read = inclusionFromJson(proof);
      checkCbor(fields, encodeInclusion(read));
      const { owner } = objectAt(claim, 'claim', ['tx_hash', 'output_index', 'output', 'owner']);
      return { ...head, kind, claim: { ...entryAt(claim as Fields, 'claim', family), owner: hashAt(owner, 'claim.owner') }, proof: read };
    }
    case 'csmt-absent': {
      const read = exclusionFromJson(proof);
      checkCbor(fields, encodeExclusion(read));
      const parts = withOptional(claim, 'claim', ['owner', 'tx_hash', 'output_index'], 'address');
      return { ...head, kind, claim: { ...ownerAt(parts), ...outpointAt(parts, 'claim', family) }, proof: read };
    }
    case 'csmt-complete': {
      const read = completenessFromJson(proof);
      checkCbor(fields, encodeCompleteness(read));
      const parts = withOptional(claim, 'claim', ['owner', 'outputs'], 'address');
      return { ...head, kind, claim: { ...ownerAt(parts), outputs: entriesAt(parts['outputs'], family) }, proof: read };
    }
    default:
      if (fields['cbor'] !== undefined) malformed(`a document of ${kind} has no cbor`);
      objectAt(claim, 'claim', ['tx_hash', 'output_index', 'output']);
      return { ...head, kind, claim: entryAt(claim as Fields, 'claim', family), proof: utxoProofFromJson(proof) };
  }
}

function outpointJson({ txId, index }: Outpoint, family: FamilyName): OutpointJson {
  return { tx_hash: toHex(writtenOrder(txId, family)), output_index: index };
}

function entryJson(entry: UtxoEntry, family: FamilyName): EntryJson {
  return { ...outpointJson(entry, family), output: toHex(entry.txOut) };
}

function ownerJson({ owner, address }: OwnerClaim): OwnerJson {
  return { owner: toHex(owner), ...(address === null ? {} : { address: toHex(address) }) };
}

function outpointAt(fields: Fields, at: string, family: FamilyName): Outpoint {
  const id = hashAt(fields['tx_hash'], `${at}.tx_hash`);
  return { txId: writtenOrder(id, family), index: countAt(fields['output_index'], `${at}.output_index`) };
}

function entryAt(fields: Fields, at: string, family: FamilyName): UtxoEntry {
  return { ...outpointAt(fields, at, family), txOut: hexAt(fields['output'], `${at}.output`) };
}

function entriesAt(value: unknown, family: FamilyName): UtxoEntry[] {
  return arrayAt(value, 'claim.outputs').map((entry, i) => {
    const at = `claim.outputs[${i}]`;
    return entryAt(objectAt(entry, at, ['tx_hash', 'output_index', 'output']), at, family);
  });
}

function ownerAt(fields: Fields): OwnerClaim {
  const { address } = fields;
  return { owner: hashAt(fields['owner'], 'claim.owner'), address: address === undefined ? null : hexAt(address, 'claim.address') };
}

function hashAt(value: unknown, at: string): Uint8Array {
  return hexAt(value, at, HASH_BYTES);
}

function pointAt(value: unknown): DocumentPoint | null {
  if (value === null) return null;
  const { height, slot, hash } = objectAt(value, 'point', ['height', 'slot', 'hash']);
  return { height: countAt(height, 'point.height'), slot: countAt(slot, 'point.slot'), hash: toHex(hashAt(hash, 'point.hash')) };
}

function nameAt(value: unknown): string {
  if (typeof value !== 'string' || !/^[a-z0-9-]+$/.test(value) || value.length > NAME_CHARS_MAX) malformed('network is not a name');
  return value;
}

function wordAt<W extends string>(value: unknown, at: string, words: readonly W[]): W {
  return words.find((word) => word === value) ?? malformed(`${at} is none of ${words.join(', ')}`);
}

/** An object with exactly these fields, and perhaps one more. */
function withOptional(value: unknown, at: string, names: readonly string[], optional: string): Fields {
  const has = typeof value === 'object' && value !== null && Object.hasOwn(value, optional);
  return objectAt(value, at, has ? [...names, optional] : names);
}

function checkCbor({ cbor }: Fields, wanted: Uint8Array): void {
  if (cbor !== undefined && !equalBytes(hexAt(cbor, 'cbor'), wanted)) malformed('cbor is another proof than the one beside it');
}
