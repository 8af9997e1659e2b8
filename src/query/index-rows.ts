/**
 * Rows of an index as outputs: the range a page asks for, read in batches, each
 * row with the value of the output it names. Where rows name places, the ids of a
 * batch are looked up before its outputs, by whole keys as those are.
 */
import type { Reader } from '../engine/engine.ts';
import { KEY_BYTES } from '../ledgers/ledger.ts';
import { outpointKey, TXID_BYTES } from '../ledgers/outpoint.ts';
import { readStored } from '../projections/coin.ts';
import { INDEX_KEY_BYTES, indexKeyOutput } from '../projections/index/by-key.ts';
import { PLACE_BYTES, txIdsOf } from '../projections/place.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { compareBytes, toHex, writeU64 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { keyAfter, prefixEnd } from '../util/key-range.ts';
import { LOOKUP_ROWS } from '../util/limits.ts';
import type { IndexedUtxo, PageRequest } from './utxo.ts';

export interface IndexRange {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
  readonly reverse: boolean;
}

/** Of all outputs with this key, or of those from one slot on and before another. */
export function indexRange(key: Uint8Array, page: PageRequest, fromSlot = 0, endSlot = Number.POSITIVE_INFINITY): IndexRange {
  const { after, slots } = page;
  const gte = placeAt(key, Math.max(fromSlot, slots?.from ?? 0));
  const end = Math.min(endSlot, (slots?.to ?? Number.POSITIVE_INFINITY) + 1);
  const lt = Number.isSafeInteger(end) ? placeAt(key, end) : prefixEnd(key, PLACE_BYTES);
  if (page.order === 'desc') return { gte, lt: after === undefined || compareBytes(lt, after) < 0 ? lt : after, reverse: true };
  const next = after === undefined ? gte : keyAfter(after);
  return { gte: compareBytes(next, gte) < 0 ? gte : next, lt, reverse: false };
}

/** `limit` ends the scan; `batchRows` says how many to look up together, for a reader that may stop before. */
export function* indexedUtxos(
  reader: Reader,
  column: string,
  range: IndexRange,
  limit?: number,
  batchRows = LOOKUP_ROWS,
): Generator<IndexedUtxo, void, void> {
  // A cursor may stand behind the end of what is asked for.
  if (compareBytes(range.gte, range.lt) >= 0) return;
  const rows = reader.scan(column, limit === undefined ? range : { ...range, limit });
  let pending: (readonly [Uint8Array, Uint8Array])[] = [];
  for (const row of rows) {
    pending.push(row);
    if (pending.length < batchRows) continue;
    yield* resolve(reader, column, pending);
    pending = [];
  }
  yield* resolve(reader, column, pending);
}

function* resolve(
  reader: Reader,
  column: string,
  rows: readonly (readonly [Uint8Array, Uint8Array])[],
): Generator<IndexedUtxo, void, void> {
  const txIds = txIdsOf(reader, rows);
  const keys = rows.map(([cursor], i) => outpointKey(named(txIds[i], column, cursor), indexKeyOutput(cursor)));
  const values = reader.getMany(UNSPENT, keys);
  for (let i = 0; i < rows.length; i++) {
    const [cursor] = rows[i];
    const txId = keys[i].subarray(0, TXID_BYTES);
    const value = values[i];
    if (value === undefined) {
      throw new UnspentError('STORE_DAMAGED', `${column} names ${toHex(keys[i])}, which is not unspent`, { column, key: toHex(cursor) });
    }
    yield { txId, index: indexKeyOutput(cursor), output: readStored(value), spent: null, cursor };
  }
}

function named(txId: Uint8Array | undefined, column: string, cursor: Uint8Array): Uint8Array {
  if (txId?.length === TXID_BYTES) return txId;
  const message = `${column} has a row that names no unspent output: ${toHex(cursor)}`;
  throw new UnspentError('STORE_DAMAGED', message, { column, key: toHex(cursor) });
}

/** The first place of a slot. */
function placeAt(key: Uint8Array, slot: number): Uint8Array {
  const place = new Uint8Array(INDEX_KEY_BYTES);
  place.set(key);
  writeU64(place, KEY_BYTES, slot);
  return place;
}
