/**
 * Changes as lines of text, for replicas and tools that are not ours: a file, or
 * an answer over HTTP, one JSON document a line. Without a position it is the
 * whole state, and then where to go on; with one it is what happened since,
 * block by block, each with what takes it back.
 *
 * A reader that keeps the `undo` of the blocks it took in can follow every
 * rollback that the store itself can make. The last line is always `end`: lines
 * without it were cut off. What the store forgets is not told. `form` says how rows
 * are written: those of one form are no sequel to those of another.
 */
import type { Reader, Row } from '../engine/engine.ts';
import { ALL, PositionWriter, parsePosition, positionAt, type Resumption, resume } from '../events/position.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { Dialect } from '../query/dialect.ts';
import type { Query } from '../query/query.ts';
import { canUndoAbove } from '../state/horizon.ts';
import type { Windows } from '../state/pruned.ts';
import { storeProjections } from '../store/projections.ts';
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { CHANGES_LINE_ROWS, CHANGES_UNDO_BLOCKS, HTTP_PIECE_CHARS } from '../util/limits.ts';
import { type AppliedBlocks, appliedBlocks } from './block-changes.ts';
import type { ColumnChange } from './change.ts';
import { PUBLISHED_FORM } from './identity.ts';
import { PublishedView, type ViewedStore } from './published-store.ts';
import { RowOverlay } from './row-overlay.ts';

/** What there is to know of a store besides its rows. */
export interface ToldStore extends Omit<ViewedStore, 'table'> {
  readonly windows: Windows;
}

/** One moment of a store, to be told. */
export interface ChangeSource {
  readonly network: string;
  readonly query: Query;
  /** The rows of the same moment. */
  readonly reader: Reader;
  readonly view: PublishedView;
  readonly windows: Windows;
  readonly dialect: Pick<Dialect, 'parseId' | 'formatId'>;
}

export function changeSource(query: Query, store: ToldStore): ChangeSource {
  const { network, windows, columns } = store;
  const reader = query.rowsOf(columns);
  const view = new PublishedView(reader, { ...store, table: storeProjections() });
  return { network: network.name, query, reader, view, windows, dialect: network.dialect };
}

/** What there is to tell since a position. */
export interface ChangePlan {
  readonly start: Resumption;
  /** Newest first; each takes the work of undoing it. Throws EXPIRED where that takes too much memory. */
  readonly blocks: Iterable<AppliedBlocks>;
}

/** `after`: the position of a line, the hash of a block, or `origin`. Throws USAGE, EXPIRED. */
export function planChanges({ query, reader, view, windows, dialect }: ChangeSource, after: string, bytesMax: number): ChangePlan {
  const start = after === 'origin' ? { row: null, seen: ALL, lost: 0 } : resume(parsePosition(after, query, dialect), query, windows);
  if (start === null) throw expired('none of the blocks that the position names is on the chain any more');
  if (start.seen !== ALL)
    throw new UnspentError('USAGE', 'the position is inside a block; only those of whole blocks can be gone on from', { field: 'after' });
  const { row } = start;
  if (!canUndoAbove(reader, row, view.needsSpent))
    throw expired(`what the blocks above ${row === null ? 'the origin' : `height ${row.height}`} did is pruned`);
  return { start, blocks: appliedBlocks(new RowOverlay(reader), row, view, { bytesMax, portion: CHANGES_UNDO_BLOCKS, stepRows: 0 }) };
}

/** `blocks`: oldest first, beginning right above where the plan starts. */
export function* changeLines(source: ChangeSource, start: Resumption, blocks: readonly AppliedBlocks[]): Generator<string, void, void> {
  const { query, view, windows, dialect } = source;
  const positions = new PositionWriter(query, query.horizon(windows));
  if (start.lost > 0)
    yield line('rollback', { to: start.row === null ? null : pointOf(start.row, dialect), position: positionAt(start.row, positions) });
  for (const { row, columns, undo } of blocks)
    yield line('applied', {
      block: pointOf(row, dialect),
      position: positionAt(row, positions),
      columns: columns.map(columnText),
      undo: undo.list(view.isLocal).map(columnText),
    });
  const last = blocks.at(-1)?.row ?? start.row;
  yield endLine(source, last, positions);
}

/** The whole state. */
export function* stateLines(source: ChangeSource): Generator<string, void, void> {
  const { query, reader, view, windows, dialect, network } = source;
  const head = query.headRow();
  const columns = view.scope.columns.map(({ name }) => name);
  yield line('snapshot', { form: PUBLISHED_FORM, network, block: head === null ? null : pointOf(head, dialect), columns });
  for (const column of columns) {
    let rows: string[][] = [];
    let size = 0;
    for (const [key, value] of reader.scan(column)) {
      if (view.isLocal(column, key)) continue;
      rows.push([toHex(key), toHex(value)]);
      size += 2 * (key.length + value.length);
      if (rows.length < CHANGES_LINE_ROWS && size < HTTP_PIECE_CHARS) continue;
      yield line('rows', { column, puts: rows });
      [rows, size] = [[], 0];
    }
    if (rows.length > 0) yield line('rows', { column, puts: rows });
  }
  yield endLine(source, head, new PositionWriter(query, query.horizon(windows)));
}

/** `more`: there are newer blocks already. */
function endLine({ query, dialect }: ChangeSource, row: ChainRow | null, positions: PositionWriter): string {
  const newest = query.headRow();
  const isNewest = row === null || newest === null ? row === newest : dialect.formatId(row.hash) === dialect.formatId(newest.hash);
  return line('end', {
    form: PUBLISHED_FORM,
    block: row === null ? null : pointOf(row, dialect),
    position: positionAt(row, positions),
    more: !isNewest,
  });
}

function line(kind: string, content: object): string {
  return JSON.stringify({ kind, ...content });
}

function pointOf({ height, slot, hash }: ChainRow, { formatId }: Pick<Dialect, 'formatId'>): object {
  return { height, slot, hash: formatId(hash) };
}

function columnText({ column, puts, deletes }: ColumnChange): object {
  const rowText = ([key, value]: Row): [string, string] => [toHex(key), toHex(value)];
  return { column, puts: puts.map(rowText), deletes: deletes.map((key) => toHex(key)) };
}

function expired(why: string): UnspentError {
  return new UnspentError('EXPIRED', `the changes after that position cannot be told any more: ${why}`);
}
