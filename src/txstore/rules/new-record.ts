/**
 * What a new transaction must be, and the record that it becomes. Whether it is
 * mined, and since when it is not, follows from the blocks that it is given.
 */
import { isUnspendable } from '../../ledgers/bitcoin/transaction.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import type { TxBlock, TxOutput, TxRecord, TxSlot } from '../records.ts';
import type { NewStoredTx } from '../store.ts';
import { checkHeight, heightAfter } from './heights.ts';
import { txRefusal } from './refusals.ts';
import { slotHash } from './slots.ts';
import { bestChainHeight } from './stability.ts';

/** Blocks on a coinbase before its outputs can be spent: a rule of consensus. */
const COINBASE_MATURITY_BLOCKS = 100;
/** Amounts of the chain are signed numbers of 64 bits, and so are those of databases. */
const AMOUNT_MAX = 2n ** 63n - 1n;

/** A new record without what its store keeps in a way of its own. */
export type NewTxState = Omit<TxRecord, 'inputs' | 'outputs' | 'tombstones'>;

/** Without a height of deletion: the store gives it one (`deleteAtHeightOf`). Throws INVALID_PARAM. */
export function newRecord(tx: NewStoredTx, height: number): TxRecord {
  return {
    ...newTxState(tx, height),
    inputs: tx.inputs.map(({ txId, index }) => ({ txId, index })),
    outputs: tx.outputs.map((_, index) => newOutput(tx, index)),
    tombstones: [],
  };
}

/** How many outputs can ever be spent. Throws INVALID_PARAM. */
function spendableOutputs(tx: NewStoredTx): number {
  let count = 0;
  for (let index = 0; index < tx.outputs.length; index++) if (newSlotState(tx, index) !== null) count++;
  return count;
}

/** As `newRecord`. */
function newTxState(tx: NewStoredTx, height: number): NewTxState {
  const minedAt = checkNewRecord(tx, height);
  return {
    txId: tx.txId,
    spendable: spendableOutputs(tx),
    spentCount: 0,
    blocks: tx.blocks ?? [],
    unminedSince: unminedSinceOf(minedAt, height),
    isConflicting: tx.isConflicting ?? false,
    isLocked: tx.isLocked ?? false,
    isCreating: tx.isCreating ?? false,
    conflictingChildren: [],
    deleteAtHeight: null,
    preserveUntil: null,
    isCoinbase: tx.isCoinbase ?? false,
    coinbaseSpendableAt: coinbaseSpendableAt(tx, minedAt, height),
    version: 0,
  };
}

/** All but its outputs. Returns the height at which the best chain has it; null: it has not. Throws INVALID_PARAM. */
export function checkNewRecord({ txId, inputs, blocks }: NewStoredTx, height: number): number | null {
  checkHeight(height);
  checkId(txId);
  for (let n = 0; n < inputs.length; n++) checkId(inputs[n].txId);
  if (blocks === undefined) return null;
  for (const block of blocks) checkMinedBlock(block);
  return bestChainHeight({ blocks });
}

/** Of a new record. `minedAt`: what `checkNewRecord` says. */
export function unminedSinceOf(minedAt: number | null, height: number): number | null {
  return minedAt === null ? height : null;
}

/** Of a new record; null: it is no coinbase. Throws INVALID_PARAM. */
export function coinbaseSpendableAt(tx: NewStoredTx, minedAt: number | null, height: number): number | null {
  return tx.isCoinbase ? spendableAt(tx, minedAt ?? height) : null;
}

/** Null: the output can never be spent, and has no slot. Throws INVALID_PARAM. */
export function newSlotState({ txId, outputs, frozen }: NewStoredTx, index: number): TxSlot['state'] | null {
  const { amount, script } = outputs[index];
  if (amount < 0n || amount > AMOUNT_MAX) throw txRefusal.invalid(txId, `has an output of ${amount}`);
  if (isUnspendable(script, 0, script.length)) return null;
  return frozen?.includes(index) ? 'frozen' : 'unspent';
}

function newOutput(tx: NewStoredTx, index: number): TxOutput {
  const { amount, script } = tx.outputs[index];
  const state = newSlotState(tx, index);
  if (state === null) return { amount, script, slot: null };
  return { amount, script, slot: { hash: slotHash({ txId: tx.txId, index }, amount, script), state, spender: null, spendableFrom: null } };
}

function spendableAt({ txId }: NewStoredTx, height: number): number {
  const from = heightAfter(height, COINBASE_MATURITY_BLOCKS);
  if (from === null) throw txRefusal.invalid(txId, `is a coinbase of height ${height}, which leaves no height to spend it at`);
  return from;
}

/** Throws INVALID_PARAM. */
export function checkIds(txIds: readonly Uint8Array[]): void {
  for (const txId of txIds) checkId(txId);
}

function checkId(txId: Uint8Array): void {
  if (txId.length !== TXID_BYTES) throw txRefusal.invalid(txId, `has an id of ${txId.length} bytes`);
}

/** Throws INVALID_PARAM. A block at height 0 is a genesis block: nothing of it can be told from a height that was left out. */
export function checkMinedBlock({ hash, height }: Pick<TxBlock, 'hash' | 'height'>): void {
  checkHeight(height);
  if (height === 0 || hash.length !== TXID_BYTES) throw txRefusal.invalid(hash, `is given as a block at height ${height}`);
}
