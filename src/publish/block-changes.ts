/**
 * The change of a block, from its undo. Where a block is the newest, undoing it
 * touches exactly the rows that it changed, in every column and for every
 * projection: their values before the undoing are what the block made of them,
 * the undoing itself is the change the other way. No block is read again.
 *
 * Several blocks are told from one snapshot: they are undone over it, in memory,
 * one after the other or many in one step (docs/adr/0117), and handed out oldest
 * first.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { OwnerKeys } from '../projections/packed.ts';
import type { Projection } from '../projections/projection.ts';
import type { UndoneBlock } from '../state/back.ts';
import { rowKey } from '../state/blocks.ts';
import { type Head, headKey, readHead, writeHead } from '../state/head.ts';
import { type PrunedHeights, pruneStep } from '../state/pruned.ts';
import { blocksToUndo, writeStepBack } from '../state/step-back.ts';
import { assert, UnspentError } from '../util/errors.ts';
import { inPrefixOrder } from '../util/key-order.ts';
import { keyAfter } from '../util/key-range.ts';
import { type ColumnChange, ColumnChanges } from './change.ts';
import { RowChanges } from './row-changes.ts';
import { OverlayStep, RowOverlay, type TouchedColumn } from './row-overlay.ts';

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
  const [block] = blocksToUndo(reader, keyAfter(headKey(head)), null, 1);
  const undo = new RowChanges();
  const below = writeUndo([block], head, reader, undoable, undoable.makeProjections(), undo);
  return { row: block.row, head, below, undo: undo.list(undoable.isLocal) };
}

/** The head below; null: the origin. `under`: the block right below, where that is known. */
function writeUndo(
  blocks: readonly UndoneBlock[],
  head: Head,
  reader: Reader,
  { options, ledger }: Undoable,
  projections: readonly Projection[],
  undo: Batch,
  under?: ChainRow,
): Head | null {
  const below = writeStepBack(blocks, head, { projections, options, ledger }, reader, undo, under);
  writeHead(undo, below);
  return below;
}

/** What blocks that follow each other did, as one: of each row the last that they made of it. */
export interface AppliedBlocks {
  /** How many they are. */
  readonly count: number;
  /** The newest of them, and the head with it. */
  readonly row: ChainRow;
  readonly head: Head;
  /** Made anew each time it is asked for. */
  readonly columns: readonly ColumnChange[];
  /** What takes them back, rows of this directory only included. */
  readonly undo: OverlayStep;
}

export interface AppliedRange {
  /** At the block below them; null: the origin. */
  readonly from: Head | null;
  /** Oldest first. */
  readonly steps: readonly AppliedBlocks[];
}

export interface UndoBounds {
  /** Bytes of memory; where it takes more, EXPIRED is thrown. */
  readonly bytesMax: number;
  /** Blocks whose rows are read at once. */
  readonly portion: number;
  /** Rows, about, that blocks may change to be told as one; 0: each is told by itself. */
  readonly stepRows: number;
}

/** What the blocks above `from` (null: all) did. The reader shows the newest of them. Throws EXPIRED. */
export function appliedSince(reader: Reader, from: ChainRow | null, undoable: Undoable, bounds: UndoBounds): AppliedRange {
  const overlay = new RowOverlay(reader);
  const steps = [...appliedBlocks(overlay, from, undoable, bounds)];
  return { from: readHead(overlay), steps: steps.reverse() };
}

/**
 * The same one by one, newest first: each is undone in the overlay, which begins as the reader below it. A portion of
 * blocks is read at once, before and after their undoing: a read of the engine costs the call more than the row.
 */
export function* appliedBlocks(
  overlay: RowOverlay,
  from: ChainRow | null,
  undoable: Undoable,
  { bytesMax, portion, stepRows }: UndoBounds,
): Generator<AppliedBlocks, void, void> {
  const projections = undoable.makeProjections();
  const blocks = new BlocksBack(overlay, from, portion);
  let [count, unread] = [0, 0];
  let steps: UndoneStep[] = [];
  for (let head = readHead(overlay); ; ) {
    const step = blocks.take(stepRows);
    if (step.length === 0) break;
    assert(head !== null, 'there is a block to undo');
    const undo = new OverlayStep(overlay);
    const below = writeUndo(step, head, overlay, undoable, projections, undo, blocks.next?.row);
    steps.push(new UndoneStep(step, head, undo, overlay.take(undo), undoable));
    [count, unread] = [count + step.length, unread + step.length];
    if (overlay.bytes > bytesMax) throw tooFar(count, bytesMax);
    head = below;
    if (unread < portion) continue;
    overlay.readBefore(steps.flatMap(({ touched }) => touched));
    yield* steps;
    [steps, unread] = [[], 0];
  }
  overlay.readBefore(steps.flatMap(({ touched }) => touched));
  yield* steps;
}

