/**
 * Pages of outputs for programs. The cursors are those of the HTTP API
 * (`query/cursor.ts`): opaque text that names the row and the block.
 */
import { afterCursor, checkCursor, decodeCursor, encodeCursor, pageCursor } from '../query/cursor.ts';
import type { UtxoJson } from '../query/render.ts';
import type { IndexKind } from '../query/view.ts';
import { UnspentError } from '../util/errors.ts';
import { LIBRARY_PAGE_ROWS } from '../util/limits.ts';
import type { PinnedRead } from './pinned-read.ts';

/** Which outputs of a list a page has. */
export interface PageOptions {
  /** Outputs at most. Default: 100. */
  readonly limit?: number | undefined;
  /** `asc`: the oldest first (the default); `desc`: the newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

/** Some outputs of a list, and where the next ones begin. */
export interface UtxoPage {
  /** The outputs, in the order asked for. */
  readonly utxos: readonly UtxoJson[];
  /** The `after` of the following page; null: this was the last. */
  readonly next: string | null;
}

/** Throws USAGE or CURSOR_STALE. */
export function pageOf(pinned: PinnedRead, kind: IndexKind, key: Uint8Array, options: PageOptions): UtxoPage {
  const { limit = LIBRARY_PAGE_ROWS, order = 'asc' } = options;
  if (!(Number.isInteger(limit) && limit > 0)) throw new UnspentError('USAGE', `a page has 1 output or more, not ${limit}`);
  const { view, renderer } = pinned;
  const after = options.after === undefined ? undefined : placeBehind(pinned, options.after, kind, order, key);
  // One more than asked for, to know whether there is a next page.
  const rows = [...view.byKey(kind, key, { order, after, limit: limit + 1 })];
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last === undefined || view.head === null ? null : encodeCursor(pageCursor(kind, order, last.cursor, view.head));
  return { utxos: rows.slice(0, limit).map((row) => renderer.utxo(row)), next };
}

function placeBehind({ query }: PinnedRead, text: string, kind: IndexKind, order: 'asc' | 'desc', key: Uint8Array): Uint8Array {
  const cursor = decodeCursor(text);
  const place = afterCursor(cursor, kind, order, key);
  checkCursor(query, cursor);
  return place;
}
