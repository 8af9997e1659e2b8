/**
 * Operations tried on top of a token's trie without writing anything: roots, and
 * the proofs that a Modify transaction carries. They are made one after another,
 * each proof against the trie that the operations before it leave.
 */
import type { CageOperation } from '../../../ledgers/cardano/cage/index.ts';
import { outpointKey, parseOutpoint } from '../../../ledgers/outpoint.ts';
import { storedTrie } from '../../../projections/cardano/cage/tries.ts';
import { mpf, NodeOverlay } from '../../../proofs/index.ts';
import { type CageToken, needConsistentTrie } from '../../../query/cardano/cage.ts';
import { compareBytes, equalBytes, toHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { type RequestDocument, type TokenDocument, type TrieProof, tokenDocument } from './documents.ts';
import type { PinnedCages } from './pinned.ts';

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

/** Operations tried on top of a token's trie. It holds a snapshot of the store until it is released. */
export class TrieSession implements Disposable {
  /** The token as it was when the session began. */
  readonly token: TokenDocument;
  readonly #at: PinnedCages;
  readonly #row: CageToken;
  readonly #nodes: NodeOverlay;
  /** Values that were set here, by key in hex; null: deleted. */
  readonly #values = new Map<string, Uint8Array | null>();
  #root: Uint8Array;
  #isReleased = false;

  /** @internal */
  constructor(at: PinnedCages, row: CageToken) {
    this.#nodes = new NodeOverlay(storedTrie(at.reader, needConsistentTrie(row)));
    this.#at = at;
    this.#row = row;
    this.#root = row.state.root;
    this.token = tokenDocument(row);
  }

  /** The root after all operations so far. */
  get root(): string {
    return toHex(this.#root);
  }

  /** The value of a key after all operations so far; null: it is absent. Throws CLOSED. */
  lookup(key: Uint8Array): Uint8Array | null {
    this.#need();
    const set = this.#values.get(toHex(key));
    return set === undefined ? (this.#at.cages.fact(this.#row, key)?.value ?? null) : set;
  }

  /** A proof for any key after all operations so far. Throws CLOSED. */
  proof(key: Uint8Array): TrieProof {
    return { value: this.lookup(key), steps: mpf.prove(this.#nodes, key).proof, root: this.root };
  }

  /** Makes an operation. Throws USAGE, having changed nothing, where the trie is not as it asks; CLOSED. */
  apply(key: Uint8Array, operation: CageOperation): TriedOperation {
    const before = this.lookup(key);
    const asked = operation.type === 'insert' ? null : operation.type === 'delete' ? operation.value : operation.before;
    if (!sameValue(before, asked)) throw new UnspentError('USAGE', `the ${operation.type} of ${toHex(key)} ${reason(before, asked)}`);
    const after = operation.type === 'delete' ? null : operation.type === 'insert' ? operation.value : operation.after;
    const { proof: steps } = mpf.prove(this.#nodes, key);
    const rootBefore = this.#root;
    this.#root = mpf.update(this.#nodes, this.#nodes, [{ key, value: after }]);
    this.#values.set(toHex(key), after);
    return {
      steps,
      proof: mpf.encode(steps, 'redeemer'),
      root: this.root,
      validatorsAgree: isRoot(key, before, steps, rootBefore) && isRoot(key, after, steps, this.#root),
    };
  }

  /**
   * Makes the operations of requests in ledger order (by transaction id and index), which is the order in which
   * validators pair them with the actions of a Modify. Those that do not fit the trie, or whose proofs the deployed
   * validators compute wrongly, are left out. Throws CLOSED.
   */
  applyRequests(requests: readonly Pick<RequestDocument, 'ref' | 'key' | 'operation'>[]): TriedRequests {
    const applied: TriedRequest[] = [];
    const refused: { readonly ref: string; readonly why: string }[] = [];
    for (const { ref, key, operation } of inLedgerOrder(requests)) {
      try {
        const tried = this.#applyIfAgreed(key, operation);
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
  #applyIfAgreed(key: Uint8Array, operation: CageOperation): TriedOperation | null {
    const tried = this.apply(key, operation);
    if (tried.validatorsAgree) return tried;
    const before = operation.type === 'insert' ? null : operation.type === 'delete' ? operation.value : operation.before;
    this.#root = mpf.update(this.#nodes, this.#nodes, [{ key, value: before }]);
    this.#values.set(toHex(key), before);
    return null;
  }

  /** Gives back the snapshot. Afterwards it answers no more (CLOSED). */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#at.release();
  }

  /** The same as `release`, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }

  #need(): void {
    if (this.#isReleased) throw new UnspentError('CLOSED', 'the session was released');
  }
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
