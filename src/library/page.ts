/**
 * Pages of outputs and transactions for programs. The cursors are those of the HTTP API
 * (`query/cursor.ts`): opaque text that names the row and the block.
 */
import type { KeyKind } from '../ledgers/ledger.ts';
import { afterCursor, checkCursor, decodeCursor, encodeCursor, type ListKind, pageCursor } from '../query/cursor.ts';
import { ownerTxs } from '../query/owner-txs.ts';
import type { OwnerTxJson, UtxoJson } from '../query/render.ts';
import type { IndexKind } from '../query/view.ts';
import { UnspentError } from '../util/errors.ts';
import { LIBRARY_PAGE_ROWS } from '../util/limits.ts';
import type { PinnedRead } from './pinned-read.ts';

/** Which rows of a list a page has. */
export interface PageOptions {
  /** Rows at most. Default: 100. */
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

/** Some transactions of an owner, and where the next ones begin. */
export interface TxPage {
  /** The transactions, in the order asked for. */
  readonly txs: readonly OwnerTxJson[];
  /** The `after` of the following page; null: this was the last. */
  readonly next: string | null;
  /** The height of the first block that the list can have; 0: every block of the store (`utxo.history` was on from the start). */
  readonly fromHeight: number;
}

/** Throws USAGE or CURSOR_STALE. */
export function pageOf(pinned: PinnedRead, kind: IndexKind, key: Uint8Array, options: PageOptions): UtxoPage {
  const { view, renderer } = pinned;
  const { rows, next } = rowsOf(pinned, kind, key, options, (page) => view.byKey(kind, key, page));
  return { utxos: rows.map((row) => renderer.utxo(row)), next };
}

/** Throws USAGE, CURSOR_STALE or UNSUPPORTED. */
export function txPageOf(pinned: PinnedRead, kind: KeyKind, key: Uint8Array, options: PageOptions): TxPage {
  const { view, query, renderer } = pinned;
  const fromHeight = query.history().startHeightOf(kind);
  const toHeight = view.head?.height ?? -1;
  const { rows, next } = rowsOf(pinned, `history.${kind}`, key, options, (page) => ownerTxs(query, kind, key, { ...page, toHeight }));
  return { txs: rows.map((row) => renderer.ownerTx(row)), next, fromHeight };
}

interface PageRead {
  readonly order: 'asc' | 'desc';
  readonly after: Uint8Array | undefined;
  readonly limit: number;
}

function rowsOf<Row extends { readonly cursor: Uint8Array }>(
  pinned: PinnedRead,
  kind: ListKind,
  key: Uint8Array,
  options: PageOptions,
  read: (page: PageRead) => Iterable<Row>,
): { readonly rows: readonly Row[]; readonly next: string | null } {
  const { limit = LIBRARY_PAGE_ROWS, order = 'asc' } = options;
  if (!(Number.isInteger(limit) && limit > 0)) throw new UnspentError('USAGE', `a page has 1 row or more, not ${limit}`);
  const { head } = pinned.view;
  const after = options.after === undefined ? undefined : placeBehind(pinned, options.after, kind, order, key);
  // One more than asked for, to know whether there is a next page.
  const rows = [...read({ order, after, limit: limit + 1 })];
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const next = last === undefined || head === null ? null : encodeCursor(pageCursor(kind, order, last.cursor, head));
  return { rows: rows.slice(0, limit), next };
}

function placeBehind({ query }: PinnedRead, text: string, kind: ListKind, order: 'asc' | 'desc', key: Uint8Array): Uint8Array {
  const cursor = decodeCursor(text);
  const place = afterCursor(cursor, kind, order, key);
  checkCursor(query, cursor);
  return place;
}
