/**
 * What is unspent now and was not after an earlier block, from the undo records
 * of the blocks above it. With what was spent since (`Overlay`) that is all in
 * which the two sets differ.
 */
import { outpointKey } from '../ledgers/outpoint.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { Coin } from '../projections/coin.ts';
import { coinOfRow } from '../projections/packed.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { rowKey } from '../state/blocks.ts';
import { DELTA, readDelta } from '../state/delta.ts';
import { type Head, headKey } from '../state/head.ts';
import { toHex } from '../util/bytes.ts';
import { keyAfter } from '../util/key-range.ts';
import { SCAN_ROWS } from '../util/limits.ts';
import type { StoreColumns } from './store-columns.ts';

/** For a block of our chain whose undo records above it are all there. */
export function* addedSince(columns: StoreColumns, point: ChainRow, head: Head): Generator<Coin, void, void> {
  let keys: Uint8Array[] = [];
  for (const [key, value] of columns.reader.scan(DELTA, { gte: keyAfter(rowKey(point)), lt: keyAfter(headKey(head)) })) {
    for (const { id, firstIndex, count } of readDelta(value, `the delta of block ${toHex(key)}`).txs) {
      for (let i = 0; i < count; i++) keys.push(outpointKey(id, firstIndex + i));
    }
    if (keys.length < SCAN_ROWS) continue;
    yield* stillUnspent(columns, keys);
    keys = [];
  }
  yield* stillUnspent(columns, keys);
}

function* stillUnspent(columns: StoreColumns, keys: readonly Uint8Array[]): Generator<Coin, void, void> {
  if (keys.length === 0) return;
  const values = columns.reader.getMany(UNSPENT, keys);
  for (let i = 0; i < keys.length; i++) {
    const value = values[i];
    if (value !== undefined) yield coinOfRow(keys[i], value, columns.rules);
  }
}
