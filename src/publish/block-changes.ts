/**
 * The change of a block, from its undo. Where a block is the newest, undoing it
 * touches exactly the rows that it changed, in every column and for every
 * projection: their values before the undoing are what the block made of them,
 * the undoing itself is the change the other way. No block is read again.
 *
 * Several blocks are told from one snapshot: they are undone over it one after
 * the other, in memory, and handed out oldest first.
 */
import type { Reader, Row } from '../engine/engine.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { OwnerKeys } from '../projections/packed.ts';
import type { Projection } from '../projections/projection.ts';
import type { UndoneBlock } from '../state/back.ts';
import { rowKey } from '../state/blocks.ts';
import { type Head, headKey, readHead, writeHead } from '../state/head.ts';
import { type PrunedHeights, pruneStep } from '../state/pruned.ts';
import { blocksToUndo, writeStepBack } from '../state/step-back.ts';
import { compareBytes } from '../util/bytes.ts';
import { assert, UnspentError } from '../util/errors.ts';
import { PUBLISH_UNDO_BLOCKS } from '../util/limits.ts';
import type { ColumnChange } from './change.ts';
import { type RowChange, RowChanges } from './row-changes.ts';
import { RowOverlay } from './row-overlay.ts';

/** What of a store is published, and what it takes to undo its blocks. */
export interface Undoable {
  /** New ones, in the order of apply: they remember what they have read. */
  makeProjections(): readonly Projection[];
  readonly options: { readonly utxo: boolean };
  /** That of its network. */
  readonly ledger: OwnerKeys;
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
export function undoNewest(reader: Reader, undoable: Undoable): BlockMove {
  const head = readHead(reader);
  assert(head !== null, 'there is a block to undo');
  const [block] = blocksToUndo(reader, headKey(head), null, 1);
  const undo = new RowChanges();
  const below = writeUndo(block, head, reader, undoable, undoable.makeProjections(), undo);
  return { row: block.row, head, below, undo: undo.list(undoable.isLocal) };
}

/** The head below; null: the origin. `under`: the block right below, where that is known. */
function writeUndo(
  block: UndoneBlock,
  head: Head,
  reader: Reader,
  { options, ledger }: Undoable,
  projections: readonly Projection[],
  undo: RowChanges,
  under?: ChainRow,
): Head | null {
  const below = writeStepBack([block], head, { projections, options, ledger }, reader, undo, under);
  writeHead(undo, below);
  return below;
}

export interface AppliedBlock {
  readonly row: ChainRow;
  readonly head: Head;
  readonly columns: readonly ColumnChange[];
  /** What takes it back, rows of this directory only included. */
  readonly undo: RowChanges;
}

export interface AppliedBlocks {
  /** At the block below them; null: the origin. */
  readonly from: Head | null;
  /** Oldest first. */
  readonly blocks: readonly AppliedBlock[];
}

/** What the blocks above `from` (null: all) did. The reader shows the newest of them. Throws EXPIRED where that takes more than `bytesMax` of memory. */
export function appliedSince(reader: Reader, from: ChainRow | null, undoable: Undoable, bytesMax: number): AppliedBlocks {
  const overlay = new RowOverlay(reader);
  const blocks = [...appliedBlocks(overlay, from, undoable, { bytesMax, portion: PUBLISH_UNDO_BLOCKS })];
  return { from: readHead(overlay), blocks: blocks.reverse() };
}

interface Bounds {
  readonly bytesMax: number;
  /** Blocks of a portion. */
  readonly portion: number;
}

/**
 * The same one by one, newest first: each is undone in the overlay, which begins as the reader below it. A portion of
 * blocks is read at once, before and after their undoing: a read of the engine costs the call more than the row.
 */
export function* appliedBlocks(
  overlay: RowOverlay,
  from: ChainRow | null,
  undoable: Undoable,
  { bytesMax, portion }: Bounds,
): Generator<AppliedBlock, void, void> {
  const floor = from === null ? null : rowKey(from);
  const reader = overlay.below;
  const projections = undoable.makeProjections();
  let count = 0;
  let head = readHead(overlay);
  while (head !== null && isAbove(head, floor)) {
    // Undoing a block leaves the rows of those below it as they are, so they can be read before it.
    const undone = blocksToUndo(reader, headKey(head), floor, portion);
    const moves: TouchedRows[] = [];
    for (const [i, block] of undone.entries()) {
      assert(head !== null, 'there is a block to undo');
      const undo = new RowChanges();
      const below = writeUndo(block, head, overlay, undoable, projections, undo, undone.at(i + 1)?.row);
      moves.push({ row: block.row, head, undo, columns: touched(overlay, undo, undoable) });
      overlay.take(undo);
      count++;
      if (overlay.bytes > bytesMax) throw tooFar(count, bytesMax);
      head = below;
    }
    yield* readBefore(reader, moves);
  }
}

function isAbove(head: Head, floor: Uint8Array | null): boolean {
  return floor === null || compareBytes(headKey(head), floor) > 0;
}

/** The rows that the undoing of a block touches. */
interface TouchedRows {
  readonly row: ChainRow;
  readonly head: Head;
  readonly undo: RowChanges;
  readonly columns: readonly TouchedColumn[];
}

interface TouchedColumn {
  readonly column: string;
  readonly keys: readonly Uint8Array[];
  /** What newer blocks, which are undone already, left of them; undefined: the row is as the reader below has it. */
  readonly known: readonly (RowChange | undefined)[];
}

function touched(overlay: RowOverlay, undo: RowChanges, { isLocal }: Undoable): TouchedColumn[] {
  const columns: TouchedColumn[] = [];
  for (const [column, rows] of undo.columns) {
    const top = overlay.onTop(column);
    const keys: Uint8Array[] = [];
    const known: (RowChange | undefined)[] = [];
    for (const [text, { key }] of rows) {
      if (isLocal(column, key)) continue;
      keys.push(key);
      known.push(top?.get(text));
    }
    if (keys.length > 0) columns.push({ column, keys, known });
  }
  return columns;
}

/** The rows as they were before the undoing, which is what the blocks made of them. */
function readBefore(reader: Reader, moves: readonly TouchedRows[]): AppliedBlock[] {
  const wanted = new Map<string, Uint8Array[]>();
  for (const { columns } of moves) {
    for (const { column, keys, known } of columns) {
      const list = wanted.get(column) ?? [];
      wanted.set(column, list);
      for (const [i, key] of keys.entries()) if (known[i] === undefined) list.push(key);
    }
  }
  const values = new Map([...wanted].map(([column, keys]) => [column, reader.getMany(column, keys).values()]));
  return moves.map(({ row, head, undo, columns }) => ({
    row,
    head,
    undo,
    columns: columns.map(({ column, keys, known }) => {
      const puts: Row[] = [];
      const deletes: Uint8Array[] = [];
      for (const [i, key] of keys.entries()) {
        const value = known[i] === undefined ? values.get(column)?.next().value : known[i].value;
        if (value === undefined) deletes.push(key);
        else puts.push([key, value]);
      }
      return { column, puts, deletes };
    }),
  }));
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
