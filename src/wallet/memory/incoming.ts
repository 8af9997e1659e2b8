/**
 * A transaction comes in: made here, seen in the mempool, or seen in a block.
 * The row first, then whoever is in its way, then its credits and the stored
 * children that spend them, then the coins that it spends.
 */
import { outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletBlock } from '../records.ts';
import { sameBlock } from '../rules/block.ts';
import { refusal } from '../rules/failures.ts';
import { checkNewTx } from '../rules/new-tx.ts';
import { ownersOf } from '../rules/ownership.ts';
import {
  effectOfChange,
  effectOnRow,
  isEvicted,
  isLive,
  isReplacedForm,
  mempoolEvent,
  type RowEffect,
  type RowState,
} from '../rules/status.ts';
import type { NewTx, TxChange } from '../store.ts';
import { dropBranch, setStatus } from './branch.ts';
import { freezeCredit, labelsOfTx } from './labels.ts';
import { removeRow } from './removal.ts';
import type { MemoryCredit, MemoryTables, MemoryTx, MemoryWallet } from './tables.ts';

export function addTx(tables: MemoryTables, news: NewTx): void {
  checkNewTx(news);
  const wallet = tables.wallet(news.walletId);
  if (news.block !== undefined) checkStored(tables, news.block);
  const key = toHex(news.tx.id);
  const row = wallet.txs.get(key);
  const effect = row === undefined ? 'insert' : effectOnRow(stateOf(row), news);
  if (effect === 'ignore') return;
  if (row === undefined) insertRow(tables, wallet, key, news);
  else changeRow(tables, wallet, row, effect, news);

  if (effect === 'reactivate') refuseRivals(wallet, wallet.txOf(key), news.replace === true);
  if (news.replace === true || (news.block !== undefined && effect !== 'fill'))
    resolveConflicts(tables, wallet, wallet.txOf(key), news.received);
  attachChildren(tables, wallet, addCredits(tables, wallet, key, news), news.received);
  claimInputs(tables, wallet, wallet.txOf(key));
}

/** Before transactions come in: rows go that a block has in another form. What comes in has their label and their time. */
export function dropOtherForms(tables: MemoryTables, wallet: MemoryWallet, txs: readonly NewTx[]): NewTx[] {
  return txs.map((news) => {
    const row = wallet.txs.get(toHex(news.tx.id));
    if (row === undefined || !isReplacedForm(stateOf(row), news)) return news;
    if (isLive(row.status)) dropBranch(tables, wallet, [row], { kind: 'failed' });
    removeRow(tables, wallet, row);
    return { ...news, received: row.received, label: news.label ?? row.label };
  });
}

/** Throws BLOCK_UNKNOWN, BLOCK_MISMATCH. */
function checkStored(tables: MemoryTables, block: WalletBlock): void {
  const stored = tables.blocks.get(block.height);
  if (stored === undefined) throw refusal.blockUnknown(block);
  if (!sameBlock(stored, block)) throw refusal.blockMismatch(block);
}

function stateOf({ tx, status, block, label }: MemoryTx): RowState {
  return { txId: tx.id, isCoinbase: tx.isCoinbase, scriptsFailed: tx.scriptsFailed ?? false, status, block, label };
}

function insertRow(tables: MemoryTables, wallet: MemoryWallet, key: string, { tx, status, received, label, block }: NewTx): void {
  wallet.txs.set(key, {
    key,
    order: tables.next(),
    tx,
    status,
    block: null,
    confirmedOrder: null,
    received,
    label: label ?? labelsOfTx(wallet, tx.id).labelOf(key) ?? '',
    mempool: { seenAt: null, evictedAt: null },
  });
  for (const parentKey of new Set(tx.inputs.map(({ txId }) => toHex(txId)))) {
    wallet.children.set(parentKey, [...(wallet.children.get(parentKey) ?? []), key]);
  }
  tables.emit(wallet.id, { kind: 'tx.added', txId: tx.id, status });
  if (block !== undefined) confirm(tables, wallet, wallet.txOf(key), block);
}

function changeRow(tables: MemoryTables, wallet: MemoryWallet, row: MemoryTx, effect: RowEffect | 'insert', { block }: NewTx): void {
  if (effect === 'publish') setStatus(tables, wallet, row, 'published', 'broadcast');
  if (effect === 'reactivate') setStatus(tables, wallet, row, 'published', 'reactivated');
  if (effect === 'move' && wallet.creditsOf(row).some(({ spentBy }) => spentBy !== null)) {
    throw refusal.txExists(row.tx.id, 'is a coinbase that a later block has again, and some of it is spent');
  }
  if ((effect === 'confirm' || effect === 'move') && block !== undefined) confirm(tables, wallet, row, block);
}

/** It is in the block now: published, behind those of the wallet that are in it already. */
function confirm(tables: MemoryTables, wallet: MemoryWallet, row: MemoryTx, block: WalletBlock): void {
  if (row.status !== 'published') setStatus(tables, wallet, row, 'published', 'confirmed');
  let last = -1;
  for (const other of wallet.txs.values()) if (other.block?.height === block.height) last = Math.max(last, other.confirmedOrder ?? -1);
  wallet.txs.set(row.key, { ...wallet.txOf(row.key), block, confirmedOrder: last + 1 });
  tables.emit(wallet.id, { kind: 'tx.confirmed', txId: row.tx.id, height: block.height });
}

