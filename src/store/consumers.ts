/**
 * Who takes in the blocks of a store and stores how far it is: wallets, records
 * of transactions in a database. What a prune pass may delete ends where the
 * slowest of them is, and the retention behind it (`allowedHeight`).
 */

import type { WalletsReport } from './wallets-report.ts';

/** A consumer and the height up to which it has stored the chain. */
export interface ConsumerHeight {
  readonly name: string;
  /** 0: it has stored nothing yet, and limits nothing. */
  readonly height: number;
}

export class ChainConsumers {
  /** How the wallets beside the store are fed; null: none are, in this process. */
  wallets: WalletsReport | null = null;
  readonly #heights = new Map<string, () => number>();

  /** Returns what ends it. */
  add(name: string, height: () => number): () => void {
    this.#heights.set(name, height);
    return () => {
      if (this.#heights.get(name) === height) this.#heights.delete(name);
    };
  }

  list(): readonly ConsumerHeight[] {
    return [...this.#heights].map(([name, height]) => ({ name, height: Math.max(0, height()) }));
  }
}
