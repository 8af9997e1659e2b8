/**
 * A store seen at one block: every answer is of that block, whatever the store
 * does meanwhile. It holds a snapshot of the engine, so it has to be released.
 */
import type { Reader } from '../engine/engine.ts';
import type { UtxoJson } from '../query/render.ts';
import { UnspentError } from '../util/errors.ts';
import type { PinnedRead } from './pinned-read.ts';
import { StoreReads } from './reads.ts';

/**
 * A store seen at one block: every answer is of that block, whatever the store does meanwhile. `store.view()` gives
 * one. Release it when you are done, or declare it with `using`: it holds disk space that pruning could free.
 */
export class StoreView extends StoreReads implements Disposable {
  readonly #pinned: PinnedRead;
  #isReleased = false;

  /** @internal */
  constructor(pinned: PinnedRead) {
    super((body) => {
      if (this.#isReleased) throw new UnspentError('CLOSED', 'the view was released');
      return body(pinned);
    });
    this.#pinned = pinned;
  }

  /** All unspent outputs of an address (of Cardano also a stake address), one by one, in the order they came to the chain. Throws USAGE. */
  *eachUtxo(address: string): Generator<UtxoJson, void, undefined> {
    const { view, renderer, dialect } = this.#pinned;
    const { kind, key } = dialect.holder(address);
    for (const utxo of view.byKey(kind, key)) yield renderer.utxo(utxo);
  }

  /**
   * The rows that a projection keeps, as it wrote them: how a program reads those of its own (`OpenOptions.projections`).
   * Throws NOT_FOUND, INDEX_NOT_READY, and UNSUPPORTED where the view is of an earlier block than the store had.
   */
  rowsOf(projection: string): Reader {
    return this.#pinned.rowsOf(projection);
  }

  /** Gives back what it holds. A released view answers nothing more (CLOSED); releasing it again does nothing. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#pinned.query.release();
  }

  /** The same as `release`, for `using`. */
  [Symbol.dispose](): void {
    this.release();
  }
}
