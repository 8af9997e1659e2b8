/**
 * What conflicts.ts asks of a change whose records are in memory until it is
 * written. The embedded store's (embedded/unit.ts) reads what it is asked for, the
 * one on SQL (sql/unit.ts) has read all of it before.
 */
import type { Outpoint } from '../ledgers/outpoint.ts';
import type { DeletionState, SlotSpender, TxRecord, TxSlot } from './records.ts';
import type { SpendingInput } from './store.ts';

/** A record in memory. */
export interface ChangingTx {
  readonly txId: Uint8Array;
  readonly state: Pick<TxRecord, 'txId' | 'isConflicting' | 'isLocked' | 'isCreating' | 'coinbaseSpendableAt'>;
}

export interface TxChanges<T extends ChangingTx> {
  /** Of the chain. */
  readonly height: number;
  /** These are asked for next. */
  load(txIds: readonly Uint8Array[]): void;
  find(txId: Uint8Array): T | undefined;
  /** Throws TX_NOT_FOUND. */
  need(txId: Uint8Array): T;
  /** Throws TX_NOT_FOUND with all that are missing. */
  needAll(txIds: readonly Uint8Array[]): readonly T[];
  inputs(tx: T): readonly Outpoint[];
  /** Undefined: the transaction has no such output. */
  slot(tx: T, index: number): TxSlot | null | undefined;
  setSlot(tx: T, index: number, slot: TxSlot): void;
  /** The output is the spender's now. Throws what `isNewSpend` throws. */
  spend(parent: T, input: SpendingInput, spender: SlotSpender): void;
  /** And decides anew when it may be deleted. */
  change(tx: T, part: Partial<DeletionState>): void;
  /** No decision to delete rests on what has changed of it. */
  keepVersion(tx: T): void;
  /** Every transaction that a slot names, once, by id. */
  children(tx: T): readonly Uint8Array[];
  /** At which height the child was pruned; null: it was not. */
  tombstoneHeight(parent: Uint8Array, child: Uint8Array): number | null;
  /** It stands in `conflictingChildren` of its parents, or no longer does. */
  joinParents(tx: T): void;
  leaveParents(tx: T): void;
}
