/**
 * The mempool of the followed node, as it comes to the wallets. Mempool and
 * blocks come on two ways, and either may be ahead: a transaction that a wallet
 * cannot take yet is told again when the chain has moved, and one that a lost
 * block gave back and that the mempool does not have is told to be evicted.
 *
 * Nothing of it is stored: after a restart the node tells its mempool anew.
 */
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletTx } from '../records.ts';
import type { WalletFeed } from './wallet-feed.ts';

export class WalletMempool {
  readonly #feed: WalletFeed;
  readonly #txOf: (raw: Uint8Array) => WalletTx | null;
  /** Ids in hex of what the mempool has and some wallet is touched by. */
  readonly #present = new Set<string>();
  /** What is to be told again, by the same ids. */
  readonly #refused = new Map<string, WalletTx>();
  /** Of those that are present: what has left for a block that the wallets may not have yet. With the next one it is gone. */
  readonly #leaving = new Set<string>();
  /** False: what the mempool has was not told yet. */
  #isKnown = false;
  #last: Promise<void> = Promise.resolve();

  /** `txOf`: a transaction as nodes relay it; null: it cannot be read, and is left out. */
  constructor(feed: WalletFeed, txOf: (raw: Uint8Array) => WalletTx | null) {
    this.#feed = feed;
    this.#txOf = txOf;
  }

  /** One change after the other, in the order of the calls. Resolves when the wallets have it. */
  take(change: MempoolChange): Promise<void> {
    return this.#queue(async () => {
      this.#isKnown = true;
      if (change.kind === 'add') return this.#see(change.txs.flatMap((raw) => this.#txOf(raw) ?? []));
      if (change.kind === 'remove') return change.slot === undefined ? this.#lose(change.ids) : this.#leave(change.ids);
      this.#present.clear();
      this.#leaving.clear();
      this.#refused.clear();
    });
  }

  /** The wallets have another block, or one less (`WalletFeedOptions.onMove`). */
  moved(): Promise<void> {
    return this.#queue(async () => {
      if (!this.#isKnown) return;
      for (const id of this.#leaving) this.#present.delete(id);
      this.#leaving.clear();
      await this.#see([...this.#refused.values()]);
      await this.#feed.evictWhere((txId) => !this.#present.has(toHex(txId)));
    });
  }

  async #see(txs: readonly WalletTx[]): Promise<void> {
    if (txs.length === 0) return;
    const { taken, refused } = await this.#feed.seeInMempool(txs);
    for (const { id } of taken) this.#refused.delete(toHex(id));
    for (const tx of refused) this.#refused.set(toHex(tx.id), tx);
    for (const { id } of [...taken, ...refused]) {
      this.#present.add(toHex(id));
      this.#leaving.delete(toHex(id));
    }
  }

  #leave(ids: readonly Uint8Array[]): void {
    for (const id of ids) {
      this.#leaving.add(toHex(id));
      this.#refused.delete(toHex(id));
    }
  }

  async #lose(ids: readonly Uint8Array[]): Promise<void> {
    for (const id of ids) {
      this.#present.delete(toHex(id));
      this.#refused.delete(toHex(id));
    }
    await this.#feed.loseFromMempool(ids);
    // What was in their way may be gone with them.
    await this.#see([...this.#refused.values()]);
  }

  #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
