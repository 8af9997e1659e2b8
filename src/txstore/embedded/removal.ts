/** What a prune pass asks of the embedded store, and the removal of what it has proven. */
import type { Reader } from '../../engine/engine.ts';
import { equalBytes } from '../../util/bytes.ts';
import { prefixEnd } from '../../util/key-range.ts';
import type { ChildRead, ProvenParent, PruneParent, Removal, RemovalResult } from '../prune-store.ts';
import { isAsProven } from '../rules/verdict.ts';
import { readStoredChild } from './codec.ts';
import { childOfPair, TX_RECORD, TX_REFERENCE } from './columns.ts';
import { distinctParents, type LoadedTx, loadedTx } from './loaded-tx.ts';
import type { RowCache } from './row-cache.ts';
import { readSlot } from './slots.ts';
import type { TxCache } from './tx-cache.ts';
import type { TxUnit } from './unit.ts';

export function pruneParent(unit: TxUnit, tx: LoadedTx): PruneParent {
  const { txId, version, deleteAtHeight, preserveUntil, isConflicting, spentCount, spendable } = tx.state;
  const hasUnspentSlot = spentCount < spendable;
  const [children, referrer] = [unit.children(tx), firstReferrer(unit, txId)];
  return { txId, version, deleteAtHeight, preserveUntil, isConflicting, hasUnspentSlot, children, referrer };
}

/** F3: an unmined or conflicting record with an input on the parent. */
function firstReferrer({ reader, cache }: TxUnit, parent: Uint8Array): Uint8Array | null {
  if (cache?.loadReferences(reader).mayHave(parent) === false) return null;
  for (const [key] of reader.scan(TX_REFERENCE, { gte: parent, lt: prefixEnd(parent, parent.length), limit: 1 })) return childOfPair(key);
  return null;
}

/** A row that does not decode is a failed read of that child alone. */
export function childReads(reader: Reader, cache: TxCache, txIds: readonly Uint8Array[]): ChildRead[] {
  cache.follow(reader);
  const { rows } = cache;
  const unknown = txIds.filter((txId) => rows.find(txId) === null);
  const found = reader.getMany(TX_RECORD, unknown);
  let next = 0;
  return txIds.map((txId): ChildRead => {
    if (txId === unknown[next]) return readRow(rows, txId, found[next++]);
    const at = rows.find(txId);
    // What was read a moment ago has taken its place.
    if (at === null) return readRow(rows, txId, reader.get(TX_RECORD, txId));
    return rows.lengthAt(at) === 0 ? ABSENT : { kind: 'present', child: readStoredChild(txId, rows.bytes, at) };
  });
}

const ABSENT: ChildRead = { kind: 'absent' };

function readRow(rows: RowCache, txId: Uint8Array, row: Uint8Array | undefined): ChildRead {
  if (row === undefined) return ABSENT;
  try {
    loadedTx(txId, row, 0, row.length, true);
    rows.put(txId, row, 0, row.length);
    return { kind: 'present', child: readStoredChild(txId, row, 0) };
  } catch (cause) {
    return { kind: 'failed', cause };
  }
}

/** Everything is compared with the state before the removal, then everything is removed. */
export function removeProven(unit: TxUnit, { parents }: Removal): RemovalResult {
  unit.load(parents.map(({ parent }) => parent.txId));
  const [deleted, changed]: [Uint8Array[], Uint8Array[]] = [[], []];
  for (const proven of parents) (isUnchanged(unit, proven) ? deleted : changed).push(proven.parent.txId);
  const txs = deleted.map((txId) => unit.need(txId));
  const parentIds = txs.map((tx) => distinctParents(unit.inputs(tx)));
  const allIds = parentIds.flat();
  unit.load(allIds);
  const wasThere = allIds.map((txId) => unit.find(txId) !== undefined);
  for (const tx of txs) unit.delete(tx);
  let [tombstonesWritten, parentsMissing, nth] = [0, 0, 0];
  for (const [n, tx] of txs.entries()) {
    for (const txId of parentIds[n]) {
      const parent = unit.find(txId);
      if (!wasThere[nth++]) parentsMissing++;
      if (parent === undefined) continue;
      unit.leaveParent(tx, parent);
      if (!holdsSlot(unit, parent, tx)) continue;
      unit.addTombstone(parent, tx.txId);
      tombstonesWritten++;
    }
  }
  return { deleted, changed, tombstonesWritten, parentsMissing };
}

function isUnchanged(unit: TxUnit, proven: ProvenParent): boolean {
  const { txId } = proven.parent;
  const state = unit.find(txId)?.state ?? null;
  return isAsProven(proven, {
    parent: state,
    isReferred: firstReferrer(unit, txId) !== null,
    childVersion: (child) => unit.version(child),
    hasTombstone: (child) => state?.hasTombstones === true && unit.hasTombstone(txId, child),
  });
}

/** Whether a slot of the parent names the transaction. */
function holdsSlot(unit: TxUnit, parent: LoadedTx, tx: LoadedTx): boolean {
  return unit.inputs(tx).some(({ txId, index }) => {
    if (!equalBytes(txId, parent.txId)) return false;
    const holder = readSlot(unit.reader, parent, index, false)?.spender?.txId;
    return holder !== undefined && equalBytes(holder, tx.txId);
  });
}
