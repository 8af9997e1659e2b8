/**
 * What may happen to the slot of an output: whether it can be spent, unspent,
 * frozen, and what it is then. Stores find records and slots in their own way,
 * and do what these functions decide.
 */
import { sha256 } from '../../crypto/sha256.ts';
import { type Outpoint, outpointKey } from '../../ledgers/outpoint.ts';
import { concatBytes, equalBytes, writeBigU64 } from '../../util/bytes.ts';
import type { SlotSpender, TxRecord, TxSlot } from '../records.ts';
import type { SpendingInput, SpendOptions } from '../store.ts';
import { txRefusal } from './refusals.ts';

/** Binds an output to its place, its amount and its script. */
export function slotHash(outpoint: Outpoint, amount: bigint, script: Uint8Array): Uint8Array {
  const amountBytes = new Uint8Array(8);
  writeBigU64(amountBytes, 0, amount);
  return sha256(concatBytes(outpointKey(outpoint.txId, outpoint.index), amountBytes, script));
}

/** What a parent must be for its outputs to be spent. */
type ParentState = Pick<TxRecord, 'txId' | 'isCreating' | 'isConflicting' | 'isLocked' | 'coinbaseSpendableAt'>;

/** Throws TX_CREATING, TX_CONFLICTING, TX_LOCKED, COINBASE_IMMATURE. */
export function checkParent(parent: ParentState, height: number, { ignoreConflicting, ignoreLocked }: SpendOptions): void {
  if (parent.isCreating) throw txRefusal.creating(parent.txId);
  if (parent.isConflicting && ignoreConflicting !== true) throw txRefusal.conflicting(parent.txId);
  if (parent.isLocked && ignoreLocked !== true) throw txRefusal.locked(parent.txId);
  if (parent.coinbaseSpendableAt !== null && height < parent.coinbaseSpendableAt)
    throw txRefusal.immature(parent.txId, parent.coinbaseSpendableAt);
}

/** The slot after the spend; the same one if the spender has it already. Throws what `isNewSpend` throws. */
export function spentSlot(
  slot: TxSlot | null | undefined,
  input: SpendingInput,
  spender: SlotSpender,
  isPruned: boolean,
  height: number,
): TxSlot {
  return isNewSpend(slot, input, spender, isPruned, height) ? { ...existing(slot, input), state: 'spent', spender } : existing(slot, input);
}

/**
 * True: the spender may have the slot. False: it has it already. `isPruned`: the parent has a tombstone of the spender.
 * The hash of the slot is looked at only if the input has one.
 * Throws UTXO_NOT_FOUND, HASH_MISMATCH, FROZEN, INVALID_SPEND, SPENT, FROZEN_UNTIL.
 */
export function isNewSpend(
  slot: TxSlot | null | undefined,
  input: SpendingInput,
  spender: SlotSpender,
  isPruned: boolean,
  height: number,
): boolean {
  const known = existing(slot, input);
  if (input.hash !== undefined && !equalBytes(input.hash, known.hash)) throw txRefusal.hashMismatch(input);
  if (known.state === 'frozen') throw txRefusal.frozen(input);
  if (isPruned) throw txRefusal.spenderPruned(input, spender.txId);
  if (known.spender !== null) {
    if (isSameSpender(known.spender, spender)) return false;
    throw txRefusal.spent(input, known.spender);
  }
  if (known.spendableFrom !== null && height < known.spendableFrom) throw txRefusal.frozenUntil(input, known.spendableFrom);
  return true;
}

/** The slot when the spender no longer has it; the same one if nobody has it. Throws UTXO_NOT_FOUND, FROZEN, SPENT. */
export function unspentSlot(slot: TxSlot | null | undefined, outpoint: Outpoint, spender: SlotSpender): TxSlot {
  const known = existing(slot, outpoint);
  if (known.state === 'frozen') throw txRefusal.frozen(outpoint);
  if (known.spender === null) return known;
  if (!isSameSpender(known.spender, spender)) throw txRefusal.spent(outpoint, known.spender);
  return { ...known, state: 'unspent', spender: null };
}

/** Throws UTXO_NOT_FOUND, SPENT, ALREADY_FROZEN. */
export function frozenSlot(slot: TxSlot | null | undefined, outpoint: Outpoint): TxSlot {
  const known = existing(slot, outpoint);
  if (known.spender !== null) throw txRefusal.spent(outpoint, known.spender);
  if (known.state === 'frozen') throw txRefusal.alreadyFrozen(outpoint);
  return { ...known, state: 'frozen' };
}

/** Throws UTXO_NOT_FOUND, NOT_FROZEN. */
export function unfrozenSlot(slot: TxSlot | null | undefined, outpoint: Outpoint): TxSlot {
  const known = existing(slot, outpoint);
  if (known.state !== 'frozen') throw txRefusal.notFrozen(outpoint);
  return { ...known, state: 'unspent' };
}

function existing(slot: TxSlot | null | undefined, outpoint: Outpoint): TxSlot {
  if (slot === null || slot === undefined) throw txRefusal.outputUnknown(outpoint);
  return slot;
}

export function isSameSpender(a: SlotSpender, b: SlotSpender): boolean {
  return a.vin === b.vin && equalBytes(a.txId, b.txId);
}
