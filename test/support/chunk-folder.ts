/**
 * The files of an ImmutableDB folder, made from a devnet: chunks of whole blocks
 * and the secondary index of each, so that what reads such folders is tested
 * where no real chain is at hand.
 *
 * Format: ouroboros-consensus-cardano/cddl/disk/immutable/secondary.ksy.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, gzipSync } from 'node:zlib';
import type { DevnetBlock, DevnetChain } from '../../src/chains/cardano/devnet/index.ts';
import { concatBytes, writeU32, writeU64 } from '../../src/util/bytes.ts';

const ENTRY_BYTES = 56;

/** Bytes by file name: `00000.chunk`, `00000.secondary`, `00001.chunk`, ... */
export type ChunkFiles = ReadonlyMap<string, Uint8Array>;

export const chunkName = (number: number): string => String(number).padStart(5, '0');

/** The blocks of the chain, `blocksPerChunk` in each chunk but the last. */
export function makeChunkFiles(
  { blocks, byronEpochSlots }: Pick<DevnetChain, 'blocks' | 'byronEpochSlots'>,
  blocksPerChunk: number,
): ChunkFiles {
  const files = new Map<string, Uint8Array>();
  for (let number = 0; number * blocksPerChunk < blocks.length; number++) {
    const own = blocks.slice(number * blocksPerChunk, (number + 1) * blocksPerChunk);
    files.set(`${chunkName(number)}.chunk`, concatBytes(...own.map(({ raw }) => raw)));
    files.set(`${chunkName(number)}.secondary`, secondaryIndex(own, byronEpochSlots));
  }
  return files;
}

/** Writes the files into a new folder; packed as an archive has them. */
export function writeChunkFolder(folder: string, files: ChunkFiles, packed = false): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of files) writeFileSync(join(folder, packed ? `${name}.gz` : name), packed ? gzipSync(bytes) : bytes);
}

function secondaryIndex(blocks: readonly DevnetBlock[], byronEpochSlots: number): Uint8Array {
  const index = new Uint8Array(ENTRY_BYTES * blocks.length);
  let offset = 0;
  for (const [i, { raw, hash, slot, boundary }] of blocks.entries()) {
    const at = i * ENTRY_BYTES;
    writeU64(index, at, offset);
    // Where the header stands in the block, 2 + 2 bytes: nobody here reads it.
    writeU32(index, at + 12, crc32(raw));
    index.set(hash, at + 16);
    // A boundary block is entered by its epoch.
    writeU64(index, at + 48, boundary ? Math.floor(slot / byronEpochSlots) : slot);
    offset += raw.length;
  }
  return index;
}
