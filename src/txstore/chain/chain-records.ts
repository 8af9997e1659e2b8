/**
 * What our own chain asks of a transaction store: besides the contract, what
 * happens between blocks, and for one in a database of its own the blocks
 * themselves, each together with how far the database is (the sync point).
 */
import type { PrunableStore } from '../prune-store.ts';
import type { TxRecord } from '../records.ts';
import type { TxStore } from '../store.ts';
import type { ChainBlock, ChainTx } from './chain-txs.ts';

/** Records that our chain feeds, wherever they rest. */
export interface ChainRecords extends TxStore, PrunableStore {
  /** Transactions that wait in the mempool; those that do not fit the chain are passed over. Returns how many were taken. */
  receive(txs: readonly ChainTx[], height: number): Promise<number>;
  /** Gives up what is in no block since `cutoff` or longer, but for what somebody still waits for. Returns how many, bounded. */
  giveUp(cutoff: number, isWaited: (txId: Uint8Array) => boolean, height: number): Promise<number>;
}

/** How far a database is in the events of the chain, before and after a change. */
export interface SyncMove {
  /** Null: it was never fed. */
  readonly after: string | null;
  readonly position: string;
}

/** Records in a database of their own: each change that the chain makes is one transaction with the sync point. */
export interface FedRecords extends ChainRecords {
  /** Null: the database was never fed. */
  syncPosition(): Promise<string | null>;
  /** The next blocks, in their order. FEED_MOVED (the database is elsewhere: another process feeds it, too), CONFIG (it was never fed, and has records), and as `connectBlock`. */
  connect(blocks: readonly ChainBlock[], move: SyncMove): Promise<void>;
  /** Every block above the height is gone. FEED_MOVED, and as `disconnectBlock`. */
  disconnect(height: number, move: SyncMove): Promise<void>;
  /** The blocks of the best chain above a height that records are in, newest first. */
  blocksAbove(height: number): Promise<readonly BlockName[]>;
  /** Every record, by id. */
  records(): AsyncIterable<TxRecord>;
  /** Records as they are, with how far the database is at the same moment. In the order of the ids, null where there is none. */
  readAt(txIds: readonly Uint8Array[]): Promise<RecordsAt>;
  /** Ids of records that passes have deleted, and of which nobody has said `blobsDeleted`. */
  blobsLeft(limit: number): Promise<readonly Uint8Array[]>;
  blobsDeleted(txIds: readonly Uint8Array[]): Promise<void>;
}

export interface BlockName {
  readonly hash: Uint8Array;
  readonly height: number;
}

export interface RecordsAt {
  readonly records: readonly (TxRecord | null)[];
  readonly position: string | null;
}

/** What a database of records tells the chain, and asks it, when a pass deletes. */
export interface RemovalGuard {
  /**
   * Called before records are deleted by a pass at this height. True: the chain cannot go back any more to where one of
   * them would be needed. False: it may be elsewhere than the database, and nothing is deleted.
   */
  readonly mayRemove: (height: number) => boolean;
  /** Bytes of the records are with the chain, and go when the database has committed that the records are deleted. */
  readonly hasBlobs: boolean;
}
