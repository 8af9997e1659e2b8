/**
 * One chunk of a prune pass: read the candidates, read their children in
 * batches, judge each candidate, and remove those that may go in one atomic
 * change. A batch of children that cannot be read keeps every parent of one of
 * them, and a record that is damaged keeps itself, not its neighbours (F2).
 */
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { distinctIds, IdMap, isSameId } from '../../util/id-map.ts';
import type { ChildRead, DueParent, ParentChild, ProvenParent, PruneCursor, PruneParent, RemovalResult } from '../prune-store.ts';
import { type ChildEvidence, judge, type KeepReason, type PruneHeights } from '../rules/verdict.ts';
import type { TxStore } from '../store.ts';
import type { PruneCounters } from './counters.ts';
import type { PassSettings } from './settings.ts';

/** What all chunks of a pass share. */
export interface PassContext {
  readonly store: TxStore;
  readonly settings: PassSettings;
  readonly heights: PruneHeights;
  readonly counters: PruneCounters;
  /** Milliseconds, from any beginning. */
  readonly now: () => number;
}

export interface KeptParent {
  readonly txId: Uint8Array;
  /** The height at which it was due. */
  readonly since: number;
  readonly reason: KeepReason;
  readonly child: Uint8Array | null;
}

export interface ChunkResult {
  readonly deleted: readonly Uint8Array[];
  readonly kept: readonly KeptParent[];
}

/** `restart`: where the scan goes on after a crash; nothing behind it may be left undecided. */
export async function pruneChunk(context: PassContext, due: readonly DueParent[], restart: PruneCursor | null): Promise<ChunkResult> {
  const { counters, now } = context;
  const began = now();
  counters.add('prune_candidates_total', due.length);
  const kept: KeptParent[] = [];
  const unreadable = (txId: Uint8Array, since: number): void => void kept.push({ txId, since, reason: 'read_error', child: null });
  const parents = await readParents(context, due, (row) => unreadable(row.txId, row.height));
  const evidence = await readEvidence(context, parents);
  const proven: ProvenParent[] = [];
  for (const [n, parent] of parents.entries()) {
    const verdict = judge(parent, evidence[n], context.heights);
    if (verdict.delete) proven.push({ parent, children: evidence[n].map(versionOf) });
    else kept.push({ txId: parent.txId, since: sinceOf(parent, context), reason: verdict.reason, child: verdict.child });
  }
  const removed = await remove(context, proven, restart, ({ parent }) => unreadable(parent.txId, sinceOf(parent, context)));
  for (const { parent } of removed.changed.length === 0 ? [] : changedOf(proven, removed.changed))
    kept.push({ txId: parent.txId, since: sinceOf(parent, context), reason: 'changed', child: null });
  for (const { reason } of kept) counters.kept(reason);
  countRemoval(counters, removed);
  counters.took('prune_chunk_seconds', now() - began);
  return { deleted: removed.deleted, kept };
}

export function countRemoval(
  counters: PruneCounters,
  { deleted, tombstonesWritten, parentsMissing, blobsDeleted = 0 }: Omit<RemovalResult, 'changed'>,
): void {
  counters.add('prune_deleted_total', deleted.length);
  counters.add('prune_tombstones_written_total', tombstonesWritten);
  counters.add('prune_parent_missing_total', parentsMissing);
  counters.add('prune_blob_deleted_total', blobsDeleted);
}

function changedOf(proven: readonly ProvenParent[], changed: readonly Uint8Array[]): readonly ProvenParent[] {
  const ids = new IdMap<true>(changed.length);
  for (const txId of changed) ids.set(txId, true);
  return proven.filter(({ parent }) => ids.has(parent.txId));
}

function sinceOf({ deleteAtHeight }: PruneParent, { heights }: PassContext): number {
  return deleteAtHeight ?? heights.requested;
}

function versionOf({ txId, read }: ChildEvidence): ProvenParent['children'][number] {
  return { txId, version: read.kind === 'present' ? read.child.version : null };
}

type Unreadable<T> = (one: T) => void;

/** A damaged one is looked for by halves, so that the others are read together. Those of an answer that does not come in time are kept. */
async function readParents(context: PassContext, due: readonly DueParent[], failed: Unreadable<DueParent>): Promise<PruneParent[]> {
  try {
    return (await inTime(context.store.readParents(due), context.settings.childReadMs)).filter((parent) => parent !== null);
  } catch (error) {
    const isDamaged = isUnspentError(error, 'STORE_DAMAGED');
    if (!isDamaged && !isUnspentError(error, 'NOT_YET')) throw error;
    if (isDamaged && due.length > 1)
      return byHalves(due, async (half) => readParents(context, half, failed)).then((halves) => halves.flat());
    for (const row of due) failed(row);
    return [];
  }
}

