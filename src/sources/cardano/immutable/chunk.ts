/**
 * One open chunk: its bytes by position, and its index where there is one.
 * A plain file is read in pieces into fresh buffers, because the blocks handed
 * out are views of them; an archived one is inflated whole.
 *
 * Opening and small reads are synchronous: a trip to the thread pool for each
 * little file costs more than the file. Large reads overlap with the fold.
 */
import { closeSync, fstatSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { openRegular, readRegular } from '../../../files/regular.ts';
import { UnspentError } from '../../../util/errors.ts';
import { CHUNK_BYTES_MAX } from '../../../util/limits.ts';
import type { ChunkFile } from './folder.ts';
import { unreachable } from './folder.ts';
import { loadSecondary, type SecondaryIndex } from './secondary.ts';

/** About a tenth of a millisecond from memory. */
const READ_NOW_BYTES_MAX = 1 << 20;

export interface Chunk {
  readonly file: ChunkFile;
  /** Bytes at the time it was opened. */
  readonly size: number;
  readonly index: SecondaryIndex | null;
  /** Up to `length` bytes from `at`; fewer only where the file ends. The bytes are the caller's to keep. */
  read(at: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export async function openChunk(file: ChunkFile): Promise<Chunk> {
  // The index first: a node appends to the chunk before the index, so every entry read has its block in the file.
  const index = loadSecondary(file);
  return file.packed ? openPacked(file, index) : openPlain(file, index);
}

const inflate = promisify(gunzip) as (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

async function openPacked(file: ChunkFile, index: SecondaryIndex | null): Promise<Chunk> {
  let packed: Uint8Array;
  try {
    packed = readRegular(file.path, { bytesMax: CHUNK_BYTES_MAX, links: 'follow' });
  } catch (error) {
    throw unreachable(file.path, error);
  }
  let bytes: Uint8Array;
  try {
    const inflated = await inflate(packed, { maxOutputLength: CHUNK_BYTES_MAX });
    bytes = new Uint8Array(inflated.buffer, inflated.byteOffset, inflated.length);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UnspentError('SOURCE_DAMAGED', `${file.name}: does not inflate (${reason})`, { path: file.path }, error);
  }
  const read = async (at: number, length: number) => bytes.subarray(at, at + length);
  return { file, size: bytes.length, index, read, close: async () => {} };
}

function openPlain(file: ChunkFile, index: SecondaryIndex | null): Chunk {
  let descriptor: number | undefined;
  try {
    descriptor = openRegular(file.path);
    const opened = descriptor;
    const { size } = fstatSync(opened);
    return { file, size, index, read: (at, length) => readFully(opened, file, at, length), close: async () => closeSync(opened) };
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw unreachable(file.path, error);
  }
}

async function readFully(descriptor: number, file: ChunkFile, at: number, length: number): Promise<Uint8Array> {
  // Not from the shared pool, and not zeroed: every byte handed out was read.
  const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  let filled = 0;
  try {
    while (filled < length) {
      const bytesRead = await readSome(descriptor, bytes, filled, at + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
  } catch (error) {
    throw unreachable(file.path, error);
  }
  return filled === length ? bytes : bytes.subarray(0, filled);
}

/** Small reads at once: waiting for the thread pool takes longer than they do. Large ones while the fold works. */
function readSome(descriptor: number, into: Uint8Array, offset: number, position: number): number | Promise<number> {
  if (into.length <= READ_NOW_BYTES_MAX) return readSync(descriptor, into, offset, into.length - offset, position);
  return new Promise((resolve, reject) => {
    read(descriptor, into, offset, into.length - offset, position, (error, bytesRead) => (error ? reject(error) : resolve(bytesRead)));
  });
}
