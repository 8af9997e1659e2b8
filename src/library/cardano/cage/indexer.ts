/** How far a store is, and waiting until it has what a program has just sent. */
import type { PointJson, TxJson } from '../../../query/render.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { Store } from '../../store.ts';
import type { CageReading } from './pinned.ts';

/** Where a store is, and what it counts of cages. */
export interface CageStatus {
  /** The newest block; null before the first one. */
  readonly checkpoint: PointJson | null;
  /** Tokens there are. */
  readonly tokens: number;
  /** Those whose trie is not what the root on chain commits to; they give no proofs. */
  readonly diverged: number;
  /** Requests that wait. */
  readonly requests: number;
  /** Outputs at scripts of cages whose datum was none of the protocol. */
  readonly malformed: number;
  /** Requests that were spent in a way that the protocol does not know. */
  readonly gone: number;
}

/** How long to wait. */
export interface WaitOptions {
  /** Milliseconds; default: as long as it takes. */
  readonly timeoutMs?: number | undefined;
  /** Aborting it ends the waiting. */
  readonly signal?: AbortSignal | undefined;
}

/** How long to wait for a transaction, and for how many blocks on top of it. */
export interface WaitTxOptions extends WaitOptions {
  /** Blocks that must stand on top of its own. Default: 0. A rollback that takes its block away makes the waiting go on. */
  readonly confirmations?: number | undefined;
}

/** How far a store is. Somebody must be following a source (`store.follow`) for anything to come. */
export class CageIndexer {
  readonly #store: Store;
  readonly #reading: CageReading;

  /** @internal */
  constructor(store: Store, reading: CageReading) {
    this.#store = store;
    this.#reading = reading;
  }

  /** Where the store is, and what it counts of cages, at one block. */
  status(): CageStatus {
    return this.#reading.read(({ cages, checkpoint }) => {
      const { tokens, diverged, requests, malformed, gone } = cages.counters();
      return { checkpoint, tokens, diverged, requests, malformed, gone };
    });
  }

  /** Resolves with the newest block once it is at this height or above. Throws NOT_YET, INTERRUPTED, CLOSED. */
  waitForBlock(height: number, options: WaitOptions = {}): Promise<PointJson> {
    return this.#wait(`height ${height}`, options, () => {
      const { head } = this.#store;
      return head !== null && head.height >= height ? head : null;
    });
  }

  /** Resolves with a transaction once a block of the chain has it. Throws USAGE, NOT_YET, INTERRUPTED, CLOSED. */
  waitForTx(id: string, options: WaitTxOptions = {}): Promise<TxJson> {
    const { confirmations = 0 } = options;
    return this.#wait(`the transaction ${id}`, options, () => {
      using view = this.#store.view();
      const { head } = view;
      const tx = view.tx(id)?.tx ?? null;
      return tx === null || head === null || head.height < tx.block + confirmations ? null : tx;
    });
  }

  /** Looks now, and again after each block that is applied or undone. */
  async #wait<T>(what: string, { timeoutMs, signal }: WaitOptions, look: () => T | null): Promise<T> {
    const stop = new AbortController();
    const onAbort = (): void => stop.abort();
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) stop.abort();
    const timer = timeoutMs === undefined ? undefined : setTimeout(onAbort, timeoutMs);
    try {
      // Begun before the first look, so that no block falls in between.
      await using events = this.#store.events({ signal: stop.signal });
      for (let found = look(); ; found = look()) {
        if (found !== null) return found;
        const { done } = await events.next();
        if (done === true) throw this.#ended(what, signal?.aborted === true, stop.signal.aborted);
      }
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #ended(what: string, isInterrupted: boolean, isLate: boolean): UnspentError {
    if (isInterrupted) return new UnspentError('INTERRUPTED', `stopped while waiting for ${what}`);
    if (!isLate) return new UnspentError('CLOSED', `the store was closed while waiting for ${what}`);
    const { head } = this.#store;
    return new UnspentError(
      'NOT_YET',
      `${what} did not come in time; the store is at ${head === null ? 'no block' : `height ${head.height}`}`,
    );
  }
}
