/**
 * The contract of a transaction store: every transaction that is not provably
 * useless, who spends its outputs, and when it may be deleted. Stores that
 * fulfil it: plain maps in memory as the model (memory/) and the embedded engine
 * (embedded/); what a pass of deletion needs of a store is in prune-store.ts.
 *
 * Every method that writes is one atomic change: all of it or nothing. `height`
 * is always the height of the chain at the moment of the call. Errors are
 * UnspentError; the codes stand with the methods. INVALID_PARAM for a height or
 * an id that cannot be one is not repeated there.
 */
import type { Outpoint } from '../ledgers/outpoint.ts';
import type { PrunableStore } from './prune-store.ts';
import type { SlotSpender, TxBlock, TxRecord } from './records.ts';

export interface TxStore extends PrunableStore {
  readonly settings: TxStoreSettings;

  /** A conflicting one is added to `conflictingChildren` of its parents. TX_EXISTS, INVALID_PARAM. */
  create(txs: readonly NewStoredTx[], height: number): Promise<void>;
  /** All that belongs to the records is there now. TX_NOT_FOUND. */
  finishCreate(txIds: readonly Uint8Array[], height: number): Promise<void>;
  /**
   * The outputs that the transactions spend are theirs now. The same spender again is no change.
   * Per input, in this order: TX_NOT_FOUND, TX_CREATING, TX_CONFLICTING, TX_LOCKED, COINBASE_IMMATURE, UTXO_NOT_FOUND,
   * HASH_MISMATCH, FROZEN, INVALID_SPEND (the spender was pruned), SPENT (by another), FROZEN_UNTIL.
   */
  spend(txs: readonly SpendingTx[], height: number, options?: SpendOptions): Promise<void>;
  /**
   * The outputs are unspent again; one that is unspent already is no change. Tombstones stay. With `lock` their
   * transactions are locked. TX_NOT_FOUND, UTXO_NOT_FOUND, FROZEN, SPENT (by another than is said).
   */
  unspend(spends: readonly OutputSpend[], height: number, options?: { readonly lock?: boolean }): Promise<void>;

  /**
   * The block holds them: locks and `isCreating` end. Returns the hashes of all blocks that hold each.
   * TX_NOT_FOUND (names all that are missing), INVALID_PARAM (a block at two heights).
   */
  setMined(
    txs: readonly MinedTx[],
    block: BlockOfStore,
    isOnBestChain: boolean,
    height: number,
  ): Promise<readonly (readonly Uint8Array[])[]>;
  /** The block is gone. TX_NOT_FOUND; HORIZON (a pass may have relied on it). */
  unsetMined(txIds: readonly Uint8Array[], blockHash: Uint8Array, height: number): Promise<void>;
  /**
   * True: their highest block is on the best chain. False: none of their blocks is; `unminedSince` keeps an older height.
   * STORE_DAMAGED (names all that are missing); HORIZON (false only: a pass may have relied on it).
   */
  markOnBestChain(txIds: readonly Uint8Array[], isOnBestChain: boolean, height: number): Promise<void>;
  /**
   * True: they and all that spend their outputs lose. False: only they are no losers any more.
   * TX_NOT_FOUND; STORE_DAMAGED (a spender is missing and was not pruned).
   */
  setConflicting(txIds: readonly Uint8Array[], isConflicting: boolean, height: number): Promise<ConflictMarks>;
  /**
   * The winners take the outputs they spend from whoever holds them, in five steps: the losers and their descendants
   * are conflicting; what they hold of others is unspent, and those are locked; the winners spend it; the winners are no longer
   * conflicting; locks end. Returns the losers and their descendants.
   * TX_NOT_FOUND, INVALID_PARAM (a winner that is not conflicting), HORIZON (a loser was pruned), and those of the steps.
   */
  processConflicting(winners: readonly Uint8Array[], height: number): Promise<readonly Uint8Array[]>;

