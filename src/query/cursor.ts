/**
 * Page cursors for strangers: opaque text that says behind which row of which
 * index to go on, and at which block it was given out. While that block is on
 * our chain the rows before the cursor are still before it, so pages neither
 * skip nor repeat; when it was rolled back, the cursor is refused.
 *
 *   version u8 (2) | list u8 | order u8 (0 asc, 1 desc) | slot u64 | tx index
 *   u32 | output index u32 | height u32 | first 8 bytes of the block's hash
 *
 * In a list of transactions the height stands for the slot, and the output is 0.
 */
import { KEY_BYTES, KEY_KINDS, type KeyKind, type Point } from '../ledgers/ledger.ts';
import { PLACE_BYTES } from '../projections/place.ts';
import { concatBytes, equalBytes, readU32, writeU32 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import type { Query } from './query.ts';
import { INDEX_KINDS, type IndexKind } from './view.ts';

const VERSION = 2;
const HASH_BYTES = 8;
const AT = { version: 0, kind: 1, order: 2, place: 3, height: 3 + PLACE_BYTES, hash: 7 + PLACE_BYTES } as const;
const CURSOR_BYTES = AT.hash + HASH_BYTES;

/** A list with pages: outputs of an index, or the transactions of a kind of owner. */
export type ListKind = IndexKind | `history.${KeyKind}`;

const LIST_KINDS: readonly ListKind[] = [...INDEX_KINDS, ...KEY_KINDS.map((kind) => `history.${kind}` as const)];

export interface PageCursor {
  readonly kind: ListKind;
  readonly order: 'asc' | 'desc';
  /** The index key of the last row seen, without its first 28 bytes: those are in the question. */
  readonly place: Uint8Array;
  readonly height: number;
  /** The first bytes of the block's hash. */
  readonly hash: Uint8Array;
}

/** `last` is the `cursor` of the last row of a page read at the block `at`. */
export function pageCursor(kind: ListKind, order: 'asc' | 'desc', last: Uint8Array, at: Point): PageCursor {
  return { kind, order, place: last.subarray(KEY_BYTES), height: at.height, hash: at.hash.subarray(0, HASH_BYTES) };
}

export function encodeCursor({ kind, order, place, height, hash }: PageCursor): string {
  const bytes = new Uint8Array(CURSOR_BYTES);
  bytes[AT.version] = VERSION;
  bytes[AT.kind] = LIST_KINDS.indexOf(kind);
  bytes[AT.order] = order === 'desc' ? 1 : 0;
  bytes.set(place, AT.place);
  writeU32(bytes, AT.height, height);
  bytes.set(hash.subarray(0, HASH_BYTES), AT.hash);
  return Buffer.from(bytes.buffer).toString('base64url');
}

/** Throws USAGE for what no page ever gave out. */
export function decodeCursor(text: string): PageCursor {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64url'));
  // The decoder takes much for base64url; a cursor has one spelling.
  const isOurs = bytes.length === CURSOR_BYTES && bytes[AT.version] === VERSION && Buffer.from(bytes).toString('base64url') === text;
  const kind = LIST_KINDS[bytes[AT.kind]];
  if (!isOurs || kind === undefined || bytes[AT.order] > 1) {
    throw new UnspentError('USAGE', `'${text.slice(0, 80)}' is not a page cursor; use the one a page ended with`);
  }
  return {
    kind,
    order: bytes[AT.order] === 1 ? 'desc' : 'asc',
    place: bytes.subarray(AT.place, AT.height),
    height: readU32(bytes, AT.height),
    hash: bytes.subarray(AT.hash),
  };
}

/** Throws CURSOR_STALE when the block the cursor was given out at is not on our chain any more. */
export function checkCursor(query: Query, cursor: PageCursor): void {
  const row = query.blockAtHeight(cursor.height);
  const isAt = (hash: Uint8Array): boolean => equalBytes(hash.subarray(0, HASH_BYTES), cursor.hash);
  // The newest block of a height may be a boundary block, which hides the one before it.
  if (row !== null && (isAt(row.hash) || (row.boundary && isAt(row.prevHash)))) return;
  throw new UnspentError('CURSOR_STALE', `the page cursor is of a block at height ${cursor.height} that was rolled back`, {
    height: cursor.height,
  });
}

/** The `after` of the next page of this question. Throws USAGE when the cursor is of another index or order. */
export function afterCursor(cursor: PageCursor, kind: ListKind, order: 'asc' | 'desc', key: Uint8Array): Uint8Array {
  if (cursor.kind !== kind || cursor.order !== order) {
    const theirs = `${cursor.kind}, ${cursor.order}`;
    throw new UnspentError('USAGE', `the page cursor is of another question (${theirs}); this one is ${kind}, ${order}`);
  }
  return concatBytes(key, cursor.place);
}
