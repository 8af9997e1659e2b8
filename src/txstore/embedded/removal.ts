/** What a prune pass asks of the embedded store, and the removal of what it has proven. */
import type { Reader } from '../../engine/engine.ts';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { equalBytes } from '../../util/bytes.ts';
import { prefixEnd } from '../../util/key-range.ts';
import { giveBack } from '../conflicts.ts';
import type { ChildRead, DueParent, ProvenParent, PruneParent, Removal, RemovalResult } from '../prune-store.ts';
import { isAsProven } from '../rules/verdict.ts';
import { readMinedHeight, SLOT_BYTES } from './codec.ts';
import { childOfPair, TX_RECORD, TX_REFERENCE } from './columns.ts';
import { DueRow } from './due-row.ts';
import { idKeys } from './id-keys.ts';
import { distinctParents, type LoadedTx, loadedTx } from './loaded-tx.ts';
import { GONE, UNKNOWN } from './mined-heights.ts';
import { isHeldBy, slotSpenderView } from './slots.ts';
import { readTotals } from './totals.ts';
import type { TxCache } from './tx-cache.ts';
import type { TxUnit } from './unit.ts';

/** A parent with the unit that has read it, and the record to delete. */
interface ReadParent extends PruneParent {
  readonly unit: TxUnit;
  readonly tx: LoadedTx;
}

/** From their rows in the index, if these are of the state that the unit reads; others are read. */
export function readParents(unit: TxUnit, due: readonly Pick<DueParent, 'txId'>[]): (PruneParent | null)[] {
  const { mark } = unit;
  const txs = due.map((row) => (row instanceof DueRow && mark !== null ? row.recordAt(mark) : null));
  const others = due.filter((_, n) => txs[n] === null).map(({ txId }) => txId);
  unit.load(others, true);
  return due.map(({ txId }, n) => {
    const tx = txs[n] ?? unit.find(txId);
    return tx === undefined ? null : readParent(unit, tx);
  });
}

function readParent(unit: TxUnit, tx: LoadedTx): ReadParent {
  const { txId, version, deleteAtHeight, preserveUntil, isConflicting, hasUnspentSlot } = tx.state;
  const [children, referrer] = [unit.childrenInPlace(tx), firstReferrer(unit, txId)];
  const { bytes, slotsAt, pruned } = tx.state;
  const prunedChildren = pruned.map(({ slot }) => slotSpenderView(bytes, slotsAt + SLOT_BYTES * slot));
  return { txId, version, deleteAtHeight, preserveUntil, isConflicting, hasUnspentSlot, children, prunedChildren, referrer, unit, tx };
}

/** F3: an unmined or conflicting record with an input on the parent. */
function firstReferrer({ reader, cache }: TxUnit, parent: Uint8Array): Uint8Array | null {
  if (cache?.loadReferences(reader).mayHave(parent) === false) return null;
  for (const [key] of reader.scan(TX_REFERENCE, { gte: parent, lt: prefixEnd(parent, parent.length), limit: 1 })) return childOfPair(key);
  return null;
}

/** What a pass learns of a child. Its version is the height, which is all that a decision rests on. */
export function childReads(reader: Reader, cache: TxCache, txIds: readonly Uint8Array[]): ChildRead[] {
  cache.follow(readTotals(reader).mark);
  const heights = cache.heights.getAll(txIds);
  const unknown: number[] = [];
  const reads = txIds.map((txId, n): ChildRead => {
    if (heights[n] === UNKNOWN) unknown.push(n);
    return heights[n] === UNKNOWN || heights[n] === GONE ? ABSENT : minedChild(txId, heights[n]);
  });
  const rows = reader.getMany(TX_RECORD, idKeys(unknown.map((n) => txIds[n])));
  for (const [i, n] of unknown.entries()) reads[n] = readRow(cache, txIds[n], rows[i]);
  return reads;
}

const ABSENT: ChildRead = { kind: 'absent' };

function minedChild(txId: Uint8Array, height: number): ChildRead {
  return {
    kind: 'present',
    child: { txId, version: height, unminedSince: null, isConflicting: false, blocks: [{ height, isOnBestChain: true }] },
  };
}

