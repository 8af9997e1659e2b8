/**
 * The hash of the unspent set: of the present as the store keeps it, read from
 * one row whatever the size of the set; of an earlier block by undoing, from
 * that row, what has changed since. Both are exact; nothing is kept for the
 * second but what undoing blocks needs anyway.
 */
import type { SetHash, SetSummary } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import { memberOf, readSetHash, SET_HASH } from '../projections/set-hash/set-hash.ts';
import type { Head } from '../state/head.ts';
import { UnspentError } from '../util/errors.ts';
import { PAST_SET_CHANGES_MAX } from '../util/limits.ts';
import type { Steps } from '../util/steps.ts';
import type { Overlay } from './overlay.ts';
import { addedSince } from './since.ts';
import type { StoreColumns } from './store-columns.ts';

/** `utxos`: how many there are. Null: the store does not keep it, or not for all of them yet. */
export function storedSetHash(columns: StoreColumns, hash: SetHash, utxos: number): SetSummary | null {
  const state = storedState(columns, utxos);
  return state === undefined ? null : hash.summary(state);
}

/** As it was after an earlier block; `overlay` is of that block. Null: see above. Throws LIMIT. */
export function* pastSetHash(
  columns: StoreColumns,
  hash: SetHash,
  point: ChainRow,
  head: Head,
  overlay: Overlay,
  changesMax = PAST_SET_CHANGES_MAX,
): Steps<SetSummary | null> {
  const state = storedState(columns, head.utxos);
  if (state === undefined) return null;
  if (overlay.setSummary !== null) return overlay.setSummary;
  const set = hash.from(state);
  let changes = overlay.coins.length;
  if (changes > changesMax) throw tooMany(point, changesMax);
  for (const coin of overlay.coins) {
    set.add(memberOf(coin));
    yield;
  }
  for (const coin of addedSince(columns, point, head)) {
    if (++changes > changesMax) throw tooMany(point, changesMax);
    set.remove(memberOf(coin));
    yield;
  }
  const summary = hash.summary(set.state());
  overlay.setSummary = summary;
  return summary;
}

function tooMany({ height }: ChainRow, changesMax: number): UnspentError {
  const message = `more than ${changesMax} outputs came or went since height ${height}; ask for a newer point`;
  return new UnspentError('LIMIT', message, { height, changesMax });
}

/** Null: of the empty set, which has no row and needs none. Undefined: not kept, or not ready. */
function storedState(columns: StoreColumns, utxos: number): Uint8Array | null | undefined {
  if (columns.filling.has(SET_HASH)) return undefined;
  return readSetHash(columns.reader) ?? (utxos === 0 ? null : undefined);
}
