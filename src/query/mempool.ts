/**
 * The mempool as the server uses it, whichever family it is of. The mempools
 * themselves are below `<family>/`.
 */
import type { MempoolChange } from '../ledgers/mempool-change.ts';
import type { Query } from './query.ts';

export interface MempoolView {
  /** Transactions known. */
  readonly size: number;
  /** Takes in what a node has told, and comes to the point of the query. */
  takeAll(changes: readonly MempoolChange[], query: Query): void;
  /** Comes to the point of the query. */
  settle(query: Query): void;
  /** Throws BLOCK_INVALID for bytes that are not a transaction. */
  check(raw: Uint8Array): void;
}