/** A row that does not decode is a failed read of that child alone. */
function readRow({ heights, rows }: TxCache, txId: Uint8Array, row: Uint8Array | undefined): ChildRead {
  if (row === undefined) {
    heights.setGone(txId);
    return ABSENT;
  }
  try {
    const { state } = loadedTx(txId, row, 0, row.length, true);
    const height = readMinedHeight(row, 0);
    heights.setMined(txId, height);
    // It is asked for as a parent later.
    rows.put(txId, row);
    const { unminedSince, isConflicting, blocks } = state;
    return { kind: 'present', child: { txId, version: height, unminedSince, isConflicting, blocks } };
  } catch (cause) {
    return { kind: 'failed', cause };
  }
}

/**
 * The unit that has read all of them, if nothing was written since: then everything is as it was proven, and it goes on
 * with what it has.
 */
export function currentUnit({ parents, height }: Removal): TxUnit | null {
  const unit = (parents[0]?.parent as Partial<ReadParent> | undefined)?.unit;
  if (unit === undefined || !parents.every(({ parent }) => (parent as ReadParent).unit === unit)) return null;
  return unit.resume(height) ? unit : null;
}

/** Everything is compared with the state before the removal, unless it is `current`; then everything is removed. */
export function removeProven(unit: TxUnit, { parents }: Removal, isCurrent: boolean): RemovalResult {
  const { txs, changed } = isCurrent
    ? { txs: parents.map(({ parent }) => (parent as ReadParent).tx), changed: [] }
    : compared(unit, parents);
  const places = txs.flatMap((tx): InputPlace[] => {
    const inputs = unit.inputs(tx);
    return distinctParents(inputs).map((txId) => ({ tx, inputs, txId }));
  });
  const there = withoutGone(unit, places);
  for (const tx of txs) unit.delete(tx);
  unit.load(there.map(({ txId }) => txId));
  let [tombstonesWritten, parentsMissing] = [0, places.length - there.length];
  for (const { tx, inputs, txId } of there) {
    const parent = unit.find(txId);
    if (parent === undefined) {
      if (!unit.isDeleted(txId)) parentsMissing++;
      continue;
    }
    unit.leaveParent(tx, parent);
    if (tx.state.isConflicting || !holdsSlot(unit, parent, tx, inputs)) continue;
    unit.addTombstone(parent, tx.txId);
    tombstonesWritten++;
  }
  for (const tx of txs) if (tx.state.isConflicting) giveBack(unit, tx);
  return { deleted: txs.map(({ txId }) => txId), changed, tombstonesWritten, parentsMissing };
}

/** Those that are as they were proven, and the ids of the others. */
function compared(unit: TxUnit, parents: readonly ProvenParent[]): { readonly txs: LoadedTx[]; readonly changed: Uint8Array[] } {
  unit.load(parents.map(({ parent }) => parent.txId));
  const unchanged = parents.filter((proven) => isUnchanged(unit, proven));
  const kept = new Set(unchanged);
  const changed = parents.filter((proven) => !kept.has(proven)).map(({ parent }) => parent.txId);
  return { txs: unchanged.map(({ parent }) => unit.need(parent.txId)), changed };
}

/** A parent of a record that is deleted. */
interface InputPlace {
  readonly tx: LoadedTx;
  readonly inputs: readonly Outpoint[];
  readonly txId: Uint8Array;
}

function withoutGone({ cache }: TxUnit, places: readonly InputPlace[]): readonly InputPlace[] {
  const heights = cache?.heights.getAll(places.map(({ txId }) => txId));
  return heights === undefined ? places : places.filter((_, n) => heights[n] !== GONE);
}

function isUnchanged(unit: TxUnit, proven: ProvenParent): boolean {
  const { txId } = proven.parent;
  const state = unit.find(txId)?.state ?? null;
  return isAsProven(proven, {
    parent: state,
    isReferred: firstReferrer(unit, txId) !== null,
    childVersion: (child) => unit.minedHeight(child),
    hasTombstone: (child) => unit.hasTombstone(txId, child),
  });
}

/** Whether a slot of the parent names the transaction. */
function holdsSlot(unit: TxUnit, parent: LoadedTx, tx: LoadedTx, inputs: readonly Outpoint[]): boolean {
  return inputs.some(({ txId, index }) => equalBytes(txId, parent.txId) && isHeldBy(unit.reader, parent, index, tx.txId));
}
