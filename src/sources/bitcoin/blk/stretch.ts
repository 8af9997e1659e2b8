/**
 * Blocks of a chain that stand near one another in one file, read together and
 * cut apart in the chain's order. A node writes blocks as they come, so that
 * neighbours in the chain may stand in any order within a window.
 */
import type { FileHandle } from 'node:fs/promises';
import { openRegularHandle } from '../../../files/regular.ts';
import { BLK_RUN_BLOCKS_MAX, GROUP_BYTES_MAX } from '../../../util/limits.ts';
import type { Place } from './block-index.ts';
import { blockFile, unreadable } from './folder.ts';
import { xorWithKey } from './xor.ts';

/** Bytes that may be read for nothing, as a multiple of those wanted and on top of that. */
const WASTE_TIMES = 3;
const WASTE_BYTES = 64 * 1024;

/** How many of the places, from `first` on, one read should take: as many as can be had without reading too much for nothing. */
export function stretchLength(places: (i: number) => Place, first: number, count: number): number {
  const { file, offset, length } = places(first);
  let [start, end, wanted, best] = [offset, offset + length, length, 1];
  for (let n = 1; n < BLK_RUN_BLOCKS_MAX && first + n < count; n++) {
    const next = places(first + n);
    start = Math.min(start, next.offset);
    end = Math.max(end, next.offset + next.length);
    wanted += next.length;
    if (next.file !== file || end - start > GROUP_BYTES_MAX) break;
    // Too much so far may be little in the end: what stands between may be the blocks that come next.
    if (end - start - wanted <= WASTE_TIMES * wanted + WASTE_BYTES) best = n + 1;
  }
  return best;
}

/** Reads stretches, one at a time; keeps the file it read from last open. */
export class StretchReader {
  private readonly folder: string;
  private readonly key: Uint8Array | null;
  private file = -1;
  private handle: FileHandle | null = null;

  constructor(folder: string, key: Uint8Array | null) {
    this.folder = folder;
    this.key = key;
  }

  /** The blocks at these places, which are all in one file. Throws SOURCE_UNREACHABLE. */
  async read(places: readonly Place[]): Promise<Uint8Array[]> {
    let [start, end] = [Number.POSITIVE_INFINITY, 0];
    for (const { offset, length } of places) {
      start = Math.min(start, offset);
      end = Math.max(end, offset + length);
    }
    const bytes = await this.bytes(places[0].file, start, end - start);
    return places.map(({ offset, length }) => bytes.subarray(offset - start, offset - start + length));
  }

  async close(): Promise<void> {
    const { handle } = this;
    this.handle = null;
    this.file = -1;
    await handle?.close();
  }

  private async bytes(file: number, start: number, length: number): Promise<Uint8Array> {
    const path = blockFile(this.folder, file);
    try {
      const handle = await this.opened(file, path);
      const { buffer } = Buffer.allocUnsafeSlow(length);
      const bytes = new Uint8Array(buffer, 0, length);
      const { bytesRead } = await handle.read(bytes, 0, length, start);
      if (bytesRead < length) throw new Error('it is shorter than it was');
      if (this.key !== null) xorWithKey(bytes, this.key, start);
      return bytes;
    } catch (error) {
      throw unreadable(path, error);
    }
  }

  private async opened(file: number, path: string): Promise<FileHandle> {
    if (this.handle !== null && this.file === file) return this.handle;
    await this.close();
    this.handle = await openRegularHandle(path);
    this.file = file;
    return this.handle;
  }
}
