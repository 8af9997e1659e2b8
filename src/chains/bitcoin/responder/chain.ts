/**
 * What a chain must offer to be served over the Bitcoin family's P2P protocol:
 * its best branch by height, any block it knows by hash, and transactions that
 * are in no block yet. The protocol knows nothing else of a chain.
 *
 * Hashes and ids are in the order in which they stand in a block.
 */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';

/** What a watcher is told. `tip`: the best branch is another one now, longer or turned. */
export type ChainNews = { readonly kind: 'tip' } | { readonly kind: 'tx'; readonly id: Uint8Array };

export interface ServedChain {
  readonly network: BitcoinNetwork;
  /** Height of the newest block of the best branch; the first block, at 0, is always there. */
  readonly height: number;
  /** On the best branch; null above its tip. */
  hashAt(height: number): Uint8Array | null;
  /** Of a block on the best branch; null: not on it. */
  heightOf(hash: Uint8Array): number | null;
  /** The whole block, of any branch; null: unknown. */
  block(hash: Uint8Array): Uint8Array | null;
  /** Ids of what is in no block yet, parents first. */
  mempool(): readonly Uint8Array[];
  /** A transaction of the mempool; null: not there. */
  tx(id: Uint8Array): Uint8Array | null;
  /** Takes a transaction into the mempool and says its id. Throws TX_REFUSED. */
  submit(raw: Uint8Array): Uint8Array;
  /** Returns how to stop. */
  watch(listener: (news: ChainNews) => void): () => void;
}
