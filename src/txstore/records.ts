/**
 * The values of the transaction store: what a transaction, an output with its
 * slot, a block that holds it and a tombstone are, whatever database they rest
 * in. The contract (store.ts) takes and gives these.
 *
 * Ids and hashes are 32 bytes in the order of the chain, amounts are bigint,
 * heights are numbers from 0 to 2^32 - 1. Null means that there is none.
 */
import type { Outpoint } from '../ledgers/outpoint.ts';

/** Who spends an output: the transaction, and which of its inputs. */
export interface SlotSpender {
  readonly txId: Uint8Array;
  readonly vin: number;
}

/** The state of an output that can be spent. */
export interface TxSlot {
  /** Binds outpoint, amount and script (`slotHash`); a reassigned output has another. */
  readonly hash: Uint8Array;
  readonly state: 'unspent' | 'spent' | 'frozen';
  /** Of a spent slot. */
  readonly spender: SlotSpender | null;
  /** The first height at which it may be spent, after a reassignment. */
  readonly spendableFrom: number | null;
}

export interface TxOutput {
  readonly amount: bigint;
  readonly script: Uint8Array;
  /** Null: it can provably never be spent. */
  readonly slot: TxSlot | null;
}

/** A block that holds a transaction, on the best chain or on another branch. */
export interface TxBlock {
  readonly hash: Uint8Array;
  readonly height: number;
  /** Which transaction of the block it is. */
  readonly index: number;
  readonly isOnBestChain: boolean;
}

/** A child that was deleted by a prune pass while this record stayed. */
export interface Tombstone {
  readonly txId: Uint8Array;
  /** Of the pass that deleted it. */
  readonly height: number;
}

/** What decides whether and when a record may be deleted. */
export interface DeletionState {
  /** Slots that can ever be spent, and one more for each reassignment, so that such a record is never deleted. */
  readonly spendable: number;
  /** Slots that are spent; frozen ones are not. */
  readonly spentCount: number;
  readonly blocks: readonly TxBlock[];
  /** Null: a block of the best chain holds it. Else the earliest height since when none does. */
  readonly unminedSince: number | null;
  readonly isConflicting: boolean;
  readonly isLocked: boolean;
  /** The record is there, but not all that belongs to it. */
  readonly isCreating: boolean;
  /** From this height on a pass looks whether it may go; nothing is deleted because of it alone. */
  readonly deleteAtHeight: number | null;
  readonly preserveUntil: number | null;
}

/** All that is stored of a transaction. */
export interface TxRecord extends DeletionState {
  readonly txId: Uint8Array;
  readonly inputs: readonly Outpoint[];
  readonly outputs: readonly TxOutput[];
  /** Losers that also spend an output of this record; by id. */
  readonly conflictingChildren: readonly Uint8Array[];
  /** By id. */
  readonly tombstones: readonly Tombstone[];
  readonly isCoinbase: boolean;
  /** Of a coinbase: the first height at which its outputs may be spent. */
  readonly coinbaseSpendableAt: number | null;
  /**
   * Another number after every change but of `conflictingChildren`, `tombstones` and outputs that a deleted loser gives
   * back: no decision to delete rests on those.
   */
  readonly version: number;
}
