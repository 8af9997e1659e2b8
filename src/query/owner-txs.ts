/**
 * The transactions of an owner (an address, a script, a credential) as a list in
 * pages: of both families, from the rows of the history. The cursors are those of
 * the lists of outputs, with a kind of their own.
 */
import { KEY_BYTES, type KeyKind } from '../ledgers/ledger.ts';
import { PLACE_BYTES } from '../projections/place.ts';
import { readU32, readU64, writeU32, writeU64 } from '../util/bytes.ts';
import type { HistoryPlace, HistoryRow } from './history.ts';
import type { Query } from './query.ts';

export interface OwnerTxRow extends HistoryRow {
  readonly id: Uint8Array;
  /** Where this row stands in its list; pass it as `after` to go on. */
  readonly cursor: Uint8Array;
}

export interface OwnerTxPage {
  readonly order: 'asc' | 'desc';
  readonly after?: Uint8Array | undefined;
  /** Rows at most. */
  readonly limit?: number | undefined;
  /** Only of blocks up to this height: the list as it was at that block. */
  readonly toHeight?: number | undefined;
}

/** Throws UNSUPPORTED where the store keeps no such history. */
export function* ownerTxs(query: Query, kind: KeyKind, key: Uint8Array, page: OwnerTxPage): Generator<OwnerTxRow, void, void> {
  const { order, after, limit, toHeight } = page;
  const place = after === undefined ? undefined : placeOf(after);
  for (const row of query.history().idsOfKey(kind, key, { order, after: place, limit, toHeight }))
    yield { ...row, cursor: cursorOf(key, row) };
}

/** As the key of an index row, with the height for the slot and no output. */
function cursorOf(key: Uint8Array, { height, txIndex }: HistoryPlace): Uint8Array {
  const cursor = new Uint8Array(KEY_BYTES + PLACE_BYTES);
  cursor.set(key);
  writeU64(cursor, KEY_BYTES, height);
  writeU32(cursor, KEY_BYTES + 8, txIndex);
  return cursor;
}

function placeOf(cursor: Uint8Array): HistoryPlace {
  return { height: readU64(cursor, KEY_BYTES), txIndex: readU32(cursor, KEY_BYTES + 8) };
}
