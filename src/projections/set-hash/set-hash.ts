/**
 * A hash of the whole unspent set, kept as blocks come and go: one row, whose
 * bytes are the ledger's (`Ledger.setHash`). The empty set has no row. It is a
 * function of the set, so forward and back are one body.
 *
 * The row is one of the reserved rows of `chain`.
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import type { SetHash, SetMember } from '../../ledgers/ledger.ts';
import { equalBytes, readU32, readU64 } from '../../util/bytes.ts';
import { CHAIN, metaKey } from '../chain.ts';
import { AT, type Coin, LEDGER_FLAGS_MASK, outputOffset } from '../coin.ts';
import type { Projection, Step } from '../projection.ts';

export const SET_HASH = 'setHash';

const ROW_KEY = metaKey('set_hash');

/** The row; undefined: of the empty set, or not kept. */
export function readSetHash(reader: Reader): Uint8Array | undefined {
  return reader.get(CHAIN, ROW_KEY);
}

export function memberOf({ keyBytes, keyAt, bytes, at, end }: Coin): SetMember {
  return {
    keyBytes,
    keyAt,
    end,
    height: readU32(bytes, at + AT.height),
    slot: readU64(bytes, at + AT.slot),
    flags: bytes[at] & LEDGER_FLAGS_MASK,
    raw: bytes,
    start: outputOffset(bytes, at),
  };
}

export function setHashProjection(hash: SetHash): Projection {
  const empty = hash.from(null).state();

  function move({ added, removed }: Step, view: Reader, batch: Batch): undefined {
    if (added.length + removed.length === 0) return;
    const set = hash.from(readSetHash(view) ?? null);
    for (const coin of removed) set.remove(memberOf(coin));
    for (const coin of added) set.add(memberOf(coin));
    const state = set.state();
    if (equalBytes(state, empty)) batch.del(CHAIN, ROW_KEY);
    else batch.put(CHAIN, ROW_KEY, state);
  }

  return {
    name: SET_HASH,
    columns: [],
    reserved: [ROW_KEY],
    fillable: 'exact',
    apply: (step, view, batch) => move(step, view, batch),
    revert: (step, _undo, view, batch) => move(step, view, batch),
  };
}
