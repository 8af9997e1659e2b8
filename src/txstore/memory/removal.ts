/** What a prune pass asks of the store in memory: every answer by looking at every record. */
import { compareBytes, equalBytes, toHex } from '../../util/bytes.ts';
import type { ChildRead, ProvenParent, PruneCursor, PruneParent, Removal, RemovalResult } from '../prune-store.ts';
import type { TxRecord } from '../records.ts';
import { needsParents } from '../rules/mining.ts';
import { spendsOf, unspendAll } from './conflicts.ts';
import { childrenOf, type TxDraft } from './draft.ts';

type Txs = ReadonlyMap<string, TxRecord>;

export function compareCursors(a: PruneCursor, b: PruneCursor): number {
  return a.height - b.height || compareBytes(a.txId, b.txId);
}

export function dueOf(txs: Txs, allowedHeight: number): PruneCursor[] {
  const due = [...txs.values()].flatMap(({ txId, deleteAtHeight: height }) =>
    height !== null && height <= allowedHeight ? [{ height, txId }] : [],
  );
  return due.sort(compareCursors);
}

export function pruneParentOf(txs: Txs, record: TxRecord): PruneParent {
  const { txId, version, deleteAtHeight, preserveUntil, isConflicting, spentCount, spendable } = record;
  const hasUnspentSlot = spentCount < spendable;
  return {
    txId,
    version,
    deleteAtHeight,
    preserveUntil,
    isConflicting,
    hasUnspentSlot,
    children: childrenOf(record),
    referrer: referrerOf(txs, txId),
  };
}

/** The lowest id among the records that need this one. */
function referrerOf(txs: Txs, parent: Uint8Array): Uint8Array | null {
  const referrers = [...txs.values()].filter(
    (record) => needsParents(record) && record.inputs.some(({ txId }) => equalBytes(txId, parent)),
  );
  return referrers.map(({ txId }) => txId).sort(compareBytes)[0] ?? null;
}

export function childReadOf(txs: Txs, txId: Uint8Array): ChildRead {
  const record = txs.get(toHex(txId));
  return record === undefined ? { kind: 'absent' } : { kind: 'present', child: record };
}

export function removeAll(draft: TxDraft, { height, parents }: Removal): RemovalResult {
  const before = new Map(draft.txs);
  const unchanged = parents.filter((proven) => isUnchanged(before, proven)).map(({ parent }) => before.get(toHex(parent.txId))!);
  for (const { txId } of unchanged) draft.txs.delete(toHex(txId));
  let [tombstonesWritten, parentsMissing] = [0, 0];
  for (const record of unchanged) {
    draft.leaveParents(record);
    if (record.isConflicting) giveBack(draft, record);
    const ids = new Map(record.inputs.map(({ txId }) => [toHex(txId), txId]));
    for (const [key, txId] of ids) {
      const parent = draft.txs.get(key);
      if (parent === undefined) parentsMissing += before.has(key) ? 0 : 1;
      else if (!record.isConflicting && childrenOf(parent).some((child) => equalBytes(child, record.txId))) {
        const tombstones = [...parent.tombstones, { txId: record.txId, height }].sort((a, b) => compareBytes(a.txId, b.txId));
        draft.txs.set(toHex(txId), { ...parent, tombstones });
        tombstonesWritten++;
      }
    }
  }
  const deleted = unchanged.map(({ txId }) => txId);
  const changed = parents.map(({ parent }) => parent.txId).filter((txId) => !deleted.some((gone) => equalBytes(gone, txId)));
  return { deleted, changed, tombstonesWritten, parentsMissing };
}

/** What a loser holds of others is unspent again: it was never final. The version stays, as with tombstones. */
function giveBack(draft: TxDraft, loser: TxRecord): void {
  for (const { outpoint, spender } of spendsOf(draft, loser)) {
    const { tombstones, version } = draft.need(outpoint.txId);
    if (tombstones.some(({ txId }) => equalBytes(txId, loser.txId))) continue;
    unspendAll(draft, [{ outpoint, spender }], false);
    draft.txs.set(toHex(outpoint.txId), { ...draft.need(outpoint.txId), version });
  }
}

function isUnchanged(txs: Txs, { parent, children }: ProvenParent): boolean {
  const record = txs.get(toHex(parent.txId));
  if (record === undefined || record.version !== parent.version || record.deleteAtHeight !== parent.deleteAtHeight) return false;
  if (referrerOf(txs, parent.txId) !== null) return false;
  return children.every(({ txId, version }) => {
    const child = txs.get(toHex(txId));
    return child === undefined ? record.tombstones.some((tombstone) => equalBytes(tombstone.txId, txId)) : child.version === version;
  });
}
