/**
 * Which transactions in no block nobody waits for any more. The oldest may all
 * be waited for, or be losers, which go when their time comes: so the next look
 * goes on behind what the last one has seen, and begins again at the end.
 */
import { TXS_FORGET_LOOKED_MAX, TXS_FORGET_MAX } from '../../util/limits.ts';
import type { TxStore, UnminedTx } from '../store.ts';

export class OldUnmined {
  readonly #store: Pick<TxStore, 'queryOldUnmined' | 'batchGet'>;
  #after: UnminedTx | null = null;

  constructor(store: Pick<TxStore, 'queryOldUnmined' | 'batchGet'>) {
    this.#store = store;
  }

  /** A bounded number of those that are unmined since `cutoff` or longer. */
  async next(cutoff: number, isWaited: (txId: Uint8Array) => boolean): Promise<readonly Uint8Array[]> {
    const looked = await this.#store.queryOldUnmined(cutoff, TXS_FORGET_LOOKED_MAX, this.#after);
    const old = looked.filter(({ txId }) => !isWaited(txId));
    const records = await this.#store.batchGet(old.map(({ txId }) => txId));
    const wanted = old.filter((_, n) => records[n]?.isConflicting === false);
    const chosen = wanted.slice(0, TXS_FORGET_MAX);
    if (wanted.length > chosen.length) this.#after = chosen[chosen.length - 1];
    else this.#after = looked.length < TXS_FORGET_LOOKED_MAX ? null : looked[looked.length - 1];
    return chosen.map(({ txId }) => txId);
  }
}
