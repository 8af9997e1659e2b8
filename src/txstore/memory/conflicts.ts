/** Losers and winners, in the store in memory. */
import { equalBytes, toHex } from '../../util/bytes.ts';
import type { TxRecord } from '../records.ts';
import { txRefusal } from '../rules/refusals.ts';
import { checkParent, spentSlot, unspentSlot } from '../rules/slots.ts';
import type { ConflictMarks, OutputSpend, SpendingInput, SpendingTx, SpendOptions } from '../store.ts';
import { childrenOf, type TxDraft } from './draft.ts';

export function spendAll(draft: TxDraft, txs: readonly SpendingTx[], options: SpendOptions): void {
  for (const { txId, inputs } of txs) {
    for (const [vin, input] of inputs.entries()) spendInput(draft, txId, vin, input, options);
  }
}

export function unspendAll(draft: TxDraft, spends: readonly OutputSpend[], lock: boolean): void {
  for (const { outpoint, spender } of spends) {
    draft.setSlot(outpoint.txId, outpoint.index, unspentSlot(draft.slot(outpoint.txId, outpoint.index), outpoint, spender));
    if (lock) draft.change(outpoint.txId, { isLocked: true });
  }
}

export function markConflicting(draft: TxDraft, txIds: readonly Uint8Array[], isConflicting: boolean): ConflictMarks {
  draft.checkAll(txIds);
  const spends = txIds.flatMap((txId) => spendsOf(draft, draft.need(txId)));
  const named = new Set(txIds.map((txId) => toHex(txId)));
  const marked = isConflicting ? withDescendants(draft, txIds) : txIds;
  for (const txId of marked) {
    draft.change(txId, { isConflicting });
    if (isConflicting) draft.joinParents(draft.need(txId));
    else draft.leaveParents(draft.need(txId));
  }
  return { spends, descendants: marked.filter((txId) => !named.has(toHex(txId))) };
}

/** What the record holds of its parents. */
export function spendsOf(draft: TxDraft, { txId, inputs }: TxRecord): OutputSpend[] {
  return inputs.flatMap((outpoint, vin) => {
    const holder = draft.find(outpoint.txId)?.outputs[outpoint.index]?.slot?.spender;
    return holder && holder.vin === vin && equalBytes(holder.txId, txId) ? [{ outpoint, spender: { txId, vin } }] : [];
  });
}

/** The transactions, then those that spend of them, and so on, each once. Spenders that were pruned are left out. */
function withDescendants(draft: TxDraft, txIds: readonly Uint8Array[]): Uint8Array[] {
  const found = new Map(txIds.map((txId) => [toHex(txId), txId]));
  for (const txId of found.values()) {
    const record = draft.need(txId);
    for (const child of childrenOf(record)) {
      if (draft.find(child) !== undefined) found.set(toHex(child), child);
      else if (!record.tombstones.some((tombstone) => equalBytes(tombstone.txId, child)))
        throw txRefusal.missing([{ missing: child, neededBy: txId }]);
    }
  }
  return [...found.values()];
}

export function resolveConflicts(draft: TxDraft, winners: readonly Uint8Array[]): readonly Uint8Array[] {
  draft.checkAll(winners);
  for (const winner of winners) if (!draft.need(winner).isConflicting) throw txRefusal.notConflicting(winner);
  const losers = winners.flatMap((winner) => holdersAgainst(draft, draft.need(winner)));
  const distinct = [...new Map(losers.map((txId) => [toHex(txId), txId])).values()];
  const { spends: own, descendants } = markConflicting(draft, distinct, true);
  const theirs = descendants.flatMap((txId) => spendsOf(draft, draft.need(txId)));
  const spends = [...own, ...theirs];
  const toUnlock = spends.map(({ outpoint }) => outpoint.txId).filter((txId) => !draft.need(txId).isLocked);
  unspendAll(draft, spends, true);
  const isWinner = new Set(winners.map((txId) => toHex(txId)));
  for (const winner of winners) {
    for (const [vin, input] of draft.need(winner).inputs.entries()) {
      spendInput(draft, winner, vin, input, { ignoreLocked: true, ignoreConflicting: isWinner.has(toHex(input.txId)) });
    }
  }
  markConflicting(draft, winners, false);
  for (const txId of toUnlock) draft.change(txId, { isLocked: false });
  return [...distinct, ...descendants];
}

function spendInput(draft: TxDraft, txId: Uint8Array, vin: number, input: SpendingInput, options: SpendOptions): void {
  const parent = draft.need(input.txId);
  checkParent(parent, draft.height, options);
  const isPruned = parent.tombstones.some((tombstone) => equalBytes(tombstone.txId, txId));
  draft.setSlot(input.txId, input.index, spentSlot(draft.slot(input.txId, input.index), input, { txId, vin }, isPruned, draft.height));
}

/** Who holds what the winner spends. Throws TX_NOT_FOUND, FROZEN, HORIZON, STORE_DAMAGED. */
function holdersAgainst(draft: TxDraft, winner: TxRecord): Uint8Array[] {
  return winner.inputs.flatMap((input) => {
    const parent = draft.need(input.txId);
    const slot = parent.outputs[input.index]?.slot;
    if (slot?.state === 'frozen') throw txRefusal.frozen(input);
    const holder = slot?.spender?.txId;
    if (holder === undefined || equalBytes(holder, winner.txId)) return [];
    if (draft.find(holder) !== undefined) return [holder];
    const tombstone = parent.tombstones.find(({ txId }) => equalBytes(txId, holder));
    if (tombstone !== undefined) throw txRefusal.belowHorizon(holder, tombstone.height, tombstone.height);
    throw txRefusal.missing([{ missing: holder, neededBy: parent.txId }]);
  });
}
