/**
 * Blocks of our chain, found by hash, height or slot in whatever is read from:
 * the store, or a snapshot of it.
 */
import type { Reader } from '../engine/engine.ts';
import { CHAIN, CHAIN_HASH, type ChainRow, chainKey, readChainRow } from '../projections/chain.ts';
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { keyAfter } from '../util/key-range.ts';
import { META_PREFIX } from './head.ts';

export function blockByHash(reader: Reader, hash: Uint8Array): ChainRow | null {
  const key = reader.get(CHAIN_HASH, hash);
  const value = key === undefined ? undefined : reader.get(CHAIN, key);
  return key === undefined || value === undefined ? null : readChainRow(key, value);
}

/** The newest block of that height. */
export function blockAtHeight(reader: Reader, height: number): ChainRow | null {
  return firstOf(reader, { gte: chainKey(height, false), lt: chainKey(height + 1, false), reverse: true });
}

/** The block right behind that one; null at the tip. */
export function blockAfter(reader: Reader, row: ChainRow): ChainRow | null {
  return firstOf(reader, { gte: keyAfter(rowKey(row)), lt: Uint8Array.of(META_PREFIX), reverse: false });
}

/** Every block from the first of that height on, oldest first. */
export function* blocksFrom(reader: Reader, height: number): Iterable<ChainRow> {
  const range = { gte: chainKey(height, false), lt: Uint8Array.of(META_PREFIX) };
  for (const [key, value] of reader.scan(CHAIN, range)) yield readChainRow(key, value);
}

/** Every block behind that one, oldest first; null: every block. */
export function* blocksAfter(reader: Reader, row: ChainRow | null): Iterable<ChainRow> {
  const range = { lt: Uint8Array.of(META_PREFIX), ...(row === null ? {} : { gte: keyAfter(rowKey(row)) }) };
  for (const [key, value] of reader.scan(CHAIN, range)) yield readChainRow(key, value);
}

/** The first or the last block we have. */
export function edgeBlock(reader: Reader, last: boolean): ChainRow | null {
  return firstOf(reader, { lt: Uint8Array.of(META_PREFIX), reverse: last });
}

/** The newest block whose slot is not above this one. Slots only grow, so halving finds it. */
export function blockAtSlot(reader: Reader, slot: number): ChainRow | null {
  let low = edgeBlock(reader, false)?.height ?? 0;
  let high = edgeBlock(reader, true)?.height ?? -1;
  let found: ChainRow | null = null;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const row = blockAtHeight(reader, middle);
    if (row !== null && row.slot <= slot) {
      found = row;
      low = middle + 1;
    } else high = middle - 1;
  }
  // Where a boundary block is above the slot, the block whose height it shares may not be.
  const lower = reader.get(CHAIN, chainKey(low, false));
  const row = lower === undefined ? null : readChainRow(chainKey(low, false), lower);
  return row !== null && row.slot <= slot ? row : found;
}

/** Its key in `chain` and `delta`. */
export function rowKey(row: ChainRow): Uint8Array {
  return chainKey(row.height, row.boundary);
}

/** The block of a key of `chain`, which some other row names. */
export function blockAtKey(reader: Reader, key: Uint8Array): ChainRow {
  const value = reader.get(CHAIN, key);
  if (value === undefined) throw new UnspentError('STORE_DAMAGED', `chain lacks the row ${toHex(key)}`, { key: toHex(key) });
  return readChainRow(key, value);
}

/** The block right below a key of `chain`; null: there is none. */
export function blockBelow(reader: Reader, key: Uint8Array): ChainRow | null {
  return firstOf(reader, { lt: key, reverse: true });
}

function firstOf(reader: Reader, range: { gte?: Uint8Array; lt: Uint8Array; reverse: boolean }): ChainRow | null {
  for (const [key, value] of reader.scan(CHAIN, { ...range, limit: 1 })) return readChainRow(key, value);
  return null;
}
