/**
 * The whole unspent set as it was after a block of ours: every row as it is
 * stored, in the order of the keys. Of the present that is the column itself; of
 * an earlier block what is there now and came no later, and what was spent since.
 */
import type { Row } from '../engine/engine.ts';
import { OUTPOINT_BYTES } from '../ledgers/outpoint.ts';
import type { ChainRow } from '../projections/chain.ts';
import { AT, type Coin } from '../projections/coin.ts';
import { UNSPENT } from '../projections/utxo.ts';
import type { Head } from '../state/head.ts';
import { compareBytes, equalBytes, readU32 } from '../util/bytes.ts';
import { isCreatedBy, Overlays } from './overlay.ts';
import type { StoreColumns } from './store-columns.ts';

/** For a block whose past is known (`knownPoint`). */
export function unspentAt(columns: StoreColumns, head: Head, point: ChainRow): Iterable<Row> {
  if (equalBytes(point.hash, head.hash)) return columns.reader.scan(UNSPENT);
  const restored = new Overlays()
    .at(point, head, columns)
    .coins.map(rowOf)
    .sort(([a], [b]) => compareBytes(a, b));
  return merged(columns.reader.scan(UNSPENT), restored, point);
}

function* merged(rows: Iterable<Row>, restored: readonly Row[], point: ChainRow): Generator<Row, void, void> {
  let next = 0;
  for (const row of rows) {
    if (!isCreatedBy(point, readU32(row[1], AT.height))) continue;
    while (next < restored.length && compareBytes(restored[next][0], row[0]) < 0) yield restored[next++];
    yield row;
  }
  while (next < restored.length) yield restored[next++];
}

function rowOf({ keyBytes, keyAt, bytes, at, end }: Coin): Row {
  return [keyBytes.subarray(keyAt, keyAt + OUTPOINT_BYTES), bytes.subarray(at, end)];
}
