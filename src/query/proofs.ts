/**
 * Proofs of what the store says, at one point of the chain: its roots, and
 * documents (`proofs/document.ts`) that hold for them. The structures they come
 * from are switched on one by one; what is not kept is UNSUPPORTED, by name.
 */
import type { Ledger, OutputLeaf } from '../ledgers/ledger.ts';
import { outpointKey } from '../ledgers/outpoint.ts';
import { CSMT } from '../projections/csmt/csmt.ts';
import { MMR } from '../projections/mmr/rows.ts';
import { switchOf } from '../projections/registry.ts';
import { SET_HASH } from '../projections/set-hash/set-hash.ts';
import {
  type AbsenceDocument,
  type CompleteDocument,
  csmt,
  type DocumentPoint,
  type FamilyName,
  type InclusionDocument,
  type mmr,
  type ProofDocument,
  type RangeDocument,
  verifyDocument,
} from '../proofs/index.ts';
import { equalBytes, toHex } from '../util/bytes.ts';
import { Cursor } from '../util/cbor.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { switchText } from '../util/setting.ts';
import type { Dialect, NamedOwner } from './dialect.ts';
import type { PastParts, Query } from './query.ts';
import { renderPoint } from './render.ts';
import type { Utxo } from './utxo.ts';
import type { ChainView } from './view.ts';

/** The tree over the unspent set, as it was at one point (`proofs-csmt.ts`). */
export interface CsmtProofs {
  /** Null: of the empty tree. */
  root(): csmt.Root;
  /** Null: the owner has no such unspent output. */
  inclusion(owner: Uint8Array, outpoint: csmt.Outpoint): csmt.InclusionProof | null;
  /** Null: it has. */
  absence(owner: Uint8Array, outpoint: csmt.Outpoint): csmt.ExclusionProof | null;
  /** All outputs of an owner. Throws LIMIT when there are more. */
  complete(owner: Uint8Array, outputsMax: number): csmt.CompleteSet;
}

/** The mountain range over all outputs, as it was at one point (`proofs-mmr.ts`). */
export interface MmrProofs {
  /** Nodes of the range, and its roots. */
  roots(): mmr.UtxoRoots & { readonly size: number };
  /** Null: there is no such output at this point, or it was compacted away. */
  leafIndex(txId: Uint8Array, index: number): number | null;
  /** Throws PRUNED when the leaf was compacted away. */
  prove(leafIndex: number): mmr.UtxoProof;
}

/** Of the chain as a whole, in hex: those that are on and ready. */
export interface Roots {
  /** The merged root: of everything ever created, and of what is unspent. */
  readonly mmr?: string;
  /** Null: of the empty tree. */
  readonly csmt?: string | null;
  /** The hash of the unspent set (`proofs.setHash`). */
  readonly setHash?: string;
  /** What the merged root is made of. */
  readonly mmrDetails?: MmrDetails;
}

/** The parts of the mountain range's merged root. */
export interface MmrDetails {
  /** Nodes of the range. */
  readonly size: number;
  /** The root of the range over every output ever created, in hex. */
  readonly root: string;
  /** The root of the bitmap of what is unspent, in hex. */
  readonly bitmap: string;
}

/** What proofs have to know of the chain and the store. */
export interface Provable {
  readonly network: {
    readonly name: string;
    readonly family: { readonly name: FamilyName };
    readonly ledger: Ledger;
    readonly dialect: Dialect;
  };
  /** Names of the projections the store keeps. */
  readonly projections: readonly string[];
}

export type Tree = 'csmt' | 'mmr';

/** Names of the structures that have a root, each with the setting that switches it on. */
export const ROOT_SETTINGS: Readonly<Record<string, string>> = Object.fromEntries(
  [MMR, CSMT, SET_HASH].map((name) => [name, switchText(switchOf(name))]),
);

export class Prover {
  private readonly query: Query;
  private readonly view: ChainView;
  private readonly provable: Provable;

  /** `view` is the query itself, or a past of it. */
  constructor(query: Query, view: ChainView, provable: Provable) {
    this.query = query;
    this.view = view;
    this.provable = provable;
  }

  /** Where all of it holds; null: before the first block. */
  get point(): DocumentPoint | null {
    return renderPoint(this.view.head, this.dialect);
  }

