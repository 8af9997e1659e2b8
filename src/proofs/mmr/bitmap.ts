/**
 * Which leaves are unspent, as a commitment. One bit a leaf, cut into chunks of
 * 1,024; the chunks are the leaves of a second mountain range. Chunks of zeros
 * are not stored, and those at the right end do not count, so nodes and root are
 * a function of the set bits alone, however they came to be set: setting and
 * clearing bits is its own undo.
 */
import { writeU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { NodeReader, NodeSink } from '../node-store.ts';
import { EMPTY_ROOT, INDEXED } from './hash.ts';
import { familyOf, leafPosition, peaksOf, sizeOf } from './positions.ts';
import { bag, nodeKey, readNodes } from './range.ts';

export const CHUNK_BITS = 1024;
export const CHUNK_BYTES = CHUNK_BITS / 8;

/** Chunks read at a time while looking for the last one that has a bit. */
const LOOK_BACK_CHUNKS = 64;

/** Two kinds of rows: chunks by number, nodes of the range over them by position. */
export interface BitmapSpaces<T> {
  /** Chunks of bits by number. */
  readonly chunks: T;
  /** Nodes of the range over them by position. */
  readonly chunkNodes: T;
}

/** The state of a bitmap. */
export interface Bitmap {
  /** Chunks that count: up to the last one with a bit. */
  readonly chunkCount: number;
  /** The root over its chunks. */
  readonly root: Uint8Array;
}

/** A bitmap without a bit. */
export const EMPTY_BITMAP: Bitmap = { chunkCount: 0, root: EMPTY_ROOT };

export const chunkOf = (leafIndex: number): number => Math.floor(leafIndex / CHUNK_BITS);

/** First bit on top. */
export function hasBit(chunk: Uint8Array, leafIndex: number): boolean {
  const bit = leafIndex % CHUNK_BITS;
  return ((chunk[bit >> 3] >> (7 - (bit & 7))) & 1) === 1;
}

export function isZero(chunk: Uint8Array): boolean {
  return chunk.every((byte) => byte === 0);
}

export function chunkKey(chunk: number): Uint8Array {
  const key = new Uint8Array(4);
  writeU32(key, 0, chunk);
  return key;
}

export function readChunk(chunks: NodeReader, chunk: number): Uint8Array {
  return chunks.get(chunkKey(chunk)) ?? new Uint8Array(CHUNK_BYTES);
}

/** Whether the bit of a leaf is set. */
export function isUnspent(chunks: NodeReader, leafIndex: number): boolean {
  return hasBit(readChunk(chunks, chunkOf(leafIndex)), leafIndex);
}

/** Every set bit, in order. For checks and small sets. */
export function unspentLeaves(chunks: NodeReader, { chunkCount }: Bitmap): number[] {
  const found: number[] = [];
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const bytes = readChunk(chunks, chunk);
    for (let bit = 0; bit < CHUNK_BITS; bit++) if (hasBit(bytes, bit)) found.push(chunk * CHUNK_BITS + bit);
  }
  return found;
}

/**
 * Sets and clears bits; every one must be the other way before, or all of it is
 * refused. Only chunks that changed, and their parents, are hashed again.
 */
export function changeBits(
  nodes: BitmapSpaces<NodeReader>,
  sink: BitmapSpaces<NodeSink>,
  bitmap: Bitmap,
  bits: { readonly set: readonly number[]; readonly clear: readonly number[] },
): Bitmap {
  const changed = changedChunks(nodes.chunks, bits);
  const chunkCount = countAfter(nodes.chunks, bitmap.chunkCount, changed);
  for (const [chunk, bytes] of changed) {
    if (isZero(bytes)) sink.chunks.del(chunkKey(chunk));
    else sink.chunks.put(chunkKey(chunk), bytes);
  }
  const hashes = newHashes(nodes.chunkNodes, bitmap.chunkCount, chunkCount, changed);
  for (const [position, hash] of hashes) sink.chunkNodes.put(nodeKey(position), hash);
  const size = sizeOf(chunkCount);
  for (let position = size; position < sizeOf(bitmap.chunkCount); position++) sink.chunkNodes.del(nodeKey(position));
  return { chunkCount, root: rootAfter(nodes.chunkNodes, size, hashes) };
}

