/**
 * Operations tried on top of a token's trie without writing anything
 * (`query/cardano/trie-trial.ts`), for as long as a program holds the session.
 */
import type { CageOperation } from '../../../ledgers/cardano/cage/index.ts';
import type { CageToken } from '../../../query/cardano/cage.ts';
import { type TriedOperation, type TriedRequests, TrieTrial } from '../../../query/cardano/trie-trial.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type RequestDocument, type TokenDocument, type TrieProof, tokenDocument } from './documents.ts';
import type { PinnedCages } from './pinned.ts';

/** Operations tried on top of a token's trie. It holds a snapshot of the store until it is released. */
export class TrieSession implements Disposable {
  /** The token as it was when the session began. */
  readonly token: TokenDocument;
  readonly #at: PinnedCages;
  readonly #trial: TrieTrial;
  #isReleased = false;

  /** @internal */
  constructor(at: PinnedCages, row: CageToken) {
    this.#trial = new TrieTrial(at.reader, at.cages, row);
    this.#at = at;
    this.token = tokenDocument(row);
  }

  /** The root after all operations so far. */
  get root(): string {
    return this.#trial.root;
  }

  /** The value of a key after all operations so far; null: it is absent. Throws CLOSED. */
  lookup(key: Uint8Array): Uint8Array | null {
    return this.#live().lookup(key);
  }

  /** A proof for any key after all operations so far. Throws CLOSED. */
  proof(key: Uint8Array): TrieProof {
    return { value: this.lookup(key), steps: this.#trial.proof(key), root: this.root };
  }

  /** Makes an operation. Throws USAGE, having changed nothing, where the trie is not as it asks; CLOSED. */
  apply(key: Uint8Array, operation: CageOperation): TriedOperation {
    return this.#live().apply(key, operation);
  }

  /**
   * Makes the operations of requests in ledger order (by transaction id and index), which is the order in which
   * validators pair them with the actions of a Modify. Those that do not fit the trie, or whose proofs the deployed
   * validators compute wrongly, are left out. Throws CLOSED.
   */
  applyRequests(requests: readonly Pick<RequestDocument, 'ref' | 'key' | 'operation'>[]): TriedRequests {
    return this.#live().applyRequests(requests);
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

  #live(): TrieTrial {
    if (this.#isReleased) throw new UnspentError('CLOSED', 'the session was released');
    return this.#trial;
  }
}