  roots(): Roots {
    const range = this.isReady(MMR) ? this.mmr().roots() : null;
    const tree = this.isReady(CSMT) ? this.csmt().root() : undefined;
    const set = this.isReady(SET_HASH) ? this.setHash() : null;
    return {
      ...(range === null ? {} : { mmr: toHex(range.merged) }),
      ...(tree === undefined ? {} : { csmt: tree === null ? null : toHex(tree) }),
      ...(set === null ? {} : { setHash: set }),
      ...(range === null ? {} : { mmrDetails: detailsOf(range) }),
    };
  }

  /** Throws UNSUPPORTED when the store keeps no tree. */
  csmtRoot(): string | null {
    const root = this.csmt().root();
    return root === null ? null : toHex(root);
  }

  /** Throws UNSUPPORTED when the store keeps no range. */
  mmrRoots(): MmrDetails & { readonly merged: string } {
    const roots = this.mmr().roots();
    return { ...detailsOf(roots), merged: toHex(roots.merged) };
  }

  /** Where an output stands in the range. Throws NOT_FOUND. */
  leafIndex(txId: Uint8Array, index: number): number {
    return this.mmr().leafIndex(txId, index) ?? this.lost(txId, index, 'is not in the mountain range');
  }

  /** That an output is unspent; from the range also that it is spent. Where the store has both, from the tree unless only the range can show it. */
  outpoint(txId: Uint8Array, index: number, tree?: Tree): InclusionDocument | RangeDocument {
    const found = this.view.outpoint(txId, index) ?? this.lost(txId, index, 'never was, or was spent and forgotten');
    const wanted = tree ?? (this.isReady(MMR) && (found.spent !== null || !this.isReady(CSMT)) ? 'mmr' : 'csmt');
    return verified(wanted === 'mmr' ? this.inRange(found) : this.inTree(found));
  }

  /** All unspent outputs of an owner (`Dialect.owner`). Throws LIMIT when there are more than that. */
  address({ hash: owner, bytes: address }: NamedOwner, outputsMax = Number.MAX_SAFE_INTEGER): CompleteDocument {
    const tree = this.csmt();
    const { leaves, proof } = allOf(tree, owner, outputsMax);
    const outputs = this.outputsOf(leaves);
    return { ...this.head(tree.root()), kind: 'csmt-complete', claim: { owner, address, outputs }, proof };
  }

  /** That an owner has no such unspent output. Throws NOT_FOUND when it has. */
  absent({ hash: owner, bytes: address }: NamedOwner, txId: Uint8Array, index: number): AbsenceDocument {
    const tree = this.csmt();
    const proof = tree.absence(owner, { txId, index }) ?? this.lost(txId, index, 'is unspent and belongs to this owner: it is not absent');
    return { ...this.head(tree.root()), kind: 'csmt-absent', claim: { owner, address, txId, index }, proof };
  }

  /** What of a past these take (`Query.pastSteps`): those of them that there are. */
  static partsOf(query: Query, { network: { ledger }, projections }: Provable, names: readonly string[]): PastParts {
    const has = (name: string): boolean => names.includes(name) && projections.includes(name) && !query.filling().has(name);
    return {
      ...(has(SET_HASH) && ledger.setHash !== undefined ? { setHash: ledger.setHash } : {}),
      ...(has(CSMT) && ledger.leaf !== undefined ? { leaf: ledger.leaf } : {}),
      mmr: has(MMR),
    };
  }

  private get dialect(): Dialect {
    return this.provable.network.dialect;
  }

  private get leaf(): OutputLeaf {
    const { leaf } = this.provable.network.ledger;
    if (leaf !== undefined) return leaf;
    throw new UnspentError('UNSUPPORTED', `this version has no trees for '${this.provable.network.name}'`);
  }

  private isReady(projection: string): boolean {
    return this.provable.projections.includes(projection) && !this.query.filling().has(projection);
  }

  private csmt(): CsmtProofs {
    return this.query.csmt(this.leaf, this.view.head);
  }

  private mmr(): MmrProofs {
    return this.query.mmr(this.view.head);
  }

  private setHash(): string | null {
    const { setHash } = this.provable.network.ledger;
    return setHash === undefined ? null : (this.query.setHashAt(setHash, this.view.head)?.hash ?? null);
  }