/** Unmined rows that spend what it spends are replaced by it. One that is in no block itself cannot replace one that is: INPUT_CONFLICT. */
function resolveConflicts(tables: MemoryTables, wallet: MemoryWallet, winner: MemoryTx, createdAt: number): void {
  const victims = new Map<string, MemoryTx>();
  for (const outpoint of winner.tx.inputs) {
    for (const rival of wallet.liveSpenders(outpoint, winner.key)) {
      if (rival.block === null) victims.set(rival.key, rival);
      else if (winner.block === null) throw refusal.inputConflict(outpoint);
    }
  }
  if (victims.size > 0) dropBranch(tables, wallet, [...victims.values()], { kind: 'replaced', winner, createdAt });
}

/** What was dead lives again only where nothing that lives spends the same, or, if it may replace, nothing that the mempool has. INPUT_CONFLICT. */
function refuseRivals(wallet: MemoryWallet, { key, tx }: MemoryTx, mayReplace: boolean): void {
  for (const outpoint of tx.inputs)
    for (const rival of wallet.liveSpenders(outpoint, key)) if (!(mayReplace && isEvicted(rival))) throw refusal.inputConflict(outpoint);
}

/** Records those that are not there yet, and returns them. */
function addCredits(tables: MemoryTables, wallet: MemoryWallet, parentKey: string, news: NewTx): MemoryCredit[] {
  const added: MemoryCredit[] = [];
  const labels = labelsOfTx(wallet, news.tx.id);
  for (const [index, { script }] of ownersOf(news, (script) => wallet.addresses.get(toHex(script)))) {
    const outpoint = { txId: news.tx.id, index };
    if (wallet.credits.get(outpointText(outpoint)) !== undefined) continue;
    const { amount } = news.tx.outputs[index];
    const credit: MemoryCredit = { outpoint, parentKey, amount, owner: toHex(script), spentBy: null };
    wallet.credits.set(outpointText(outpoint), credit);
    tables.emit(wallet.id, { kind: 'utxo.created', outpoint, amount });
    if (labels.isFrozen(outpointText(outpoint))) freezeCredit(tables, wallet, outpoint);
    added.push(credit);
  }
  return added;
}

/** Children that were stored before their parent now spend its credits. Throws INPUT_CONFLICT where it is not clear which. */
function attachChildren(tables: MemoryTables, wallet: MemoryWallet, credits: readonly MemoryCredit[], createdAt: number): void {
  for (const { outpoint } of credits) {
    const spenders = wallet.liveSpenders(outpoint);
    const confirmed = spenders.filter(({ block }) => block !== null);
    if (confirmed.length > 1 || (confirmed.length === 0 && spenders.length > 1)) throw refusal.inputConflict(outpoint);
  }
  for (const { outpoint } of credits) {
    const spenders = wallet.liveSpenders(outpoint);
    const holder = spenders.find(({ block }) => block !== null) ?? spenders[0];
    if (holder === undefined) continue;
    const victims = spenders.filter((row) => row !== holder);
    if (victims.length > 0) dropBranch(tables, wallet, victims, { kind: 'replaced', winner: holder, createdAt });
    claimCoin(
      tables,
      wallet,
      holder,
      holder.tx.inputs.findIndex((input) => outpointText(input) === outpointText(outpoint)),
    );
  }
}

function claimInputs(tables: MemoryTables, wallet: MemoryWallet, row: MemoryTx): void {
  for (const input of row.tx.inputs.keys()) claimCoin(tables, wallet, row, input);
}

/** Throws INPUT_CONFLICT, PARENT_DEAD. An outpoint that is no credit is somebody else's. */
function claimCoin(tables: MemoryTables, wallet: MemoryWallet, { key, tx }: MemoryTx, input: number): void {
  const outpoint = tx.inputs[input];
  const credit = wallet.credits.get(outpointText(outpoint));
  if (credit === undefined || credit.spentBy?.txKey === key) return;
  if (!isLive(wallet.txOf(credit.parentKey).status)) throw refusal.parentDead(outpoint);
  if (credit.spentBy !== null) throw refusal.inputConflict(outpoint);
  wallet.credits.set(outpointText(outpoint), { ...credit, spentBy: { txKey: key, input } });
  tables.emit(wallet.id, { kind: 'utxo.spent', outpoint, amount: credit.amount });
}

/** After `checkTxChange`. Throws TX_UNKNOWN, INVALID_PARAM, BLOCK_UNKNOWN, BLOCK_MISMATCH. */
export function applyTxChange(tables: MemoryTables, wallet: MemoryWallet, txId: Uint8Array, { label, state }: TxChange): void {
  const row = wallet.tx(txId);
  if (state !== undefined) {
    const effect = effectOfChange(stateOf(row), state);
    if (state.block !== undefined) checkStored(tables, state.block);
    if (effect === 'publish') setStatus(tables, wallet, row, 'published', 'broadcast');
    if (effect === 'confirm') confirm(tables, wallet, row, state.block!);
  }
  if (label !== undefined) wallet.txs.set(row.key, { ...wallet.txOf(row.key), label });
}

/** Throws TX_UNKNOWN. */
export function markInMempool(tables: MemoryTables, wallet: MemoryWallet, txId: Uint8Array, seen: boolean, now: number): void {
  const before = wallet.tx(txId);
  const after = { ...before, mempool: { ...before.mempool, [seen ? 'seenAt' : 'evictedAt']: now } };
  wallet.txs.set(before.key, after);
  const told = mempoolEvent(before.mempool, after.mempool, txId);
  if (told !== null) tables.emit(wallet.id, told);
}
