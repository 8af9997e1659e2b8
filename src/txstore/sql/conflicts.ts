/** Spending, losers and winners, with records that were read before (families.ts). */
import { equalBytes, toHex } from '../../util/bytes.ts';
import { txRefusal } from '../rules/refusals.ts';
import { checkParent, isSameSpender, spentSlot, unspentSlot } from '../rules/slots.ts';
import type { ConflictMarks, OutputSpend, SpendingInput, SpendingTx, SpendOptions } from '../store.ts';
import type { ReadTx, SqlUnit } from './unit.ts';

export function spendOutputs(unit: SqlUnit, txs: readonly SpendingTx[], options: SpendOptions): void {
  for (const { txId, inputs } of txs) {
    for (const [vin, input] of inputs.entries()) spendOne(unit, txId, vin, input, options);
  }
}

function spendOne(unit: SqlUnit, txId: Uint8Array, vin: number, input: SpendingInput, options: SpendOptions): void {
  const parent = unit.need(input.txId);
  checkParent({ ...parent.state, txId: parent.txId }, unit.height, options);
  const slot = unit.slot(parent, input.index);
  const isPruned = slot?.state !== 'frozen' && unit.tombstoneHeight(input.txId, txId) !== null;
  unit.setSlot(parent, input.index, spentSlot(slot, input, { txId, vin }, isPruned, unit.height));
}

export function unspendSlots(unit: SqlUnit, spends: readonly OutputSpend[], lock: boolean): void {
  for (const { outpoint, spender } of spends) {
    const parent = unit.need(outpoint.txId);
    unit.setSlot(parent, outpoint.index, unspentSlot(unit.slot(parent, outpoint.index), outpoint, spender));
    if (lock) unit.change(parent, { isLocked: true });
  }
}

export function markLosers(unit: SqlUnit, txIds: readonly Uint8Array[]): ConflictMarks {
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

export function unmarkLosers(unit: SqlUnit, txIds: readonly Uint8Array[]): ConflictMarks {
  const txs = unit.needAll(txIds);
  const spends = txs.flatMap((tx) => spendsHeld(unit, tx));
  for (const tx of txs) {
    unit.change(tx, { isConflicting: false });
    unit.leaveParents(tx);
  }
  return { spends, descendants: [] };
}

/** What a transaction holds of its parents. */
function spendsHeld(unit: SqlUnit, tx: ReadTx): OutputSpend[] {
  const { txId } = tx;
  return unit.inputs(tx).flatMap((outpoint, vin) => {
    const parent = unit.find(outpoint.txId);
    const holder = parent === undefined ? null : unit.slot(parent, outpoint.index)?.spender;
    return holder && isSameSpender(holder, { txId, vin }) ? [{ outpoint, spender: { txId, vin } }] : [];
  });
}

/** The transactions themselves, then level by level what spends of them; without those that were pruned. */
function descendants(unit: SqlUnit, txs: readonly ReadTx[]): readonly ReadTx[] {
  const found = new Map(txs.map((tx) => [toHex(tx.txId), tx]));
  for (const tx of found.values()) {
    const children = unit.children(tx);
    for (const txId of children) {
      const child = unit.find(txId);
      if (child !== undefined) found.set(toHex(txId), child);
      else if (unit.tombstoneHeight(tx.txId, txId) === null) throw txRefusal.missing([{ missing: txId, neededBy: tx.txId }]);
    }
  }
  return [...found.values()];
}

/**
 * The losers and their descendants, with all that they hold of others. A descendant may hold an output of a parent that
 * has not lost: if it kept it, that parent would count as spent for good once the descendant is deleted.
 */
function markAllLosers(unit: SqlUnit, losers: readonly Uint8Array[]): ConflictMarks {
  const { spends, descendants: fallen } = markLosers(unit, losers);
  const lost = new Set([...losers, ...fallen].map((txId) => toHex(txId)));
  const theirs = fallen.flatMap((txId) => spendsHeld(unit, unit.need(txId))).filter(({ outpoint }) => !lost.has(toHex(outpoint.txId)));
  return { spends: [...spends, ...theirs], descendants: fallen };
}

/** The five steps. Returns the losers and their descendants. */
export function resolveWinners(unit: SqlUnit, winnerIds: readonly Uint8Array[]): readonly Uint8Array[] {
  const winners = unit.needAll(winnerIds);
  for (const { txId, state } of winners) if (!state.isConflicting) throw txRefusal.notConflicting(txId);
  const losers = [...new Map(winners.flatMap((winner) => rivals(unit, winner)).map((txId) => [toHex(txId), txId])).values()];
  const { spends, descendants: fallen } = markAllLosers(unit, losers);
  const parents = new Map(spends.map(({ outpoint }) => [toHex(outpoint.txId), unit.need(outpoint.txId)]));
  const toUnlock = [...parents.values()].filter(({ state }) => !state.isLocked);
  unspendSlots(unit, spends, true);
  const isWinner = new Set(winnerIds.map((txId) => toHex(txId)));
  for (const winner of winners) {
    for (const [vin, input] of unit.inputs(winner).entries())
      spendOne(unit, winner.txId, vin, input, { ignoreLocked: true, ignoreConflicting: isWinner.has(toHex(input.txId)) });
  }
  unmarkLosers(unit, winnerIds);
  for (const tx of toUnlock) unit.change(tx, { isLocked: false });
  return [...losers, ...fallen];
}

/** Who holds what the winner is to have. Throws TX_NOT_FOUND, FROZEN, HORIZON, STORE_DAMAGED. */
function rivals(unit: SqlUnit, winner: ReadTx): Uint8Array[] {
  return unit.inputs(winner).flatMap((input) => {
    const parent = unit.need(input.txId);
    const slot = unit.slot(parent, input.index);
    if (slot?.state === 'frozen') throw txRefusal.frozen(input);
    const holder = slot?.spender?.txId;
    if (holder === undefined || equalBytes(holder, winner.txId)) return [];
    if (unit.find(holder) !== undefined) return [holder];
    const prunedAt = unit.tombstoneHeight(parent.txId, holder);
    throw prunedAt === null
      ? txRefusal.missing([{ missing: holder, neededBy: parent.txId }])
      : txRefusal.belowHorizon(holder, prunedAt, prunedAt);
  });
}
