/** Facts of tokens with their proofs, and sessions that try operations on them. */
import { storedTrie } from '../../../projections/cardano/cage/tries.ts';
import { mpf } from '../../../proofs/index.ts';
import { type CageFact, needConsistentTrie } from '../../../query/cardano/cage.ts';
import { toHex } from '../../../util/bytes.ts';
import type { TrieProof } from './documents.ts';
import type { CageReading } from './pinned.ts';
import { TrieSession } from './session.ts';

/** Which facts of a token. */
export interface FactsOptions {
  /** Begin behind this key. */
  readonly after?: Uint8Array | undefined;
  /** At most so many. Default: all of them. */
  readonly limit?: number | undefined;
}

/** The tries of tokens. Each answer is of one block: the newest, or that of the view it was asked of. */
export class CageTrieReads {
  readonly #reading: CageReading;

  /** @internal */
  constructor(reading: CageReading) {
    this.#reading = reading;
  }

  /** The value of a key; null: it is absent. Throws USAGE, NOT_FOUND (no such token), TRIE_DIVERGED. */
  lookup(token: string, key: Uint8Array): Uint8Array | null {
    return this.#reading.read(({ cages, need }) => cages.fact(need(token), key)?.value ?? null);
  }

  /** The root of the trie as the store has it, which is the one on chain. Throws USAGE, NOT_FOUND, TRIE_DIVERGED. */
  root(token: string): string {
    return this.#reading.read(({ reader, need }) => toHex(mpf.root(storedTrie(reader, needConsistentTrie(need(token))))));
  }

  /** A proof for any key, present or absent. Throws USAGE, NOT_FOUND, TRIE_DIVERGED. */
  proof(token: string, key: Uint8Array): TrieProof {
    return this.#reading.read(({ cages, need }) => {
      const { fact, proof, root } = cages.proof(need(token), key);
      return { value: fact?.value ?? null, steps: proof, root: toHex(root) };
    });
  }

  /** Facts in the order of their keys. Throws USAGE, NOT_FOUND, TRIE_DIVERGED. */
  facts(token: string, options: FactsOptions = {}): readonly CageFact[] {
    const { after, limit = Number.POSITIVE_INFINITY } = options;
    return this.#reading.read(({ cages, need }) => {
      const facts: CageFact[] = [];
      if (limit <= 0) return facts;
      for (const fact of cages.facts(need(token), after)) {
        facts.push(fact);
        if (facts.length >= limit) break;
      }
      return facts;
    });
  }

  /**
   * Operations on top of a token's trie, in memory: what its root would be, and the proofs that a transaction needs.
   * Nothing is written. Release it, or declare it with `using`. Throws USAGE, NOT_FOUND, TRIE_DIVERGED.
   */
  session(token: string): TrieSession {
    const at = this.#reading.pin();
    try {
      return new TrieSession(at, at.need(token));
    } catch (error) {
      at.release();
      throw error;
    }
  }
}
