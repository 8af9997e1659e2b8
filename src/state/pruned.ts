/**
 * Pruning: forgets what only the undo of a block outside the window could need.
 * The delta of the block that leaves says exactly what that is, so the keys
 * visited are the keys deleted. Off the apply path, bounded per call, and the
 * cursor moves in the same batch as the deletions.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import { CHAIN, chainKey } from '../projections/chain.ts';
import { SPENT_AT } from '../projections/coin.ts';
import { readElsewhere, writeElsewhere } from '../projections/history/elsewhere.ts';
import type { OwnerKeys } from '../projections/packed.ts';
import type { Projection } from '../projections/projection.ts';
import { SPENT, UNSPENT } from '../projections/utxo.ts';
import { readU64, writeU64 } from '../util/bytes.ts';
import { assert, UnspentError } from '../util/errors.ts';
import { planBack, type UndoneBlock } from './back.ts';
import { blockAtKey, blockByHash } from './blocks.ts';
import { DELTA, type Delta, isSelfContained, readDelta } from './delta.ts';
import { metaKey } from './head.ts';

/** Heights up to which spent outputs and deltas are gone; -1: none. */
export interface PrunedHeights {
  readonly spent: number;
  readonly deltas: number;
}

const PRUNED_KEY = metaKey('pruned');

export function readPruned(reader: Reader): PrunedHeights {
  const bytes = reader.get(CHAIN, PRUNED_KEY);
  // Stored one higher, so that "none" is zero.
  return bytes === undefined ? { spent: -1, deltas: -1 } : { spent: readU64(bytes, 0) - 1, deltas: readU64(bytes, 8) - 1 };
}

export function writePruned(batch: Batch, pruned: PrunedHeights): void {
  if (pruned.spent < 0 && pruned.deltas < 0) {
    batch.del(CHAIN, PRUNED_KEY);
    return;
  }
  const bytes = new Uint8Array(16);
  writeU64(bytes, 0, pruned.spent + 1);
  writeU64(bytes, 8, pruned.deltas + 1);
  batch.put(CHAIN, PRUNED_KEY, bytes);
}

/**
 * Lowers the cursor of spent outputs in the batch of a rollback to `height`. With self-contained deltas a rollback may
 * go below that cursor; if the cursor stayed, what the blocks after the rollback spend would never be pruned.
 */
export function lowerPruned(height: number, reader: Reader, batch: Batch): void {
  const { spent, deltas } = readPruned(reader);
  if (spent > height) writePruned(batch, { spent: height, deltas });
}

/** What a batch of pruning did. */
export interface PruneCounts {
  /** Blocks whose spent outputs were forgotten. */
  readonly blocks: number;
  /** Those outputs. */
  readonly spentKeys: number;
  /** Deltas forgotten. */
  readonly deltas: number;
  /** Rows of `delta` that were read to find all of it. */
  readonly visited: number;
  /** True when nothing is left outside the window. */
  readonly done: boolean;
}

export interface Windows {
  readonly pruneDepth: number;
  readonly rollbackWindow: number;
}

/** The copy that a store leaves the history of old blocks to. */
export interface HistoryCopy {
  /** The hash of a block that it has for certain, all blocks below it included: nothing above that is pruned, so that the copy can always be continued. */
  readonly published: Uint8Array | null;
  /** That of the blocks. */
  readonly ledger: OwnerKeys;
}

/** What is pruned: an engine, or a state of one whose changes are collected. */
export interface Pruned extends Reader {
  batch(): Batch;
}

/**
 * Prunes in one batch: at most `blocksMax` blocks of each kind, and no further block after `rowsMax` rows. Heights stay
 * whole, so that one more block may go than asked for, and one block goes however many rows it has. `copy`: what a store
 * that leaves history to a published copy needs to do so.
 */
