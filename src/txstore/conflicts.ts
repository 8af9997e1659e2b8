/** Spending, losers and winners: what happens to several records at once, in every store but the model. */
import { equalBytes, toHex } from '../util/bytes.ts';
import { txRefusal } from './rules/refusals.ts';
import { checkParent, isSameSpender, unspentSlot } from './rules/slots.ts';
import type { ConflictMarks, OutputSpend, SpendingInput, SpendingTx, SpendOptions } from './store.ts';
import type { ChangingTx, TxChanges } from './tx-changes.ts';

export function spendInputs<T extends ChangingTx>(unit: TxChanges<T>, txs: readonly SpendingTx[], options: SpendOptions): void {
  const parents: Uint8Array[] = [];
  for (const { inputs } of txs) for (const { txId } of inputs) parents.push(txId);
  unit.load(parents);
  for (const { txId, inputs } of txs) {
    for (let vin = 0; vin < inputs.length; vin++) spendOne(unit, txId, vin, inputs[vin], options);
  }
}

function spendOne<T extends ChangingTx>(
  unit: TxChanges<T>,
  txId: Uint8Array,
  vin: number,
  input: SpendingInput,
  options: SpendOptions,
): void {
  const parent = unit.need(input.txId);
  checkParent(parent.state, unit.height, options);
  unit.spend(parent, input, { txId, vin });
}

export function unspendOutputs<T extends ChangingTx>(unit: TxChanges<T>, spends: readonly OutputSpend[], lock: boolean): void {
  unit.load(spends.map(({ outpoint }) => outpoint.txId));
  for (const { outpoint, spender } of spends) {
    const parent = unit.need(outpoint.txId);
    unit.setSlot(parent, outpoint.index, unspentSlot(unit.slot(parent, outpoint.index), outpoint, spender));
    if (lock) unit.change(parent, { isLocked: true });
  }
}

export function setLosers<T extends ChangingTx>(unit: TxChanges<T>, txIds: readonly Uint8Array[]): ConflictMarks {
  const txs = unit.needAll(txIds);
  const spends = txs.flatMap((tx) => spendsHeld(unit, tx));
  const all = descendants(unit, txs);
  for (const tx of all) {
    unit.change(tx, { isConflicting: true });
    unit.joinParents(tx);
  }
  const named = new Set(txIds.map((txId) => toHex(txId)));
  return { spends, descendants: all.map(({ txId }) => txId).filter((txId) => !named.has(toHex(txId))) };
}

export function clearLosers<T extends ChangingTx>(unit: TxChanges<T>, txIds: readonly Uint8Array[]): ConflictMarks {
  const txs = unit.needAll(txIds);
  const spends = txs.flatMap((tx) => spendsHeld(unit, tx));
  for (const tx of txs) {
    unit.change(tx, { isConflicting: false });
    unit.leaveParents(tx);
  }
  return { spends, descendants: [] };
}

/** What a transaction holds of its parents. */
export function spendsHeld<T extends ChangingTx>(unit: TxChanges<T>, tx: T): OutputSpend[] {
  const { txId } = tx;
  return unit.inputs(tx).flatMap((outpoint, vin) => {
    const parent = unit.find(outpoint.txId);
    const holder = parent === undefined ? null : unit.slot(parent, outpoint.index)?.spender;
    return holder && isSameSpender(holder, { txId, vin }) ? [{ outpoint, spender: { txId, vin } }] : [];
  });
}

/** The transactions themselves, then level by level what spends of them; without those that were pruned. Throws STORE_DAMAGED. */
export function descendants<T extends ChangingTx>(unit: TxChanges<T>, txs: readonly T[]): readonly T[] {
  const found = new Map(txs.map((tx) => [toHex(tx.txId), tx]));
  for (const tx of found.values()) {
    const children = unit.children(tx);
    unit.load(children);
    for (const txId of children) {
      const child = unit.find(txId);
      if (child !== undefined) found.set(toHex(txId), child);
      else if (unit.tombstoneHeight(tx.txId, txId) === null) throw txRefusal.missing([{ missing: txId, neededBy: tx.txId }]);
    }
  }
  return [...found.values()];
}

/**
 * The losers and their descendants, with all that they hold, also of each other: one of them may be mined after all, when
 * those that spent of it are deleted, and then nobody has spent it.
 */
function loseAll<T extends ChangingTx>(unit: TxChanges<T>, losers: readonly Uint8Array[]): ConflictMarks {
  const { spends, descendants: fallen } = setLosers(unit, losers);
  const theirs = fallen.flatMap((txId) => spendsHeld(unit, unit.need(txId)));
  return { spends: [...spends, ...theirs], descendants: fallen };
}

/**
 * A loser is about to be deleted: what it holds of others is unspent again, because it was never final and leaves no
 * tombstone. Where there is one, the same transaction was final before, and what it spent stays spent.
 */
export function giveBack<T extends ChangingTx>(unit: TxChanges<T>, loser: T): void {
  for (const spend of spendsHeld(unit, loser)) {
    const { txId } = spend.outpoint;
    if (unit.tombstoneHeight(txId, loser.txId) !== null) continue;
    unspendOutputs(unit, [spend], false);
    unit.keepVersion(unit.need(txId));
  }
}

/** The five steps. Returns the losers and their descendants. */
export function letWin<T extends ChangingTx>(unit: TxChanges<T>, winnerIds: readonly Uint8Array[]): readonly Uint8Array[] {
  const winners = unit.needAll(winnerIds);
  for (const { txId, state } of winners) if (!state.isConflicting) throw txRefusal.notConflicting(txId);
  const losers = [...new Map(winners.flatMap((winner) => rivals(unit, winner)).map((txId) => [toHex(txId), txId])).values()];
  const { spends, descendants: fallen } = loseAll(unit, losers);
  const parents = new Map(spends.map(({ outpoint }) => [toHex(outpoint.txId), unit.need(outpoint.txId)]));
  const toUnlock = [...parents.values()].filter(({ state }) => !state.isLocked);
  unspendOutputs(unit, spends, true);
  const isWinner = new Set(winnerIds.map((txId) => toHex(txId)));
  for (const tx of winners) {
    for (const [vin, input] of unit.inputs(tx).entries())
      spendOne(unit, tx.txId, vin, input, { ignoreLocked: true, ignoreConflicting: isWinner.has(toHex(input.txId)) });
  }
  clearLosers(unit, winnerIds);
  for (const tx of toUnlock) unit.change(tx, { isLocked: false });
  return [...losers, ...fallen];
}

/** Who holds what the winner is to have. Throws TX_NOT_FOUND, FROZEN, HORIZON, STORE_DAMAGED. */
function rivals<T extends ChangingTx>(unit: TxChanges<T>, tx: T): Uint8Array[] {
  return unit.inputs(tx).flatMap((input) => {
    const parent = unit.need(input.txId);
    const slot = unit.slot(parent, input.index);
    if (slot?.state === 'frozen') throw txRefusal.frozen(input);
    const holder = slot?.spender?.txId;
    if (holder === undefined || equalBytes(holder, tx.txId)) return [];
    if (unit.find(holder) !== undefined) return [holder];
    const prunedAt = unit.tombstoneHeight(parent.txId, holder);
    throw prunedAt === null
      ? txRefusal.missing([{ missing: holder, neededBy: parent.txId }])
      : txRefusal.belowHorizon(holder, prunedAt, prunedAt);
  });
}
