/**
 * The mempool as the server uses it, whichever family it is of. The mempools
 * themselves are below `<family>/`.
 */
import type { MempoolChange } from '../ledgers/mempool-change.ts';
import type { PendingOverlay } from './pending/pending-overlay.ts';
import type { Query } from './query.ts';

export interface MempoolView {
  /** Transactions that could be in the next block. */
  readonly size: number;
  /** Nothing is known that a move of the chain could change. */
  readonly isEmpty: boolean;
  /** Takes in what a node has told, and comes to the point of the query. */
  takeAll(changes: readonly MempoolChange[], query: Query): void;
  /** Comes to the point of the query. */
  settle(query: Query): void;
  /** Throws BLOCK_INVALID for bytes that are not a transaction. */
  check(raw: Uint8Array): void;
  /**
   * What its transactions do to the outputs at the point of the query, to be read with `query.pending`. Absent: the wire
   * shapes of this family ask it themselves.
   */
  overlayAt?(query: Query): PendingOverlay;
  /** What each transaction pays for a virtual byte, highest first; absent: blocks of the family are not bid for. Those of unknown fee are left out. */
  feeRates?(): readonly { readonly rate: number; readonly virtualSize: number }[];
  /** Called when its transactions are others; returns what ends it. */
  onChange?(listener: () => void): () => void;
}