function changedChunks(
  chunks: NodeReader,
  { set, clear }: { readonly set: readonly number[]; readonly clear: readonly number[] },
): Map<number, Uint8Array> {
  const touched = [...new Set([...set, ...clear].map(chunkOf))].sort((a, b) => a - b);
  const read = chunks.getMany(touched.map(chunkKey));
  const changed = new Map(touched.map((chunk, i) => [chunk, read[i]?.slice() ?? new Uint8Array(CHUNK_BYTES)]));
  for (const leafIndex of set) flip(changed, leafIndex, false);
  for (const leafIndex of clear) flip(changed, leafIndex, true);
  return changed;
}

function flip(changed: ReadonlyMap<number, Uint8Array>, leafIndex: number, before: boolean): void {
  const bytes = changed.get(chunkOf(leafIndex))!;
  if (hasBit(bytes, leafIndex) !== before) {
    const is = before ? 'not unspent' : 'unspent already';
    throw new UnspentError(before ? 'INPUT_MISSING' : 'OUTPUT_DUPLICATE', `leaf ${leafIndex} is ${is}`, { leafIndex });
  }
  const bit = leafIndex % CHUNK_BITS;
  bytes[bit >> 3] ^= 0x80 >> (bit & 7);
}

/** Up to the last chunk that has a bit. */
function countAfter(chunks: NodeReader, countBefore: number, changed: ReadonlyMap<number, Uint8Array>): number {
  let count = Math.max(countBefore, ...[...changed.keys()].map((chunk) => chunk + 1));
  while (count > 0) {
    const first = Math.max(0, count - LOOK_BACK_CHUNKS);
    const looked = Array.from({ length: count - first }, (_, i) => first + i);
    const last = changed.get(count - 1);
    if (last !== undefined && !isZero(last)) return count;
    const read = chunks.getMany(looked.map(chunkKey));
    const found = looked.findLastIndex((chunk, i) => !isZero(changed.get(chunk) ?? read[i] ?? new Uint8Array(0)));
    if (found >= 0) return first + found + 1;
    count = first;
  }
  return 0;
}

/** Hashes of changed and new chunks and of all nodes above them, by position. */
function newHashes(
  chunkNodes: NodeReader,
  countBefore: number,
  count: number,
  changed: ReadonlyMap<number, Uint8Array>,
): Map<number, Uint8Array> {
  const hashes = new Map<number, Uint8Array>();
  const zeros = new Uint8Array(CHUNK_BYTES);
  for (const [chunk, bytes] of changed) {
    if (chunk < count) hashes.set(leafPosition(chunk), INDEXED.leaf(leafPosition(chunk), bytes));
  }
  for (let chunk = countBefore; chunk < count; chunk++) {
    if (!changed.has(chunk)) hashes.set(leafPosition(chunk), INDEXED.leaf(leafPosition(chunk), zeros));
  }
  let level = [...hashes.keys()];
  while (level.length > 0) level = hashParents(chunkNodes, sizeOf(count), level, hashes);
  return hashes;
}

/** Hashes the parents of these nodes; returns their positions. */
function hashParents(chunkNodes: NodeReader, size: number, level: readonly number[], hashes: Map<number, Uint8Array>): number[] {
  const families = new Map<number, readonly [left: number, right: number]>();
  for (const position of level) {
    const { parent, sibling, right } = familyOf(position);
    if (parent < size) families.set(parent, right ? [sibling, position] : [position, sibling]);
  }
  const asked = [...families.values()].flat().filter((position) => !hashes.has(position));
  const read = readNodes(chunkNodes, asked);
  const known = new Map(asked.map((position, i) => [position, read[i]]));
  const hashAt = (position: number): Uint8Array => hashes.get(position) ?? known.get(position)!;
  for (const [parent, [left, right]] of families) hashes.set(parent, INDEXED.parent(parent, hashAt(left), hashAt(right)));
  return [...families.keys()];
}

function rootAfter(chunkNodes: NodeReader, size: number, hashes: ReadonlyMap<number, Uint8Array>): Uint8Array {
  if (size === 0) return EMPTY_ROOT;
  const positions = peaksOf(size);
  const asked = positions.filter((position) => !hashes.has(position));
  const read = readNodes(chunkNodes, asked);
  const peaks = positions.map((position) => hashes.get(position) ?? read[asked.indexOf(position)]);
  return bag(size, peaks, INDEXED);
}
