/**
 * Schema 2 to 3: fewer bytes for each output (ADR 108).
 *
 *   utxo_unspent        the stored value without the key of its owner
 *   utxo_spent          the same, behind who spent it
 *   delta               the same, where it carries what its block spent
 *   utxo_place          new, where rows of indexes name places: the id of each place
 *   utxo_address, ...   nothing in place of the id, there
 *
 * A key that is not the one the output has (a fault did that) stays where it is, for `verify` to find. Places are
 * written before any row loses its id. What hashes are made of did not change, so roots and digests stay.
 */
import type { Reader, Row } from '../../engine/engine.ts';
import { KEY_BYTES, type Ledger } from '../../ledgers/ledger.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { Coin, outputOffset, placesEnd, SPENT_AT } from '../../projections/coin.ts';
import { readElsewhere } from '../../projections/history/elsewhere.ts';
import { INDEX_KINDS, indexColumn } from '../../projections/index/by-key.ts';
import { packedLength, writePacked } from '../../projections/packed.ts';
import { keepsPlaces, PLACE, PLACE_BYTES, writePlace } from '../../projections/place.ts';
import { DELTA } from '../../projections/projection.ts';
import { SPENT, UNSPENT } from '../../projections/utxo.ts';
import { isSelfContained } from '../../state/delta.ts';
import { equalBytes } from '../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { copyVarint, rewrittenDelta } from './rewritten-delta.ts';
import type { UpgradeStep } from './steps.ts';

const NOTHING = new Uint8Array(0);

export const fewerBytes: UpgradeStep = {
  from: 2,
  what: 'outputs are kept without the key that follows from them, and rows of indexes name places (Cardano); nothing is lost',
  makes: (ledger) => (keepsPlaces(ledger) ? [PLACE] : []),
  checkRows(reader: Reader) {
    if (readElsewhere(reader) === 0) return;
    const why = 'the history of its old blocks is only in a published copy (publish.history), and copies of this form begin anew';
    throw new UnspentError(
      'UNSUPPORTED',
      `a store of schema 2 cannot be upgraded where ${why}: sync a new store, and publish it to a new copy`,
    );
  },
  columns: (ledger) => [
    {
      name: UNSPENT,
      rewrite: ([key, value]) => [key, packed(value, 0, ledger)],
      ...(keepsPlaces(ledger) ? { adds: { column: PLACE, row: placeRow } } : {}),
    },
    { name: SPENT, rewrite: ([key, value]) => [key, packed(value, SPENT_AT.value, ledger)] },
    { name: DELTA, rewrite: ([key, value]) => [key, isSelfContained(value) ? packedDelta(value, ledger) : value] },
    ...(keepsPlaces(ledger) ? INDEX_KINDS.map((kind) => ({ name: indexColumn(kind), rewrite: ([key]: Row): Row => [key, NOTHING] })) : []),
  ],
};

function placeRow([key, value]: Row): Row {
  const place = new Uint8Array(PLACE_BYTES);
  writePlace(new Coin(key, 0, value, 0, value.length, false), place, 0);
  return [place, key.subarray(0, TXID_BYTES)];
}

/** The bytes with the stored value at `at` packed; the very bytes where there is nothing to leave out. */
function packed(bytes: Uint8Array, at: number, ledger: Ledger): Uint8Array {
  const end = bytes.length;
  if (at >= end) return bytes;
  const length = packedLength(bytes, at, end);
  if (length === end - at || !followsFrom(bytes, at, ledger)) return bytes;
  const next = new Uint8Array(at + length);
  next.set(bytes.subarray(0, at));
  writePacked(bytes, at, end, next, at);
  return next;
}

/** Whether the stored key is the one that is made from the output again. */
function followsFrom(bytes: Uint8Array, at: number, { ownerKey }: Ledger): boolean {
  const key = new Uint8Array(KEY_BYTES);
  try {
    ownerKey(bytes, outputOffset(bytes, at), bytes.length, key, 0);
  } catch (error) {
    if (isUnspentError(error, 'BLOCK_INVALID')) return false;
    throw error;
  }
  const stored = placesEnd(bytes, at);
  return equalBytes(key, bytes.subarray(stored, stored + KEY_BYTES));
}

function packedDelta(bytes: Uint8Array, ledger: Ledger): Uint8Array {
  return rewrittenDelta(bytes, (from, to) => {
    to.run(from.run(OUTPOINT_BYTES));
    copyVarint(from, to);
    copyVarint(from, to);
    const value = packed(from.run(from.varint()), 0, ledger);
    to.varint(value.length);
    to.run(value);
  });
}
