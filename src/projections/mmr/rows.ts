/**
 * Where the mountain range over all outputs rests (`proofs/mmr`), and the record
 * of a block in its delta:
 *
 *   mmr_nodes    position u64 of a parent -> hashes of its children, 32 each
 *   mmr_leaf     outpoint 36, unspent     -> leaf index u40
 *   mmr_bitmap   00 | chunk u32           -> 128 bytes, one bit a leaf
 *                01 | position u64        -> hash 32 of the range over the chunks, from STORED_LEVEL up
 *   mmr_prune    position u64             -> nothing: all below it was freed
 *   chain `mmr`  size, peaks, chunks, root of the bitmap, cutoff; an empty range has no row
 *
 * Record: leaves before varint | created varint | n varint | n times how many
 * leaves stand behind the one that was spent | root of the range 32 | root of
 * the bitmap 32 | where something changed: merged root before the block 32.
 * The peaks of any size that can still be gone back to are nodes that are there.
 */
import type { Batch, ColumnSpec, Reader } from '../../engine/engine.ts';
import { mmr, type NodeReader, type NodeSink, sinkWithin, within } from '../../proofs/index.ts';
import { ByteReader, type ByteWriter } from '../../util/byte-writer.ts';
import { readU32, writeU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { CHAIN, metaKey } from '../chain.ts';
import { freesIn, nodesIn } from './nodes.ts';

export const MMR = 'mmr';
export const MMR_NODES = 'mmr_nodes';
export const MMR_LEAF = 'mmr_leaf';
export const MMR_BITMAP = 'mmr_bitmap';
export const MMR_PRUNE = 'mmr_prune';

export const MMR_STATE_KEY = metaKey('mmr');

/** Prefixes in `mmr_bitmap`. */
export const CHUNK_ROWS = Uint8Array.of(0);
export const CHUNK_NODE_ROWS = Uint8Array.of(1);

const HASH_BYTES = 32;
export const LEAF_INDEX_BYTES = 5;
const TWO_32 = 0x1_0000_0000;

export const mmrColumns: readonly ColumnSpec[] = [
  { name: MMR_NODES, access: 'order', weight: 12 },
  { name: MMR_LEAF, access: 'point', weight: 8 },
  { name: MMR_BITMAP, access: 'point', weight: 3 },
  { name: MMR_PRUNE, access: 'point', weight: 2 },
];

function columnOf(reader: Reader, column: string): NodeReader {
  return { get: (key) => reader.get(column, key), getMany: (keys) => reader.getMany(column, keys) };
}

function sinkOf(batch: Batch, column: string): NodeSink {
  return { put: (key, value) => batch.put(column, key, value), del: (key) => batch.del(column, key) };
}

/** Chunks of the bitmap, and those nodes above them that have rows. */
export function bitmapRows(reader: Reader): mmr.BitmapSpaces<NodeReader> {
  const bitmap = columnOf(reader, MMR_BITMAP);
  return { chunks: within(CHUNK_ROWS, bitmap), chunkNodes: within(CHUNK_NODE_ROWS, bitmap) };
}

export function bitmapSink(batch: Batch): mmr.BitmapSpaces<NodeSink> {
  const bitmap = sinkOf(batch, MMR_BITMAP);
  return { chunks: sinkWithin(CHUNK_ROWS, bitmap), chunkNodes: sinkWithin(CHUNK_NODE_ROWS, bitmap) };
}

/** Nodes by position, of every size up to this one. */
export function rangeNodes(reader: Reader, newest: mmr.Range): NodeReader {
  return nodesIn(columnOf(reader, MMR_NODES), newest);
}

export function prunedRows(reader: Reader): NodeReader {
  return columnOf(reader, MMR_PRUNE);
}

/** Takes what compaction frees. */
export function freeSink(batch: Batch): mmr.PruneSpaces<NodeSink> {
  return { nodes: freesIn(sinkOf(batch, MMR_NODES)), pruned: sinkOf(batch, MMR_PRUNE) };
}

/** The present state. */
export function readMmrState(reader: Reader): mmr.UtxoMmr {
  const row = reader.get(CHAIN, MMR_STATE_KEY);
  return row === undefined ? mmr.EMPTY_UTXO_MMR : mmr.decodeState(row);
}

/** Writes a leaf index as a value of `mmr_leaf`. */
export function writeLeafIndex(to: Uint8Array, leafIndex: number): Uint8Array {
  to[0] = Math.floor(leafIndex / TWO_32);
  writeU32(to, 1, leafIndex % TWO_32);
  return to;
}

export function leafIndexBytes(): Uint8Array {
  return new Uint8Array(LEAF_INDEX_BYTES);
}

export function readLeafIndex(value: Uint8Array): number {
  if (value.length !== LEAF_INDEX_BYTES) throw new UnspentError('STORE_DAMAGED', `a row of ${MMR_LEAF} has ${value.length} bytes`);
  return value[0] * TWO_32 + readU32(value, 1);
}

/** What a block did to the range, and what it led to. */
export interface MmrRecord {
  readonly leavesBefore: number;
  readonly created: number;
  /** In the order in which the block spent them. */
  readonly spent: readonly number[];
  readonly pmmrRoot: Uint8Array;
  readonly bitmapRoot: Uint8Array;
  readonly mergedBefore: Uint8Array;
}

export function leavesAfter({ leavesBefore, created }: MmrRecord): number {
  return leavesBefore + created;
}

export function mergedAfter(record: MmrRecord): Uint8Array {
  return mmr.mergedRoot(mmr.sizeOf(leavesAfter(record)), record.pmmrRoot, record.bitmapRoot);
}

export function encodeMmrRecord(w: ByteWriter, record: MmrRecord): Uint8Array {
  const { leavesBefore, created, spent } = record;
  const last = leavesBefore + created - 1;
  w.reset();
  w.varint(leavesBefore);
  w.varint(created);
  w.varint(spent.length);
  for (const leaf of spent) w.varint(last - leaf);
  w.run(record.pmmrRoot);
  w.run(record.bitmapRoot);
  if (created + spent.length > 0) w.run(record.mergedBefore);
  return w.view().slice();
}

export function decodeMmrRecord(bytes: Uint8Array | undefined, what: string): MmrRecord {
  if (bytes === undefined) throw new UnspentError('STORE_DAMAGED', `${what} lacks what it did to the mountain range`);
  const r = new ByteReader(bytes, `${what}, in what it did to the mountain range,`);
  const leavesBefore = r.varint();
  const created = r.varint();
  const last = leavesBefore + created - 1;
  const spent: number[] = [];
  for (let count = r.varint(); count > 0; count--) spent.push(last - r.varint());
  const pmmrRoot = r.run(HASH_BYTES);
  const bitmapRoot = r.run(HASH_BYTES);
  const unchanged = created + spent.length === 0;
  const record = { leavesBefore, created, spent, pmmrRoot, bitmapRoot };
  const mergedBefore = unchanged ? mmr.mergedRoot(mmr.sizeOf(leavesBefore), pmmrRoot, bitmapRoot) : r.run(HASH_BYTES);
  r.end();
  if (spent.some((leaf) => leaf < 0)) throw new UnspentError('STORE_DAMAGED', `${what} spent a leaf before the first`);
  return { ...record, mergedBefore };
}
