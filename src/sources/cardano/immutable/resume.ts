/**
 * Where to go on: finds a point in the folder by its slot and proves it by its
 * hash, reading a few chunk heads and one or two chunks, never the whole folder.
 * Also the other end: the last block there is.
 */
import type { Header } from '../../../ledgers/cardano/header.ts';
import { readHeader } from '../../../ledgers/cardano/header.ts';
import type { Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { isUnspentError } from '../../../util/errors.ts';
import type { SourceTip } from '../../source.ts';
import type { Chunk } from './chunk.ts';
import { openChunk } from './chunk.ts';
import type { ChunkFile } from './folder.ts';
import { walkChunk } from './walk.ts';

/** A place between two blocks: in which chunk, and where in it. */
export interface Position {
  readonly chunk: number;
  readonly offset: number;
}

/** Bytes that surely hold a header: the index gives its length 16 bits, and a few bytes stand before it. */
const HEAD_BYTES = 66_000;

/** The place right after the first of `points` that is in the folder, and which one that is; null when none is. */
export async function locate(
  chunks: readonly ChunkFile[],
  points: readonly Point[],
  byronEpochSlots: number,
): Promise<{ readonly found: number; readonly position: Position } | null> {
  const heads = new Map<number, number | undefined>();
  const firstSlot = async (i: number): Promise<number | undefined> => {
    if (!heads.has(i)) heads.set(i, await readFirstSlot(chunks[i], byronEpochSlots));
    return heads.get(i);
  };
  for (const [found, point] of points.entries()) {
    // A boundary block shares its slot with the block after it, so a chunk that begins with our slot may not be the first with it.
    for (const i of await candidates(chunks.length, point.slot, firstSlot)) {
      const offset = await withChunk(chunks[i], (chunk) => offsetAfter(chunk, point, byronEpochSlots));
      if (offset !== null) return { found, position: { chunk: chunks[i].number, offset } };
    }
  }
  return null;
}

/** The last chunk that begins at or before the slot, and the one before it. Chunks without a readable first block are passed over. */
async function candidates(count: number, slot: number, firstSlot: (i: number) => Promise<number | undefined>): Promise<number[]> {
  let low = 0;
  let high = count - 1;
  let best = -1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    let i = middle;
    let first = await firstSlot(i);
    while (first === undefined && i > low) first = await firstSlot(--i);
    if (first === undefined || first <= slot) {
      if (first !== undefined) best = i;
      low = middle + 1;
    } else {
      high = i - 1;
    }
  }
  let before = best - 1;
  while (before >= 0 && (await firstSlot(before)) === undefined) before--;
  return [best, before].filter((i) => i >= 0);
}

async function readFirstSlot(file: ChunkFile, byronEpochSlots: number): Promise<number | undefined> {
  return withReadable(file, async (chunk) => {
    const head = await chunk.read(0, Math.min(HEAD_BYTES, chunk.size));
    return tryHeader(head, byronEpochSlots)?.slot;
  });
}

/** Where the block after `point` begins, or null when the point is not in the chunk. */
async function offsetAfter(chunk: Chunk, point: Point, byronEpochSlots: number): Promise<number | null> {
  const entry = chunk.index?.entryOf(point.hash) ?? -1;
  const hinted = entry < 0 ? -1 : (chunk.index?.offset(entry) ?? -1);
  if (hinted >= 0 && hinted < chunk.size) {
    const head = await chunk.read(hinted, Math.min(HEAD_BYTES, chunk.size - hinted));
    const header = tryHeader(head, byronEpochSlots);
    // The hash proves that the block begins there, so the walk may begin there too.
    if (header !== undefined && equalBytes(header.hash, point.hash)) return scan(chunk, hinted, point, byronEpochSlots);
  }
  return scan(chunk, 0, point, byronEpochSlots);
}

async function scan(chunk: Chunk, start: number, point: Point, byronEpochSlots: number): Promise<number | null> {
  let offset = start;
  for await (const { blocks } of walkChunk(chunk, start)) {
    for (const { raw } of blocks) {
      offset += raw.length;
      const header = tryHeader(raw, byronEpochSlots);
      if (header === undefined) continue;
      if (header.slot > point.slot) return null;
      if (header.slot === point.slot && equalBytes(header.hash, point.hash)) return offset;
    }
  }
  return null;
}

/** The last complete block of the folder; undefined when there is none. */
export async function findTip(chunks: readonly ChunkFile[], byronEpochSlots: number): Promise<SourceTip | undefined> {
  for (let i = chunks.length - 1; i >= 0; i--) {
    const tip = await withReadable(chunks[i], (chunk) => lastBlock(chunk, byronEpochSlots));
    if (tip !== undefined) return tip;
  }
  return undefined;
}

async function lastBlock(chunk: Chunk, byronEpochSlots: number): Promise<SourceTip | undefined> {
  const { index } = chunk;
  const hinted = index === null ? -1 : index.offset(index.count - 1);
  const nearEnd = hinted > 0 && hinted < chunk.size ? await lastFrom(chunk, hinted, true, byronEpochSlots) : undefined;
  return nearEnd ?? lastFrom(chunk, 0, false, byronEpochSlots);
}

/** With `onlyIntact` the start is a guess, and counts only when the checksum of the block there proves it. */
async function lastFrom(chunk: Chunk, start: number, onlyIntact: boolean, byronEpochSlots: number): Promise<SourceTip | undefined> {
  let last: Uint8Array | undefined;
  try {
    for await (const { blocks } of walkChunk(chunk, start)) {
      if (blocks.length === 0) continue;
      if (onlyIntact && last === undefined && !blocks[0].intact) return undefined;
      last = blocks[blocks.length - 1].raw;
    }
  } catch (error) {
    // The tip is then the last block before the damage.
    if (!isUnspentError(error, 'SOURCE_DAMAGED')) throw error;
  }
  return last === undefined ? undefined : tipOf(last, byronEpochSlots);
}

export function tipOf(raw: Uint8Array, byronEpochSlots: number): SourceTip | undefined {
  const header = tryHeader(raw, byronEpochSlots);
  return header === undefined ? undefined : { slot: header.slot, height: header.height };
}

/** A header we cannot read is not an answer to "where is this point"; the follower meets the block itself and says what is wrong. */
function tryHeader(raw: Uint8Array, byronEpochSlots: number): Header | undefined {
  try {
    return readHeader(raw, byronEpochSlots);
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    return undefined;
  }
}

async function withChunk<T>(file: ChunkFile, use: (chunk: Chunk) => Promise<T>): Promise<T> {
  const chunk = await openChunk(file);
  try {
    return await use(chunk);
  } finally {
    await chunk.close();
  }
}

/** As `withChunk`, but undefined for a damaged chunk: the walk reports the damage later, after the blocks before it. */
async function withReadable<T>(file: ChunkFile, use: (chunk: Chunk) => Promise<T>): Promise<T | undefined> {
  try {
    return await withChunk(file, use);
  } catch (error) {
    if (!isUnspentError(error, 'SOURCE_DAMAGED')) throw error;
    return undefined;
  }
}
