/**
 * One prune pass at one height: preservations end, the parents of old unmined
 * records are preserved (if that is on), then every candidate is decided on, in
 * the order of the heights at which they were due. The gates (gates.ts) were
 * open when it began, and are asked again between its steps: the chain goes on
 * meanwhile. A pass that was interrupted goes on behind what it has decided; a
 * later height begins anew. What it has decided is handed over as it goes, so
 * that a pass of any length needs no more memory than one step of it.
 */
import { toHex } from '../../util/bytes.ts';
import { PRUNE_UNMINED_BATCH } from '../../util/limits.ts';
import { nextTurn } from '../../util/time-slice.ts';
import type { DueParent, PruneCursor } from '../prune-store.ts';
import type { SkipReason } from '../rules/gates.ts';
import { heightAfter } from '../rules/heights.ts';
import { type ChunkResult, countRemoval, type PassContext, pruneChunk } from './chunk.ts';

export interface PassResult {
  /** `timeout`: it has decided on a part, and goes on from there when it is run again. `closed`: a gate is closed now. */
  readonly end: 'completed' | 'timeout' | 'closed';
  /** Which gate is closed. */
  readonly reason: SkipReason | null;
  /** How many it has deleted and kept. */
  readonly deleted: number;
  readonly kept: number;
  /** Parents of unmined records that are not in the store (F12). */
  readonly missing: readonly MissingParent[];
}

/** Whoever wants to know what a pass does, and may end it. */
export interface PassWatcher {
  /** `isResumed`: it goes on behind what an interrupted pass at this height has decided. */
  readonly onBegin?: (isResumed: boolean) => void;
  /** After each step: what it has deleted and kept. What this throws aborts the pass. */
  readonly onDecided?: (result: ChunkResult) => void | Promise<void>;
  /** A gate that is closed now; null: none is. */
  readonly closedGate?: () => Promise<SkipReason | null>;
}

export interface MissingParent {
  readonly missing: Uint8Array;
  readonly neededBy: Uint8Array;
}

/** Whatever a phase before the scan throws aborts the pass before anything is deleted. */
export async function runPass(context: PassContext, watcher: PassWatcher = {}): Promise<PassResult> {
  const { store, settings, heights, now } = context;
  const began = now();
  const counted = { deleted: 0, kept: 0 };
  const decided = async (result: ChunkResult): Promise<void> => {
    counted.deleted += result.deleted.length;
    counted.kept += result.kept.length;
    await watcher.onDecided?.(result);
  };
  if (!settings.dryRun) await store.expirePreservations(heights.requested);
  const missing = settings.dryRun ? [] : await preserveParents(context);
  const { unfinished, lastCompleted } = await store.pruneProgress();
  // A dry run looks at everything, and stores no place from which it could go on.
  let cursor = unfinished?.height === heights.requested && !settings.dryRun ? unfinished.cursor : null;
  watcher.onBegin?.(cursor !== null);
  for (;;) {
    const wave = await nextWave(context, cursor);
    if (wave.deleted.length > 0) await decided({ deleted: wave.deleted, kept: [] });
    for (const result of await runWave(context, wave.chunks, cursor)) await decided(result);
    if (wave.last === null) break;
    cursor = wave.last;
    // Stores that answer at once would keep everybody else on this thread waiting until the pass is over.
    await nextTurn();
    if (settings.dryRun) continue;
    if (!wave.isStored) await store.setPassProgress({ lastCompleted, unfinished: { height: heights.requested, cursor } });
    if (now() - began >= settings.passMs) return { end: 'timeout', reason: null, ...counted, missing };
    const reason = (await watcher.closedGate?.()) ?? null;
    if (reason !== null) return { end: 'closed', reason, ...counted, missing };
  }
  if (!settings.dryRun) await store.setPassProgress({ unfinished: null, lastCompleted: Math.max(lastCompleted, heights.requested) });
  return { end: 'completed', reason: null, ...counted, missing };
}

interface Wave {
  /** What the store has deleted by itself (`removeNext`). */
  readonly deleted: readonly Uint8Array[];
  /** The others, which are decided on at the same time. */
  readonly chunks: readonly (readonly DueParent[])[];
  /** Null: nothing is due behind it. */
  readonly last: PruneCursor | null;
  /** The store knows that it goes on behind the last. */
  readonly isStored: boolean;
}

async function nextWave(context: PassContext, after: PruneCursor | null): Promise<Wave> {
  const { store, settings, heights } = context;
  // A dry run is to decide, and to delete nothing.
  if (store.removeNext !== undefined && !settings.dryRun) return removeNext(context, after);
  const limit = settings.chunkParents * settings.parallelChunks;
  const due = await store.dueParents(heights.allowed, after, limit);
  const last = due.length < limit ? null : due[due.length - 1];
  return { deleted: [], chunks: chunksOf(due, settings.chunkParents), last, isStored: false };
}

/** A turn takes one chunk, however many may run at the same time. */
async function removeNext({ store, settings, heights, counters, now }: PassContext, after: PruneCursor | null): Promise<Wave> {
  const began = now();
  const limit = settings.chunkParents;
  const removed = await store.removeNext!(heights, after, limit);
  const { deleted, others, childrenRead } = removed;
  countRemoval(counters, removed);
  counters.add('prune_candidates_total', deleted.length);
  counters.add('prune_children_verified_total', childrenRead);
  if (childrenRead > 0) counters.add('prune_child_batches_total');
  counters.took('prune_chunk_seconds', now() - began);
  return { deleted, chunks: chunksOf(others, limit), last: removed.count < limit ? null : removed.last, isStored: removed.hasPassed };
}

function chunksOf(due: readonly DueParent[], size: number): (readonly DueParent[])[] {
  const chunks: (readonly DueParent[])[] = [];
  for (let at = 0; at < due.length; at += size) chunks.push(due.slice(at, at + size));
  return chunks;
}

/** After a crash the whole wave is decided on again: its chunks end in any order. */
async function runWave(
  context: PassContext,
  wave: readonly (readonly DueParent[])[],
  restart: PruneCursor | null,
): Promise<readonly ChunkResult[]> {
  return Promise.all(wave.map((chunk) => pruneChunk(context, chunk, restart)));
}

/** Returns the parents that are not there. */
async function preserveParents(context: PassContext): Promise<readonly MissingParent[]> {
  const { store, settings, heights } = context;
  const until = settings.preserveParentsBlocks === 0 ? null : heightAfter(heights.requested, settings.preserveParentsBlocks);
  if (until === null) return [];
  const cutoff = Math.max(0, heights.requested - Math.ceil(store.settings.retention / 2));
  const missing: MissingParent[] = [];
  let batch: Uint8Array[] = [];
  for await (const { txId, since } of store.iterateUnmined()) {
    if (since > cutoff) break;
    batch.push(txId);
    if (batch.length < PRUNE_UNMINED_BATCH) continue;
    missing.push(...(await preserveParentsOf(context, batch, until)));
    batch = [];
  }
  return [...missing, ...(await preserveParentsOf(context, batch, until))];
}

async function preserveParentsOf({ store, heights }: PassContext, txIds: readonly Uint8Array[], until: number): Promise<MissingParent[]> {
  const neededBy = new Map<string, MissingParent>();
  for (const record of await store.batchGet(txIds)) {
    for (const { txId } of record?.inputs ?? []) neededBy.set(toHex(txId), { missing: txId, neededBy: record!.txId });
  }
  const parents = [...neededBy.values()].map(({ missing }) => missing);
  const missing = await store.preserve(parents, until, heights.requested);
  return missing.map((txId) => neededBy.get(toHex(txId))!);
}