  /** TX_NOT_FOUND. */
  setLocked(txIds: readonly Uint8Array[], isLocked: boolean, height: number): Promise<void>;
  /** TX_NOT_FOUND, UTXO_NOT_FOUND, SPENT, ALREADY_FROZEN. */
  freeze(outpoints: readonly Outpoint[], height: number): Promise<void>;
  /** TX_NOT_FOUND, UTXO_NOT_FOUND, NOT_FROZEN. */
  unfreeze(outpoints: readonly Outpoint[], height: number): Promise<void>;
  /** A frozen output is somebody else's, who may spend it from `height + delay` on. TX_NOT_FOUND, UTXO_NOT_FOUND, NOT_FROZEN. */
  reassign(outpoint: Outpoint, hash: Uint8Array, delay: number, height: number): Promise<void>;

  /** They are not deleted before that height. Returns those that are not there. */
  preserve(txIds: readonly Uint8Array[], until: number, height: number): Promise<readonly Uint8Array[]>;
  /** Ends preservations up to this height. Returns how many. */
  expirePreservations(height: number): Promise<number>;
  /** By an administrator; checks nothing and leaves no tombstone. TX_NOT_FOUND. */
  delete(txIds: readonly Uint8Array[]): Promise<void>;

  /** In the order of the ids, null where there is none. */
  batchGet(txIds: readonly Uint8Array[]): Promise<readonly (TxRecord | null)[]>;
  /** Oldest first, then by id. */
  iterateUnmined(): AsyncIterable<UnminedTx>;
  /** Unmined since that height or earlier, those behind `after`; oldest first, then by id. */
  queryOldUnmined(cutoff: number, limit: number, after?: UnminedTx | null): Promise<readonly UnminedTx[]>;
  stats(): Promise<TxStoreStats>;
  close(): Promise<void>;
}

export interface TxStoreStats {
  readonly records: number;
  /** That the records take where they rest; 0: unknown. */
  readonly bytes: number;
}

export interface TxStoreSettings {
  /** R: blocks from the moment that a record is of no more use until a pass looks at it. 0: nothing is ever deleted. */
  readonly retention: number;
  /** W: blocks that must lie on a spender before it is stable. */
  readonly window: number;
}

export interface NewStoredTx {
  readonly txId: Uint8Array;
  readonly inputs: readonly Outpoint[];
  readonly outputs: readonly { readonly amount: bigint; readonly script: Uint8Array }[];
  readonly isCoinbase?: boolean;
  readonly blocks?: readonly TxBlock[];
  readonly isConflicting?: boolean;
  readonly isLocked?: boolean;
  readonly isCreating?: boolean;
  /** Indexes of outputs that are frozen from the beginning. */
  readonly frozen?: readonly number[];
}

export interface SpendingTx {
  readonly txId: Uint8Array;
  /** In the order of the transaction, so that the position is the number of the input. */
  readonly inputs: readonly SpendingInput[];
}

export interface SpendingInput extends Outpoint {
  /** What the spender believes it spends (`slotHash`). */
  readonly hash?: Uint8Array | undefined;
}

export interface SpendOptions {
  readonly ignoreConflicting?: boolean;
  readonly ignoreLocked?: boolean;
}

export interface OutputSpend {
  readonly outpoint: Outpoint;
  /** Who is expected to hold it. */
  readonly spender: SlotSpender;
}

export interface MinedTx {
  readonly txId: Uint8Array;
  /** Which transaction of the block it is. */
  readonly index: number;
}

export interface BlockOfStore {
  readonly hash: Uint8Array;
  readonly height: number;
}

export interface ConflictMarks {
  /** What the given transactions hold of their parents. */
  readonly spends: readonly OutputSpend[];
  /** Descendants that were marked, too. */
  readonly descendants: readonly Uint8Array[];
}

export interface UnminedTx {
  readonly txId: Uint8Array;
  readonly since: number;
}
