/** What a prune pass asks of the embedded store, and the removal of what it has proven. */
import type { Reader } from '../../engine/engine.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { prefixEnd } from '../../util/key-range.ts';
import { TX_PAGE_SLOTS } from '../../util/limits.ts';
import type { ChildRead, ProvenParent, PruneParent, Removal, RemovalResult } from '../prune-store.ts';
import { decodeTx } from './codec.ts';
import { childOfPair, TX_RECORD, TX_REFERENCE } from './columns.ts';
import { distinctParents, type LoadedTx, type TxUnit } from './unit.ts';

export function pruneParent(unit: TxUnit, reader: Reader, tx: LoadedTx): PruneParent {
  const { version, deleteAtHeight, preserveUntil, isConflicting, spentCount, spendable } = tx.state;
  const hasUnspentSlot = spentCount < spendable;
  const [children, referrer] = [unit.children(tx), firstReferrer(reader, tx.txId)];
  return { txId: tx.txId, version, deleteAtHeight, preserveUntil, isConflicting, hasUnspentSlot, children, referrer };
}

/** F3: an unmined or conflicting record with an input on the parent. */
function firstReferrer(reader: Reader, parent: Uint8Array): Uint8Array | null {
  for (const [key] of reader.scan(TX_REFERENCE, { gte: parent, lt: prefixEnd(parent, parent.length), limit: 1 })) return childOfPair(key);
  return null;
}

/** A row that does not decode is a failed read of that child alone. */
export function childReads(reader: Reader, txIds: readonly Uint8Array[]): ChildRead[] {
  return reader.getMany(TX_RECORD, txIds).map((row, n): ChildRead => {
    if (row === undefined) return { kind: 'absent' };
    try {
      return { kind: 'present', child: { ...decodeTx(row, TX_PAGE_SLOTS).state, txId: txIds[n] } };
    } catch (cause) {
      return { kind: 'failed', cause };
    }
  });
}

/** Everything is compared with the state before the removal, then everything is removed. */
export function removeProven(unit: TxUnit, reader: Reader, { parents }: Removal): RemovalResult {
  unit.load(parents.flatMap(({ parent, children }) => [parent.txId, ...children.map(({ txId }) => txId)]));
  const [deleted, changed]: [Uint8Array[], Uint8Array[]] = [[], []];
  for (const proven of parents) (isAsProven(unit, reader, proven) ? deleted : changed).push(proven.parent.txId);
  const txs = deleted.map((txId) => unit.need(txId));
  unit.load(txs.flatMap(({ state }) => state.inputs.map(({ txId }) => txId)));
  const wasThere = new Set(txs.flatMap((tx) => unit.parents(tx).map(({ txId }) => toHex(txId))));
  for (const tx of txs) unit.delete(tx);
  let [tombstonesWritten, parentsMissing] = [0, 0];
  for (const tx of txs) {
    unit.leaveParents(tx);
    for (const txId of distinctParents(tx.state)) {
      const parent = unit.find(txId);
      if (parent === undefined) parentsMissing += wasThere.has(toHex(txId)) ? 0 : 1;
      else if (holdsSlot(unit, parent, tx)) {
        unit.addTombstone(txId, tx.txId);
        tombstonesWritten++;
      }
    }
  }
  return { deleted, changed, tombstonesWritten, parentsMissing };
}

function isAsProven(unit: TxUnit, reader: Reader, { parent, children }: ProvenParent): boolean {
  const tx = unit.find(parent.txId);
  if (tx === undefined || tx.state.version !== parent.version || tx.state.deleteAtHeight !== parent.deleteAtHeight) return false;
  if (firstReferrer(reader, parent.txId) !== null) return false;
  return children.every(({ txId, version }) => {
    const child = unit.find(txId);
    return child === undefined ? unit.hasTombstone(parent.txId, txId) : child.state.version === version;
  });
}

/** Whether a slot of the parent names the transaction. */
function holdsSlot(unit: TxUnit, parent: LoadedTx, { txId, state }: LoadedTx): boolean {
  const mine = state.inputs.filter((input) => equalBytes(input.txId, parent.txId));
  return mine.some(({ index }) => {
    const holder = unit.slot(parent, index)?.spender?.txId;
    return holder !== undefined && equalBytes(holder, txId);
  });
}
