/**
 * The base: the block that a store began with where that was a snapshot of
 * the unspent set and not the first block of its chain. A reserved row of
 * `chain` names it.
 *
 * Of the base the store has its row and what is unspent after it, and nothing
 * of what came before. So both prune cursors stand at its height from the
 * start, and the horizon is right without any special case for snapshots.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import {
  CHAIN,
  CHAIN_HASH,
  type ChainRow,
  chainKey,
  metaKey,
  readChainRow,
  readOldestHeader,
  writeOldestHeader,
} from '../projections/chain.ts';
import { toHex, utf8 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { DELTA, readDelta } from './delta.ts';
import { type Totals, writeHead } from './head.ts';
import { writePruned } from './pruned.ts';

const BASE_KEY = metaKey('base');
/** Only of a store that began with a node's own set: what that lacks of each output. */
const NODE_SET_KEY = metaKey('node_set');

/** Null: the store began with the first block it saw. */
export function readBase(reader: Reader): ChainRow | null {
  const key = reader.get(CHAIN, BASE_KEY);
  if (key === undefined) return null;
  const value = reader.get(CHAIN, key);
  if (value === undefined) throw new UnspentError('STORE_DAMAGED', `chain lacks the row ${toHex(key)}, with which the store began`);
  return readChainRow(key, value);
}

/** What the outputs that the store began with lack: they came from a node, and not from a snapshot. Null: nothing. */
export function readNodeSetLacks(reader: Reader): string | null {
  const value = reader.get(CHAIN, NODE_SET_KEY);
  return value === undefined ? null : new TextDecoder().decode(value);
}

/** The block that a store begins with: its row in `chain`, also as bytes, and its header where the row does not carry it. */
export interface Base {
  readonly row: ChainRow;
  readonly value: Uint8Array;
  readonly header: Uint8Array | undefined;
}

/** Into an empty store: it is at that block now, and can go back no further. `lacks`: of a node's own set. */
export function writeBase(batch: Batch, { row, value, header }: Base, totals: Totals, lacks?: string): void {
  const { height, slot, hash, boundary, era } = row;
  if (lacks !== undefined) batch.put(CHAIN, NODE_SET_KEY, utf8(lacks));
  const key = chainKey(height, boundary);
  if (header !== undefined) writeOldestHeader(batch, key, header);
  batch.put(CHAIN, key, value);
  batch.put(CHAIN_HASH, hash, key);
  batch.put(CHAIN, BASE_KEY, key);
  writePruned(batch, { spent: height, deltas: height });
  writeHead(batch, { height, slot, hash, boundary, era, ...totals });
}

/** The header of a block whose past is known, where its row does not carry it; undefined: it was forgotten. */
export function keptHeader(reader: Reader, { height, boundary }: Pick<ChainRow, 'height' | 'boundary'>): Uint8Array | undefined {
  const key = chainKey(height, boundary);
  const delta = reader.get(DELTA, key);
  const undo = delta === undefined ? undefined : readDelta(delta, `the delta of block ${height}`).undo.get(CHAIN);
  return undo ?? readOldestHeader(reader, key);
}