/** Blocks from the newest down, as undoing them wants them. Undoing a block leaves the rows of those below it as they are, so they can be read before it. */
class BlocksBack {
  private readonly reader: Pick<Reader, 'scan'>;
  private readonly floor: Uint8Array | null;
  private readonly portion: number;
  /** A key above those to be read next; null: there are none. */
  private end: Uint8Array | null;
  private read: UndoneBlock[] = [];
  private at = 0;

  constructor(overlay: RowOverlay, from: ChainRow | null, portion: number) {
    const head = readHead(overlay);
    this.reader = { scan: (column, options) => overlay.scanBelow(column, options) };
    this.floor = from === null ? null : rowKey(from);
    this.portion = portion;
    this.end = head === null ? null : keyAfter(headKey(head));
  }

  /** The one that `take` begins with; undefined: there is none. */
  get next(): UndoneBlock | undefined {
    if (this.at === this.read.length && this.end !== null) {
      this.read = blocksToUndo(this.reader, this.end, this.floor, this.portion);
      this.at = 0;
      this.end = this.read.at(-1)?.key ?? null;
    }
    return this.read[this.at];
  }

  /** The next ones, that change about so many rows at the most, but one at least. */
  take(rowsMax: number): UndoneBlock[] {
    const taken: UndoneBlock[] = [];
    for (let rows = 0, block = this.next; block !== undefined; block = this.next) {
      rows += rowsAbout(block);
      if (taken.length > 0 && rows > rowsMax) break;
      taken.push(block);
      this.at++;
    }
    return taken;
  }
}

/** Rows that a block changes, about: its own, and of each transaction and output those of the usual indexes. */
function rowsAbout({ delta: { txs, spent } }: UndoneBlock): number {
  let outputs = spent.length;
  for (const { count } of txs) outputs += count;
  return BLOCK_ROWS + txs.length + OUTPUT_ROWS * outputs;
}

const BLOCK_ROWS = 4;
const OUTPUT_ROWS = 5;

function tooFar(blocks: number, bytesMax: number): UnspentError {
  const message = `the copy is more than ${blocks} blocks behind, more than can be told in ${bytesMax} bytes: it begins anew`;
  return new UnspentError('EXPIRED', message, { blocks });
}

/** Blocks that are undone, and the rows that this touches. What they made of those is listed when it is asked for: lists of all blocks would be most of the memory. */
class UndoneStep implements AppliedBlocks {
  readonly count: number;
  readonly row: ChainRow;
  readonly head: Head;
  readonly undo: OverlayStep;
  readonly touched: readonly TouchedColumn[];
  private readonly isLocal: Undoable['isLocal'];

  constructor(blocks: readonly UndoneBlock[], head: Head, undo: OverlayStep, touched: readonly TouchedColumn[], { isLocal }: Undoable) {
    this.count = blocks.length;
    this.row = blocks[0].row;
    this.head = head;
    this.undo = undo;
    this.touched = touched;
    this.isLocal = isLocal;
  }

  get columns(): readonly ColumnChange[] {
    return this.touched.map((column) => columnOf(column, this.isLocal)).filter(({ isEmpty }) => !isEmpty);
  }
}

/** What blocks made of a column: its rows as they were before the undoing. Those that the undoing deletes were not there before the blocks. */
function columnOf(touched: TouchedColumn, isLocal: Undoable['isLocal']): ColumnChanges {
  const { column, table } = touched.overlay;
  const change = new ColumnChanges(column);
  const rows = rowsInOrder(touched).filter((row) => !isLocal(column, table.key(touched.numbers[row])));
  for (const row of rows) if (touched.isGone[row] === 1) addRow(change, touched, row);
  change.fresh = change.puts.length;
  for (const row of rows) if (touched.isGone[row] === 0) addRow(change, touched, row);
  return change;
}

/** A database takes rows in the order of their keys best. Blocks are undone from the newest, so that what is kept by height is reversed. */
function rowsInOrder({ numbers, overlay: { table } }: TouchedColumn): readonly number[] {
  const rows = Array.from(numbers, (_, i) => numbers.length - 1 - i);
  return inPrefixOrder(rows, (row) => table.prefix(numbers[row]));
}

function addRow(change: ColumnChanges, { overlay: { table, below }, numbers, before, isGone }: TouchedColumn, row: number): void {
  const number = numbers[row];
  const value = before[row] === undefined ? below[number] : before[row];
  assert(value !== undefined, 'the row was read');
  // It was there neither before the blocks nor after them.
  if (value === null && isGone[row] === 1) return;
  change.add(table.key(number), value);
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
