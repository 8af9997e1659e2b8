/**
 * The base: the block that a store began with where that was a snapshot of the
 * unspent set and not the first block of its chain. A reserved row of `chain`
 * names it.
 *
 * Of the base the store has its row and what is unspent after it, and nothing
 * of what came before: so both prune cursors stand at its height from the start,
 * and whatever asks how far back it can go is told the truth without knowing of
 * snapshots.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import { CHAIN, CHAIN_HASH, type ChainRow, chainKey, metaKey, readChainRow } from '../projections/chain.ts';
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { type Totals, writeHead } from './head.ts';
import { writePruned } from './pruned.ts';

const BASE_KEY = metaKey('base');

/** Null: the store began with the first block it saw. */
export function readBase(reader: Reader): ChainRow | null {
  const key = reader.get(CHAIN, BASE_KEY);
  if (key === undefined) return null;
  const value = reader.get(CHAIN, key);
  if (value === undefined) throw new UnspentError('STORE_DAMAGED', `chain lacks the row ${toHex(key)}, with which the store began`);
  return readChainRow(key, value);
}

/** Into an empty store: it is at that block now, and can go back no further. `value` is the block's row in `chain`. */
export function writeBase(batch: Batch, { height, slot, hash, boundary, era }: ChainRow, value: Uint8Array, totals: Totals): void {
  const key = chainKey(height, boundary);
  batch.put(CHAIN, key, value);
  batch.put(CHAIN_HASH, hash, key);
  batch.put(CHAIN, BASE_KEY, key);
  writePruned(batch, { spent: height, deltas: height });
  writeHead(batch, { height, slot, hash, boundary, era, ...totals });
}
