/**
 * Datums and scripts by their hash, with where each was seen first. While they
 * are still being collected a hash that is not there yet is not "never seen".
 */
import type { WitnessKind } from '../ledgers/ledger.ts';
import { readSeen, type SeenRow, seenColumn } from '../projections/seen/seen.ts';
import type { StoreColumns } from './store-columns.ts';

/** `bytes`: the datum's CBOR, or CBOR `[kind, script]`. */
export type Seen = SeenRow;

/** Null: never seen. Throws UNSUPPORTED, or INDEX_NOT_READY for what may still turn up. */
export function seenByHash(columns: StoreColumns, kind: WitnessKind, hash: Uint8Array): Seen | null {
  const [column, projection] = [seenColumn(kind), `${kind}s`];
  columns.needColumn(column, projection);
  const value = columns.reader.get(column, hash);
  if (value === undefined) columns.need(column, projection);
  return value === undefined ? null : readSeen(value);
}