async function byHalves<T, R>(all: readonly T[], each: (half: readonly T[]) => Promise<R>): Promise<readonly [R, R]> {
  const middle = all.length >> 1;
  return [await each(all.slice(0, middle)), await each(all.slice(middle))];
}

/** A removal that meets a damaged record, a parent of one that is to go, is cut in halves until only that one stays. */
async function remove(
  context: PassContext,
  parents: readonly ProvenParent[],
  cursor: PruneCursor | null,
  failed: Unreadable<ProvenParent>,
): Promise<RemovalResult> {
  const { store, settings, heights } = context;
  const nothing = { deleted: [], changed: [], tombstonesWritten: 0, parentsMissing: 0 };
  if (settings.dryRun) return { ...nothing, deleted: parents.map(({ parent }) => parent.txId) };
  if (parents.length === 0) return nothing;
  try {
    return await store.removeParents({ height: heights.requested, parents, cursor });
  } catch (error) {
    if (!isUnspentError(error, 'STORE_DAMAGED')) throw error;
    if (parents.length > 1) {
      const [first, second] = await byHalves(parents, (half) => remove(context, half, cursor, failed));
      return {
        deleted: [...first.deleted, ...second.deleted],
        changed: [...first.changed, ...second.changed],
        tombstonesWritten: first.tombstonesWritten + second.tombstonesWritten,
        parentsMissing: first.parentsMissing + second.parentsMissing,
        blobsDeleted: (first.blobsDeleted ?? 0) + (second.blobsDeleted ?? 0),
      };
    }
    failed(parents[0]);
    return nothing;
  }
}

/** Of every child of every parent, in the order of the parents. Each distinct child is read once. */
async function readEvidence(context: PassContext, parents: readonly PruneParent[]): Promise<ChildEvidence[][]> {
  const reads = await readChildren(context, distinctIds(parents.flatMap(({ children }) => children)));
  const evidence: Evidence[][] = [];
  const absent: AbsentChild[] = [];
  for (const { txId: parent, children, prunedChildren } of parents) {
    const ofParent: Evidence[] = [];
    for (const txId of children) {
      const read = reads.get(txId) ?? UNREAD;
      const hasTombstone = read.kind === 'absent' && prunedChildren?.some((pruned) => isSameId(pruned, 0, txId, 0)) === true;
      const found: Evidence = { txId, read, hasTombstone };
      if (read.kind === 'absent' && !hasTombstone) absent.push({ parent, child: txId, evidence: found });
      ofParent.push(found);
    }
    evidence.push(ofParent);
  }
  await findTombstones(context, absent);
  return evidence;
}

type Evidence = { -readonly [K in keyof ChildEvidence]: ChildEvidence[K] };

interface AbsentChild extends ParentChild {
  readonly evidence: Evidence;
}

const UNREAD: ChildRead = { kind: 'failed', cause: 'no answer' };

async function readChildren(context: PassContext, children: readonly Uint8Array[]): Promise<IdMap<ChildRead>> {
  const { counters, now, settings } = context;
  const reads = new IdMap<ChildRead>(children.length);
  for (let at = 0; at < children.length; at += settings.childBatch) {
    const batch = children.slice(at, at + settings.childBatch);
    const began = now();
    counters.add('prune_child_batches_total');
    const answers = await readBatch(context, batch);
    counters.took('prune_child_batch_seconds', now() - began);
    if (answers === null) continue;
    counters.add('prune_children_verified_total', batch.length);
    for (let n = 0; n < batch.length; n++) reads.set(batch[n], answers[n]);
  }
  return reads;
}

/** Null: it failed, and failed again. An answer of another length is a failure: nobody can say which child is missing in it. */
async function readBatch({ store, settings, counters }: PassContext, txIds: readonly Uint8Array[]): Promise<readonly ChildRead[] | null> {
  for (let attempt = 0; attempt <= settings.childRetries; attempt++) {
    if (attempt > 0) counters.add('prune_retries_total');
    try {
      const answers = await inTime(store.readChildren(txIds), settings.childReadMs);
      if (answers.length === txIds.length) return answers;
    } catch {
      // Counted below, when no attempt is left; until then the next attempt decides.
    }
  }
  counters.add('prune_child_batch_errors_total');
  return null;
}

/** A pair that cannot be read counts as without a tombstone, which keeps the parent. */
async function findTombstones({ store, counters, settings }: PassContext, absent: readonly AbsentChild[]): Promise<void> {
  if (absent.length === 0) return;
  try {
    for (const [n, isFound] of (await inTime(store.readTombstones(absent), settings.childReadMs)).entries())
      absent[n].evidence.hasTombstone = isFound === true;
  } catch {
    counters.add('prune_child_batch_errors_total');
  }
}

async function inTime<T>(answer: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new UnspentError('NOT_YET', `no answer in ${ms} ms`)), ms);
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