  private head(root: csmt.Root): Pick<ProofDocument, 'network' | 'family' | 'point' | 'root'> {
    const { name: network, family } = this.provable.network;
    return { network, family: family.name, point: this.point, root };
  }

  private inTree({ txId, index, output: { raw }, spent }: Utxo): InclusionDocument {
    const tree = this.csmt();
    if (spent !== null) this.lost(txId, index, 'is spent; an absence at its owner can be proven');
    const owner = this.leaf.owner(raw, 0, raw.length);
    const proof = tree.inclusion(owner, { txId, index });
    if (proof === null) throw damaged(`the tree lacks ${this.nameOf(txId, index)}, which is unspent`);
    const txOut = this.leaf.content(raw, 0, raw.length);
    return { ...this.head(tree.root()), kind: 'csmt-inclusion', claim: { owner, txId, index, txOut }, proof };
  }

  private inRange({ txId, index, output: { raw }, spent }: Utxo): RangeDocument {
    const range = this.mmr();
    const leafIndex = range.leafIndex(txId, index) ?? this.lost(txId, index, 'is not in the mountain range any more');
    const kind = spent === null ? 'mmr-unspent' : 'mmr-spent';
    const claim = { txId, index, txOut: this.leaf.content(raw, 0, raw.length) };
    return { ...this.head(range.roots().merged), kind, claim, proof: range.prove(leafIndex) };
  }

  /** The outputs that leaves of the tree stand for. */
  private outputsOf(leaves: readonly csmt.Leaf[]): csmt.UtxoEntry[] {
    const outpoints = leaves.map(({ key }) => outpointIn(key.bytes));
    const found =
      this.view === this.query
        ? this.query.outpoints(outpoints.map(({ txId, index }) => outpointKey(txId, index)))
        : outpoints.map(({ txId, index }) => this.view.outpoint(txId, index));
    return leaves.map(({ value }, i) => {
      const { txId, index } = outpoints[i];
      const raw = found[i]?.output.raw;
      const txOut = raw === undefined ? null : this.leaf.content(raw, 0, raw.length);
      if (txOut === null || !equalBytes(csmt.leafValue(txOut), value)) {
        throw damaged(`the tree has ${this.nameOf(txId, index)}, and the unspent set has another, or none`);
      }
      return { txId, index, txOut };
    });
  }

  private nameOf(txId: Uint8Array, index: number): string {
    return `${this.dialect.formatId(txId)}#${index}`;
  }

  private lost(txId: Uint8Array, index: number, why: string): never {
    const { point } = this;
    const where = point === null ? 'before the first block' : `at height ${point.height}`;
    throw new UnspentError('NOT_FOUND', `output ${this.nameOf(txId, index)} ${why} (${where})`);
  }
}

function detailsOf({ size, pmmrRoot, bitmapRoot }: mmr.UtxoRoots & { readonly size: number }): MmrDetails {
  return { size, root: toHex(pmmrRoot), bitmap: toHex(bitmapRoot) };
}

/** In words of outputs, where the tree speaks of entries. */
function allOf(tree: CsmtProofs, owner: Uint8Array, outputsMax: number): csmt.CompleteSet {
  try {
    return tree.complete(owner, outputsMax);
  } catch (error) {
    if (!isUnspentError(error, 'LIMIT')) throw error;
    const message = `this owner has more than ${outputsMax} unspent outputs, the most that one proof of all of them may have here`;
    throw new UnspentError('LIMIT', message, { limit: outputsMax }, error);
  }
}

const OWNER_BYTES = 32;

/** Of a key of the tree: the owner, then the input in CBOR. */
function outpointIn(key: Uint8Array): csmt.Outpoint {
  const c = new Cursor(key, OWNER_BYTES);
  c.tuple(2, 'input');
  return { txId: c.byteString(), index: c.uint() };
}

/** Verifies a proof before it is given out: if rows of the store are damaged, the caller gets STORE_DAMAGED and not a false proof. */
function verified<D extends ProofDocument>(document: D): D {
  const verdict = verifyDocument(document, document);
  if (!verdict.ok) throw damaged(`a proof that was just made does not hold: ${verdict.why}`);
  return document;
}

function damaged(what: string): UnspentError {
  return new UnspentError('STORE_DAMAGED', what);
}
