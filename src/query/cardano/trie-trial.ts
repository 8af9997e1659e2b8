/**
 * Operations tried on top of a token's trie, in memory: roots, and the proofs
 * that a Modify transaction carries. They are made one after another, each proof
 * against the trie that the operations before it leave. It reads the snapshot of
 * its query, and is worth nothing when that is released.
 */
import type { Reader } from '../../engine/engine.ts';
import type { CageOperation } from '../../ledgers/cardano/cage/index.ts';
import { outpointKey, parseOutpoint } from '../../ledgers/outpoint.ts';
import { storedTrie } from '../../projections/cardano/cage/tries.ts';
import { mpf, NodeOverlay } from '../../proofs/index.ts';
import { compareBytes, equalBytes, toHex } from '../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { type CageQuery, type CageToken, needConsistentTrie } from './cage.ts';

/** An operation that a session made. */
export interface TriedOperation {
  /** The proof, of the trie before the operation. */
  readonly steps: mpf.Proof;
  /** The same as Plutus data in CBOR, as it stands in a redeemer. */
  readonly proof: Uint8Array;
  /** The root after it. */
  readonly root: string;
  /**
   * Whether validators that use version 2.0.0 of the proof library, as those deployed do, come to the same root. A few
   * proofs in ten thousand they compute wrongly: a transaction with one fails, or puts a root on chain that no trie has.
   */
  readonly validatorsAgree: boolean;
}

/** A request that was tried, and its operation. */
export interface TriedRequest extends TriedOperation {
  /** The request. */
  readonly ref: string;
}

/** What can be applied of some requests, in the order in which a transaction does. */
export interface TriedRequests {
  /** In ledger order. */
  readonly applied: readonly TriedRequest[];
  /** Those that cannot be applied, and why. */
  readonly refused: readonly { readonly ref: string; readonly why: string }[];
  /** The root after all that were applied. */
  readonly root: string;
}

/** What a trial has to know of a request; `ref` is `TXID#INDEX`. */
export interface TrialRequest {
  readonly ref: string;
  readonly key: Uint8Array;
  readonly operation: CageOperation;
}

export class TrieTrial {
  private readonly cages: CageQuery;
  private readonly token: CageToken;
  private readonly nodes: NodeOverlay;
  /** Values that were set here, by key in hex; null: deleted. */
  private readonly values = new Map<string, Uint8Array | null>();
  private rootBytes: Uint8Array;

  /** Throws TRIE_DIVERGED. */
  constructor(reader: Reader, cages: CageQuery, token: CageToken) {
    this.nodes = new NodeOverlay(storedTrie(reader, needConsistentTrie(token)));
    this.cages = cages;
    this.token = token;
    this.rootBytes = token.state.root;
  }

  get root(): string {
    return toHex(this.rootBytes);
  }

  lookup(key: Uint8Array): Uint8Array | null {
    const set = this.values.get(toHex(key));
    return set === undefined ? (this.cages.fact(this.token, key)?.value ?? null) : set;
  }

  proof(key: Uint8Array): mpf.Proof {
    return mpf.prove(this.nodes, key).proof;
  }

  /** Throws USAGE, having changed nothing, where the trie is not as it asks. */
  apply(key: Uint8Array, operation: CageOperation): TriedOperation {
    const before = this.lookup(key);
    const asked = valueBefore(operation);
    if (!sameValue(before, asked)) throw new UnspentError('USAGE', `the ${operation.type} of ${toHex(key)} ${reason(before, asked)}`);
    const after = operation.type === 'delete' ? null : operation.type === 'insert' ? operation.value : operation.after;
    const steps = this.proof(key);
    const rootBefore = this.rootBytes;
    this.set(key, after);
    return {
      steps,
      proof: mpf.encode(steps, 'redeemer'),
      root: this.root,
      validatorsAgree: isRoot(key, before, steps, rootBefore) && isRoot(key, after, steps, this.rootBytes),
    };
  }

  /** Those that do not fit the trie, or whose proofs the deployed validators compute wrongly, are left out. */
  applyRequests(requests: readonly TrialRequest[]): TriedRequests {
    const applied: TriedRequest[] = [];
    const refused: { readonly ref: string; readonly why: string }[] = [];
    for (const { ref, key, operation } of inLedgerOrder(requests)) {
      try {
        const tried = this.applyIfAgreed(key, operation);
        if (tried === null) refused.push({ ref, why: 'the deployed validators compute its proof wrongly' });
        else applied.push({ ref, ...tried });
      } catch (error) {
        if (!isUnspentError(error, 'USAGE')) throw error;
        refused.push({ ref, why: error.message });
      }
    }
    return { applied, refused, root: this.root };
  }

  /** Null, with nothing changed: validators would come to another root. */
  private applyIfAgreed(key: Uint8Array, operation: CageOperation): TriedOperation | null {
    const tried = this.apply(key, operation);
    if (tried.validatorsAgree) return tried;
    this.set(key, valueBefore(operation));
    return null;
  }

  private set(key: Uint8Array, value: Uint8Array | null): void {
    this.rootBytes = mpf.update(this.nodes, this.nodes, [{ key, value }]);
    this.values.set(toHex(key), value);
  }
}

/** What an operation wants to find; null: no such key. */
function valueBefore(operation: CageOperation): Uint8Array | null {
  if (operation.type === 'insert') return null;
  return operation.type === 'delete' ? operation.value : operation.before;
}

function isRoot(key: Uint8Array, value: Uint8Array | null, steps: mpf.Proof, root: Uint8Array): boolean {
  const found = mpf.rootUnderV200(key, value, steps);
  return found.ok && equalBytes(found.root, root);
}

function sameValue(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : equalBytes(a, b);
}

function reason(before: Uint8Array | null, asked: Uint8Array | null): string {
  if (asked === null) return 'does not fit: the key is there already';
  return before === null ? 'does not fit: there is no such key' : 'does not fit: the key has another value';
}

/** Inputs as the ledger sorts them, whatever order a transaction writes them in. Throws USAGE. */
export function inLedgerOrder<T extends { readonly ref: string }>(items: readonly T[]): readonly T[] {
  const keyed = items.map((item) => {
    const { txId, index } = parseOutpoint(item.ref);
    return { item, key: outpointKey(txId, index) };
  });
  return keyed.sort((a, b) => compareBytes(a.key, b.key)).map(({ item }) => item);
}