export function pruneStep(
  engine: Pruned,
  projections: readonly Projection[],
  tipHeight: number,
  windows: Windows,
  blocksMax: number,
  rowsMax = Number.POSITIVE_INFINITY,
  copy: HistoryCopy | null = null,
): PruneCounts {
  const before = readPruned(engine);
  const batch = engine.batch();
  const leaver = leaverOf(engine, projections, before, copy);
  const end = leaver === null ? tipHeight : Math.min(tipHeight, publishedHeight(engine, copy?.published ?? null) + windows.pruneDepth);
  const spentEnd = end - windows.pruneDepth;
  const deltasEnd = end - windows.rollbackWindow;
  let spent = before.spent;
  let deltas = before.deltas;
  let blocks = 0;
  let spentKeys = 0;
  let dropped = 0;
  let isCut = false;
  const cut = (): void => {
    isCut = true;
  };
  const isFull = (count: number): boolean => count >= blocksMax || batch.size >= rowsMax;
  const settling = projections.filter((projection) => projection.settle !== undefined);
  const settled: Settled[] = [];
  for (const [key, value] of leaving(engine, before.spent, spentEnd, blocksMax, isFull, cut)) {
    const delta = readDelta(value, 'a delta that leaves the window');
    const block = { key, spentKeys: delta.spent.map((spend) => spend.key) };
    leaver?.leave({ key, delta, row: blockAtKey(engine, key) }, batch);
    for (const projection of projections) spentKeys += projection.prune?.(block, batch) ?? 0;
    // Once the outputs it spent are gone a block cannot be undone, unless its delta carries them.
    if (settling.length > 0 && !isSelfContained(value)) settled.push([key, delta]);
    spent = readU64(key, 0);
    blocks++;
  }
  // A delta is deleted only after the spent outputs it lists.
  for (const [key, value] of leaving(engine, before.deltas, Math.min(deltasEnd, spent), blocksMax, isFull, cut)) {
    if (settling.length > 0 && isSelfContained(value)) settled.push([key, readDelta(value, 'a delta that goes')]);
    batch.del(DELTA, key);
    deltas = readU64(key, 0);
    dropped++;
  }
  if (settled.length > 0) settle(engine, settling, settled, batch);
  if (blocks + dropped > 0) {
    writePruned(batch, { spent, deltas });
    batch.commit();
  }
  return { blocks, spentKeys, deltas: dropped, visited: blocks + dropped, done: !isCut };
}

/** Leaves to a published copy what projections have of blocks that are pruned. */
interface Leaver {
  leave(block: UndoneBlock, batch: Batch): void;
}

/** Null: nothing is left to a copy. Throws STORE_SHAPE where blocks were pruned before that began: their rows cannot be found any more. */
function leaverOf(engine: Reader, projections: readonly Projection[], { spent }: PrunedHeights, copy: HistoryCopy | null): Leaver | null {
  const leaving = projections.filter((projection) => projection.leave !== undefined);
  if (leaving.length === 0) return null;
  if (readElsewhere(engine) !== spent + 1)
    throw new UnspentError(
      'STORE_SHAPE',
      `history is left to a copy from the first block on, and this store has pruned up to height ${spent}`,
    );
  const reader = asTheyStood(engine);
  return {
    leave(block, batch) {
      assert(copy !== null, 'nothing is left to a copy that nobody told of');
      const { blocks } = planBack([block], true, reader, copy.ledger);
      for (const projection of leaving) projection.leave?.(blocks, batch);
      writeElsewhere(batch, block.row.height + 1);
    },
  };
}

/** Outputs that were spent later are found, too: blocks are pruned oldest first, so all of those are still there. */
function asTheyStood(engine: Reader): Reader {
  const getMany: Reader['getMany'] = (column, keys) => {
    const found = engine.getMany(column, keys);
    if (column !== UNSPENT || !found.includes(undefined)) return found;
    const gone = keys.filter((_, i) => found[i] === undefined);
    const spent = engine.getMany(SPENT, gone);
    let next = 0;
    return found.map((value) => value ?? bodyOf(spent[next++]));
  };
  return { get: (column, key) => getMany(column, [key])[0], getMany, scan: (column, options) => engine.scan(column, options) };
}

function bodyOf(spent: Uint8Array | undefined): Uint8Array | undefined {
  return spent === undefined || spent.length <= SPENT_AT.value ? undefined : spent.subarray(SPENT_AT.value);
}

/** The height of the block that is known to be published, if it is on our chain; -1: it is not, or there is none. */
function publishedHeight(engine: Reader, hash: Uint8Array | null): number {
  return hash === null ? -1 : (blockByHash(engine, hash)?.height ?? -1);
}

type Settled = readonly [key: Uint8Array, delta: Delta];

function settle(engine: Reader, projections: readonly Projection[], settled: readonly Settled[], batch: Batch): void {
  for (const projection of projections) {
    const blocks = settled.map(([key, { undo }]) => ({ key, undo: undo.get(projection.name) }));
    projection.settle?.(blocks, engine, batch);
  }
}

/**
 * Deltas of heights `from` (exclusive) to `to` (inclusive), whole heights only:
 * the cursor is a height, and a boundary block has that of the block before it,
 * so such a pair is never parted even if it is one block more than asked for.
 * `cut` is called where there are more.
 */
function* leaving(
  engine: Reader,
  from: number,
  to: number,
  blocksMax: number,
  isFull: (count: number) => boolean,
  cut: () => void,
): Iterable<readonly [Uint8Array, Uint8Array]> {
  if (to <= from) return;
  let last = from;
  let count = 0;
  // Two more than asked for: the second half of a pair, and the block that shows that there are more.
  for (const row of engine.scan(DELTA, { gte: chainKey(from + 1, false), lt: chainKey(to + 1, false), limit: blocksMax + 2 })) {
    const height = readU64(row[0], 0);
    if (count > 0 && height !== last && isFull(count)) return cut();
    last = height;
    count++;
    yield row;
  }
}
