/**
 * What a status means, and what news of a transaction does to a row that the
 * wallet has of it already: the table of states of wallets, without the rest of
 * the state. Stores do what these functions decide.
 */
import type { TxStatus, WalletBlock, WalletEvent, WalletTx, WalletTxRow } from '../records.ts';
import type { NewTx, TxChange } from '../store.ts';
import { sameBlock } from './block.ts';
import { refusal } from './failures.ts';
import { checkLabel } from './new-tx.ts';

/** Pending and published ones count; replaced, failed and orphaned ones are kept as history. */
export function isLive(status: TxStatus): boolean {
  return status === 'pending' || status === 'published';
}

/** Whether the mempool was last told to have it no more. */
export function isEvicted({ mempool: { seenAt, evictedAt } }: Pick<WalletTxRow, 'mempool'>): boolean {
  return evictedAt !== null && (seenAt === null || evictedAt >= seenAt);
}

/** What is told when what the mempool has of a row changes; null: nothing. */
export function mempoolEvent(before: WalletTxRow['mempool'], after: WalletTxRow['mempool'], txId: Uint8Array): WalletEvent | null {
  const [was, is] = [isEvicted({ mempool: before }), isEvicted({ mempool: after })];
  return was === is ? null : { kind: is ? 'tx.evicted' : 'tx.seen', txId };
}

/** What the decisions below need to know of a row. */
export interface RowState {
  readonly txId: Uint8Array;
  readonly isCoinbase: boolean;
  readonly scriptsFailed: boolean;
  readonly status: TxStatus;
  readonly block: WalletBlock | null;
  readonly label: string;
}

/**
 * What news does to a row.
 *   ignore      nothing (T15)
 *   fill        only credits and edges that are missing are added (T14)
 *   publish     pending becomes published (T4)
 *   reactivate  dead becomes published, if nothing that lives is in its way (T9b)
 *   confirm     it is in that block now, and published (T6, T9, T11b)
 *   move        a coinbase that a later block has again, as BIP30 forbids since: it is of the later block
 *               now, if none of its credits is spent; else the news is refused with TX_EXISTS
 */
export type RowEffect = 'ignore' | 'fill' | 'publish' | 'reactivate' | 'confirm' | 'move';

/**
 * Of `createTx` for a transaction that has a row. Throws TX_EXISTS. The block was checked against the stored one before,
 * and rows in another form than the block's are gone (`isReplacedForm`).
 */
export function effectOnRow(row: RowState, news: NewTx): RowEffect {
  if (isOtherForm(row, news.tx)) {
    if (news.block === undefined) return 'ignore';
    throw refusal.txExists(row.txId, 'is in a block already, where its scripts ended otherwise: roll back first');
  }
  if (row.block !== null) return effectOnConfirmed(row, row.block, news);
  if (news.block !== undefined) return 'confirm';
  if (!isLive(row.status)) {
    if (news.reactivate !== true) throw refusal.txExists(row.txId, `is ${row.status}; ask to reactivate it`);
    return 'reactivate';
  }
  if (row.status === 'pending' && news.status === 'published') return 'publish';
  return fill(row, news);
}

function effectOnConfirmed(row: RowState, block: WalletBlock, news: NewTx): RowEffect {
  if (news.block === undefined) return 'ignore';
  if (sameBlock(block, news.block)) return fill(row, news);
  if (row.isCoinbase && news.block.height > block.height) return 'move';
  throw refusal.txExists(row.txId, `is in the block of height ${block.height}, not of ${news.block.height}: roll back first`);
}

/** The scripts of the one failed, those of the other did not (`WalletTx.scriptsFailed`). */
function isOtherForm(row: Pick<RowState, 'scriptsFailed'>, tx: WalletTx): boolean {
  return row.scriptsFailed !== (tx.scriptsFailed ?? false);
}

/**
 * The block has the transaction in another form than the row, which is in no block: the row and what was built on it
 * fail, the row goes, and the news takes its place.
 */
export function isReplacedForm(row: Pick<RowState, 'scriptsFailed' | 'block'>, { tx, block }: NewTx): boolean {
  return block !== undefined && row.block === null && isOtherForm(row, tx);
}

/** What people are told: a transaction in a block whose scripts failed is published, since the chain has it, but what it was made for has failed. */
export function outcomeOf({ status, tx }: Pick<WalletTxRow, 'status' | 'tx'>): TxStatus {
  return tx.scriptsFailed === true && isLive(status) ? 'failed' : status;
}

/** An exact duplicate: whoever gives another label means something else. */
function fill(row: RowState, news: NewTx): RowEffect {
  if (news.label !== undefined && news.label !== row.label) throw refusal.txExists(row.txId, 'has another label');
  return 'fill';
}

/** Of `updateTx`, before the row is known. Throws INVALID_PARAM. */
export function checkTxChange(txId: Uint8Array, { label, state }: TxChange): void {
  if (label === undefined && state === undefined) throw refusal.txInvalid(txId, 'is to be changed, but nothing of it');
  if (label !== undefined) checkLabel(txId, label);
  if (state === undefined) return;
  if (!isLive(state.status)) throw refusal.txInvalid(txId, `cannot be made ${state.status}: invalidate it`);
  if (state.block !== undefined && state.status !== 'published') throw refusal.txInvalid(txId, 'is in a block, so it is published');
}

/** Of `updateTx` with a state, after `checkTxChange`. Throws INVALID_PARAM. */
export function effectOfChange(row: RowState, { status, block }: NonNullable<TxChange['state']>): 'none' | 'publish' | 'confirm' {
  if (row.isCoinbase) throw refusal.txInvalid(row.txId, 'is a coinbase: only blocks change its state');
  if (!isLive(row.status)) throw refusal.txInvalid(row.txId, `is ${row.status}: only blocks and the mempool bring it back`);
  if (row.block !== null) {
    if (block !== undefined && sameBlock(row.block, block)) return 'none';
    throw refusal.txInvalid(row.txId, 'is in a block: only a rollback takes it out');
  }
  if (block !== undefined) return 'confirm';
  if (status === row.status) return 'none';
  if (status === 'pending') throw refusal.txInvalid(row.txId, 'is published: it cannot be pending again');
  return 'publish';
}
