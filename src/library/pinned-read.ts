/**
 * A store at one block, with what it takes to read it: what the reads of the
 * library are bodies over.
 */
import type { Reader } from '../engine/engine.ts';
import type { Point } from '../ledgers/ledger.ts';
import type { Projection } from '../projections/projection.ts';
import type { Dialect } from '../query/dialect.ts';
import type { Provable } from '../query/proofs.ts';
import type { Query } from '../query/query.ts';
import { Renderer } from '../query/render.ts';
import type { ChainView } from '../query/view.ts';
import type { OpenStore } from '../store/store.ts';
import { UnspentError } from '../util/errors.ts';
import { type BlockPlace, findBlock } from './text.ts';

export interface PinnedRead {
  /** The store as it was when it was pinned. */
  readonly query: Query;
  /** The block that is asked about: the newest of the query, or an earlier one. */
  readonly view: ChainView;
  readonly renderer: Renderer;
  readonly dialect: Dialect;
  readonly provable: Provable;
  /** A block at or below that one. Throws USAGE or POINT_UNKNOWN. */
  find(place: BlockPlace): Point | null;
  /** The rows of a projection. Throws NOT_FOUND, INDEX_NOT_READY, and UNSUPPORTED at an earlier block. */
  rowsOf(projection: string): Reader;
}

/** `place` undefined: the block the store is at. The caller releases its query. Throws USAGE, POINT_UNKNOWN or PRUNED. */
export function pinRead(store: OpenStore, place?: BlockPlace): PinnedRead {
  const { network, fold } = store;
  const { dialect } = network;
  const query = store.query();
  try {
    const view = place === undefined ? query : query.at(findBlock(query, place, dialect));
    const find = (wanted: BlockPlace): Point | null => upTo(view, findBlock(query, wanted, dialect));
    const provable = { network, projections: fold.projections.map(({ name }) => name) };
    const rowsOf = (name: string): Reader => rowsIn(query, view, fold.projections, name);
    return { query, view, renderer: new Renderer(query, dialect), dialect, provable, find, rowsOf };
  } catch (error) {
    query.release();
    throw error;
  }
}

function upTo({ head }: ChainView, found: Point | null): Point | null {
  if (found === null || (head !== null && found.height <= head.height)) return found;
  const newest = head === null ? 'before the first block' : `at height ${head.height}`;
  throw new UnspentError('POINT_UNKNOWN', `height ${found.height} is above the block that is asked about (${newest})`);
}

function rowsIn(query: Query, view: ChainView, projections: readonly Projection[], name: string): Reader {
  const found = projections.find((projection) => projection.name === name);
  if (found === undefined)
    throw new UnspentError(
      'NOT_FOUND',
      `the store keeps no '${name}'; it keeps ${projections.map((projection) => projection.name).join(', ')}`,
    );
  if (query.filling().has(name)) throw new UnspentError('INDEX_NOT_READY', `'${name}' was switched on later, and is still being filled`);
  if (view !== query) throw new UnspentError('UNSUPPORTED', `rows of '${name}' can be read at the newest block only`);
  return query.rowsOf(found.columns.map((column) => column.name));
}

/** A body over the store as it is now. */
export function readNow<T>(store: OpenStore, body: (pinned: PinnedRead) => T): T {
  const pinned = pinRead(store);
  try {
    return body(pinned);
  } finally {
    pinned.query.release();
  }
}
