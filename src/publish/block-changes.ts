/**
 * The change of a block, from its undo. Where a block is the newest, undoing it
 * touches exactly the rows that it changed, in every column and for every
 * projection: their values before the undoing are what the block made of them,
 * the undoing itself is the change the other way. No block is read again.
 *
 * Several blocks are told from one snapshot: they are undone over it one after
 * the other, in memory, and handed out oldest first.
 */
import type { Reader } from '../engine/engine.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { Projection } from '../projections/projection.ts';
import { rowKey } from '../state/blocks.ts';
import { type Head, headKey, readHead, writeHead } from '../state/head.ts';
import { type PrunedHeights, pruneStep } from '../state/pruned.ts';
import { blocksToUndo, writeStepBack } from '../state/step-back.ts';
import { compareBytes } from '../util/bytes.ts';
import { assert, UnspentError } from '../util/errors.ts';
import type { ColumnChange } from './change.ts';
import { RowChanges } from './row-changes.ts';
import { RowOverlay } from './row-overlay.ts';

/** What of a store is published, and what it takes to undo its blocks. */
export interface Undoable {
  /** New ones, in the order of apply: they remember what they have read. */
  makeProjections(): readonly Projection[];
  readonly options: { readonly utxo: boolean };
  /** Rows that are of this directory only, and no part of the chain. */
  readonly isLocal: (column: string, key: Uint8Array) => boolean;
}

/** One block, both ways. */
export interface BlockMove {
  readonly row: ChainRow;
  /** With the block, and without it. */
  readonly head: Head;
  readonly below: Head | null;
  readonly undo: readonly ColumnChange[];
}

/** The undoing of the newest block that the reader shows. */
export function undoNewest(reader: Reader, undoable: Undoable, projections = undoable.makeProjections()): BlockMove {
  const head = readHead(reader);
  assert(head !== null, 'there is a block to undo');
  const undone = blocksToUndo(reader, headKey(head), null, 1);
  const changes = new RowChanges();
  const below = writeStepBack(undone, head, { projections, options: undoable.options }, reader, changes);
  writeHead(changes, below);
  return { row: undone[0].row, head, below, undo: changes.list(undoable.isLocal) };
}

export interface AppliedBlock {
  readonly row: ChainRow;
  readonly head: Head;
  readonly columns: readonly ColumnChange[];
}

export interface AppliedBlocks {
  /** At the block below them; null: the origin. */
  readonly from: Head | null;
  /** Oldest first. */
  readonly blocks: readonly AppliedBlock[];
}

/** What the blocks above `from` (null: all) did. The reader shows the newest of them. Throws EXPIRED where that takes more than `bytesMax` of memory. */
export function appliedSince(reader: Reader, from: ChainRow | null, undoable: Undoable, bytesMax: number): AppliedBlocks {
  const floor = from === null ? null : rowKey(from);
  const overlay = new RowOverlay(reader);
  const projections = undoable.makeProjections();
  const blocks: AppliedBlock[] = [];
  for (let head = readHead(reader); head !== null && isAbove(head, floor); head = readHead(overlay)) {
    const { row, undo } = undoNewest(overlay, undoable, projections);
    blocks.push({ row, head, columns: before(overlay, undo) });
    overlay.apply(undo);
    if (overlay.bytes > bytesMax) throw tooFar(blocks.length, bytesMax);
  }
  return { from: readHead(overlay), blocks: blocks.reverse() };
}

function isAbove(head: Head, floor: Uint8Array | null): boolean {
  return floor === null || compareBytes(headKey(head), floor) > 0;
}

/** The rows that a change touches, as they are before it. */
function before(reader: Reader, changes: readonly ColumnChange[]): ColumnChange[] {
  return changes.map(({ column, puts, deletes }) => {
    const keys = [...puts.map(([key]) => key), ...deletes];
    const values = reader.getMany(column, keys);
    const put: (readonly [Uint8Array, Uint8Array])[] = [];
    const deleted: Uint8Array[] = [];
    keys.forEach((key, i) => {
      const value = values[i];
      if (value === undefined) deleted.push(key);
      else put.push([key, value]);
    });
    return { column, puts: put, deletes: deleted };
  });
}

/** A portion of pruning. */
export interface PrunedPortion {
  readonly columns: readonly ColumnChange[];
  /** Nothing is left up to those heights. */
  readonly isDone: boolean;
}

/**
 * What pruning up to these heights does to a state that is not pruned so far, until that are so many rows. Block by
 * block, as a store at the tip of its chain prunes: what settling deletes in portions is then never less than the store
 * has deleted.
 */
export function prunedTo(reader: Reader, to: PrunedHeights, undoable: Undoable, rowsMax: number): PrunedPortion {
  const overlay = new RowOverlay(reader);
  const projections = undoable.makeProjections();
  const changes = new RowChanges();
  const batch = new RowChanges((list) => {
    overlay.apply(list);
    changes.add(list);
  });
  const view = {
    get: overlay.get.bind(overlay),
    getMany: overlay.getMany.bind(overlay),
    scan: overlay.scan.bind(overlay),
    batch: () => batch,
  };
  const windows = { pruneDepth: -to.spent, rollbackWindow: -to.deltas };
  let isDone = false;
  while (!isDone && changes.size < rowsMax) isDone = pruneStep(view, projections, 0, windows, 1).done;
  return { columns: changes.list(undoable.isLocal), isDone };
}

function tooFar(blocks: number, bytesMax: number): UnspentError {
  const message = `the copy is more than ${blocks} blocks behind, more than can be told in ${bytesMax} bytes: it begins anew`;
  return new UnspentError('EXPIRED', message, { blocks });
}
