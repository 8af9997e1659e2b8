/**
 * What a block of the best chain does to records, and what taking it away does,
 * inside one change of a store, whichever it is. A node has checked the block:
 * what it spends is its own, whoever held it. A transaction in no block that holds
 * an output which the block spends has lost, with all that spends of it.
 */
import { equalBytes } from '../../util/bytes.ts';
import { clearLosers, descendants, setLosers, spendsHeld, unspendOutputs } from '../conflicts.ts';
import type { TxRecord, TxSlot } from '../records.ts';
import { checkUndoable, minedIn, notMinedIn } from '../rules/mining.ts';
import { txRefusal } from '../rules/refusals.ts';
import { isSameSpender, spentSlot } from '../rules/slots.ts';
import type { NewStoredTx } from '../store.ts';
import type { ChangingTx, TxChanges } from '../tx-changes.ts';
import type { ChainBlock, ChainSpend, ChainTx } from './chain-txs.ts';

/** A record in memory that blocks can hold. */
export interface MineableTx extends ChangingTx {
  readonly state: ChangingTx['state'] & Pick<TxRecord, 'blocks' | 'unminedSince' | 'isCoinbase'>;
}

/** What blocks ask of a change of a store, beyond what conflicts do. */
export interface ChainChanges<T extends MineableTx> extends TxChanges<T> {
  /** Of the chain: that of the block at work. */
  height: number;
  /** Throws INVALID_PARAM, TX_EXISTS. */
  create(tx: NewStoredTx): T;
  /** It is not found from here on. */
  delete(tx: T): void;
  /** `withHash` false: nobody looks at the hash. */
  slot(tx: T, index: number, withHash?: boolean): TxSlot | null | undefined;
  hasTombstone(parent: Uint8Array, child: Uint8Array): boolean;
}

/** Reads what the blocks touch together. */
export function loadBlocks<T extends MineableTx>(unit: ChainChanges<T>, blocks: readonly ChainBlock[]): void {
  unit.load(blocks.flatMap(({ txs }) => txs.flatMap(({ tx, spends }) => [tx.txId, ...spends.map(({ txId }) => txId)])));
}

/** Throws STORE_DAMAGED for a parent that is missing, INVALID_SPEND for a transaction that was final and is deleted. */
export function connectBlock<T extends MineableTx>(unit: ChainChanges<T>, block: ChainBlock): void {
  unit.height = block.height;
  for (const [index, { tx, spends }] of block.txs.entries()) {
    const mined = { hash: block.hash, height: block.height, index, isOnBestChain: true };
    const known = unit.find(tx.txId);
    const loaded = known ?? unit.create({ ...tx, blocks: [mined] });
    const minedNow = known === undefined ? {} : minedIn(known.state, mined);
    unit.change(loaded, { ...minedNow, isLocked: false, isCreating: false });
    for (const spend of spends) takeOutput(unit, loaded, spend, known === undefined);
    if (loaded.state.isConflicting) clearLosers(unit, [tx.txId]);
  }
}

/** `isNew`: the store has no record of the spender. */
function takeOutput<T extends MineableTx>(unit: ChainChanges<T>, spender: T, spend: ChainSpend, isNew: boolean): void {
  const parent = unit.find(spend.txId);
  if (parent === undefined) throw txRefusal.missing([{ missing: spend.txId, neededBy: spender.txId }]);
  const by = { txId: spender.txId, vin: spend.vin };
  const holder = unit.slot(parent, spend.index, false)?.spender;
  const isHeld = holder !== null && holder !== undefined;
  if (isHeld && !isSameSpender(holder, by)) beat(unit, holder.txId, parent, spender);
  const isPruned = isHeld && isNew && unit.hasTombstone(spend.txId, spender.txId);
  unit.setSlot(parent, spend.index, spentSlot(unit.slot(parent, spend.index, false), spend, by, isPruned, unit.height));
}

/**
 * Whoever holds the output has lost, with all that spends of it, and none of them holds anything any more: not even of each
 * other, because one of them may come back in a block when the others are deleted.
 */
