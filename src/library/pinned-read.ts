/**
 * A store at one block, with what it takes to read it: what the reads of the
 * library are bodies over.
 */
import type { Point } from '../ledgers/ledger.ts';
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
    return { query, view, renderer: new Renderer(query, dialect), dialect, provable, find };
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

/** A body over the store as it is now. */
export function readNow<T>(store: OpenStore, body: (pinned: PinnedRead) => T): T {
  const pinned = pinRead(store);
  try {
    return body(pinned);
  } finally {
    pinned.query.release();
  }
}