function beat<T extends MineableTx>(unit: ChainChanges<T>, loserId: Uint8Array, parent: T, winner: T): void {
  const loser = unit.find(loserId);
  if (loser === undefined) throw txRefusal.missing([{ missing: loserId, neededBy: parent.txId }]);
  if (loser.state.unminedSince === null && !loser.state.isConflicting)
    throw txRefusal.damaged(loserId, 'is in a block of the best chain and spends what a later block spends, too');
  const { spends, descendants: fallen } = setLosers(unit, [loserId]);
  unspendOutputs(unit, [...spends, ...fallen.flatMap((txId) => spendsHeld(unit, unit.need(txId)))], false);
  // Descendants of a loser lose, but a block that holds the winner decides about it alone.
  if (winner.state.isConflicting) clearLosers(unit, [winner.txId]);
}

export interface UndoneTxs {
  readonly hash: Uint8Array;
  readonly height: number;
  /** In the order of the block. */
  readonly txIds: readonly Uint8Array[];
}

/**
 * The transactions of the block wait again, but for its coinbase, which no other block can hold: it goes, with what spends
 * of it. Throws HORIZON where a pass has relied on the block, STORE_DAMAGED for a record that is missing.
 */
export function disconnectBlock<T extends MineableTx>(
  unit: ChainChanges<T>,
  { hash, height, txIds }: UndoneTxs,
  prunedHeight: number,
  window: number,
): void {
  unit.height = height;
  unit.load(txIds);
  for (const txId of txIds.toReversed()) {
    const tx = unit.find(txId);
    if (tx === undefined) throw txRefusal.missing([{ missing: txId }]);
    const gone = tx.state.blocks.filter((block) => equalBytes(block.hash, hash));
    checkUndoable(tx.state, gone, prunedHeight, window);
    unit.change(tx, notMinedIn(tx.state, hash, height));
    if (tx.state.isCoinbase && tx.state.blocks.length === 0) forget(unit, [tx]);
  }
}

/**
 * Transactions in no block that nobody waits for any more: they and what spends of them are deleted, and what they held is
 * unspent again. They leave no tombstone: a block may still bring them. Returns how many.
 */
function forget<T extends MineableTx>(unit: ChainChanges<T>, txs: readonly T[]): number {
  const all = descendants(unit, txs);
  for (const { txId, state } of all)
    if (state.unminedSince === null) throw txRefusal.damaged(txId, 'is in a block of the best chain, and spends of one that is in none');
  for (const tx of all) unspendOutputs(unit, spendsHeld(unit, tx), false);
  for (const tx of all) {
    unit.leaveParents(tx);
    unit.delete(tx);
  }
  return all.length;
}

/**
 * A transaction that waits in the mempool. False: it is there already, or a parent is not, or it spends what a block or a
 * loser holds. What it spends of others that wait is its own now: a node has only one of them in its mempool, the newest.
 */
function receiveTx<T extends MineableTx>(unit: ChainChanges<T>, { tx, spends }: ChainTx): boolean {
  if (unit.find(tx.txId) !== undefined) return false;
  const parents = spends.map(({ txId }) => unit.find(txId));
  if (!parents.every((parent) => parent !== undefined && !parent.state.isConflicting && !parent.state.isCreating)) return false;
  const holders = spends.flatMap((spend, n) => unit.slot(parents[n]!, spend.index, false)?.spender?.txId ?? []);
  if (spends.some((spend, n) => (unit.slot(parents[n]!, spend.index, false)?.state ?? 'frozen') === 'frozen')) return false;
  if (holders.some((holder) => (unit.find(holder)?.state.unminedSince ?? null) === null)) return false;
  const created = unit.create(tx);
  unit.change(created, {});
  for (const spend of spends) takeOutput(unit, created, spend, true);
  return true;
}

/** Those that do not fit the chain are passed over. Returns how many were taken. */
export function receiveTxs<T extends MineableTx>(unit: ChainChanges<T>, txs: readonly ChainTx[]): number {
  let [taken, waiting] = [0, txs];
  for (let before = -1; before < taken; ) {
    before = taken;
    // One whose parent comes behind it is taken in the next round.
    waiting = waiting.filter((tx) => !receiveTx(unit, tx));
    taken = txs.length - waiting.length;
  }
  return taken;
}

/** Returns how many of these were given up. */
export function forgetOld<T extends MineableTx>(unit: ChainChanges<T>, txIds: readonly Uint8Array[]): number {
  let count = 0;
  for (const txId of txIds) {
    const tx = unit.find(txId);
    // One may have gone with another. A loser goes when its time comes; its parents hold it as one. What a block holds now stays.
    if (tx === undefined || tx.state.isConflicting || tx.state.unminedSince === null) continue;
    forget(unit, [tx]);
    count++;
  }
  return count;
}
