/**
 * Reads files whose names come from a user or from a folder that somebody else
 * filled. Only regular files are opened: a named pipe would wait for a writer
 * for ever, a device never ends. What is read is bounded before it is read,
 * whatever size the file system claims.
 *
 * A path that a user names may be a symbolic link to a regular file (`follow`):
 * certificates and block files often are. In a folder of somebody else it is
 * refused (`refuse`), because it would read what lies outside of that folder.
 */
import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { UnspentError } from '../util/errors.ts';

export interface ReadLimits {
  /** A file with more is refused (LIMIT). */
  readonly bytesMax: number;
  readonly links: 'follow' | 'refuse';
}

/** `O_NONBLOCK`: opening a pipe that nobody writes to returns at once, and `fstat` then says what it is. Windows has neither flag. */
function flagsOf({ links }: Pick<ReadLimits, 'links'>): number {
  const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;
  return (O_RDONLY ?? 0) | O_NONBLOCK | (links === 'refuse' ? O_NOFOLLOW : 0);
}

/** A descriptor of a regular file, for reading in parts. Throws IO for what is none; system errors as they are. */
export function openRegular(path: string, links: ReadLimits['links'] = 'follow'): number {
  const file = opening(path, () => openSync(path, flagsOf({ links })));
  try {
    checkKind(path, fstatSync(file));
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The same as a handle. */
export async function openRegularHandle(path: string, links: ReadLimits['links'] = 'follow'): Promise<FileHandle> {
  const file = await open(path, flagsOf({ links })).catch((error: unknown) => opening(path, () => rethrow(error)));
  try {
    checkKind(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The whole file. Throws IO for what is no regular file, LIMIT for one that is larger; system errors as they are. */
export function readRegular(path: string, limits: ReadLimits): Uint8Array {
  const file = openRegular(path, limits.links);
  try {
    const content = new Content(path, fstatSync(file).size, limits);
    while (content.took(readSync(file, content.buffer, content.length, content.room, null)));
    return content.bytes();
  } finally {
    closeSync(file);
  }
}

/** The same without waiting for the disk. */
export async function readRegularLater(path: string, limits: ReadLimits): Promise<Uint8Array> {
  const file = await openRegularHandle(path, limits.links);
  try {
    const content = new Content(path, (await file.stat()).size, limits);
    while (content.took((await file.read(content.buffer, content.length, content.room, null)).bytesRead));
    return content.bytes();
  } finally {
    await file.close();
  }
}

/** Bytes as they come. It has room for one more than the file claims to have, so that the read which finds the end needs no second buffer. */
class Content {
  buffer: Uint8Array;
  length = 0;
  private readonly path: string;
  private readonly bytesMax: number;

  constructor(path: string, size: number, { bytesMax }: ReadLimits) {
    this.path = path;
    this.bytesMax = bytesMax;
    if (size > bytesMax) throw this.tooLong();
    this.buffer = new Uint8Array(size + 1);
  }

  get room(): number {
    return this.buffer.length - this.length;
  }

  /** False: that was the end. */
  took(bytes: number): boolean {
    this.length += bytes;
    if (this.length > this.bytesMax) throw this.tooLong();
    // The file grew meanwhile, or its file system does not tell sizes.
    if (this.room === 0) {
      const larger = new Uint8Array(Math.min(2 * this.buffer.length + CONTENT_BYTES_MIN, this.bytesMax + 1));
      larger.set(this.buffer);
      this.buffer = larger;
    }
    return bytes > 0;
  }

  bytes(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }

  private tooLong(): UnspentError {
    return new UnspentError('LIMIT', `${this.path} has more than ${this.bytesMax} bytes, the most it may have`, { path: this.path });
  }
}

/** Of a buffer that has to grow. */
const CONTENT_BYTES_MIN = 4096;

function rethrow(error: unknown): never {
  throw error;
}

/** What the system says where a link, or a socket, was to be opened. */
function opening<T>(path: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') throw notRegular(path, 'a symbolic link', error);
    if (code === 'ENXIO' || code === 'ENODEV') throw notRegular(path, 'a socket or a device', error);
    throw error;
  }
}

function checkKind(path: string, stats: Stats): void {
  if (stats.isFile()) return;
  const kinds: readonly [boolean, string][] = [
    [stats.isDirectory(), 'a directory'],
    [stats.isFIFO(), 'a named pipe'],
    [stats.isSocket(), 'a socket'],
    [stats.isCharacterDevice() || stats.isBlockDevice(), 'a device'],
  ];
  throw notRegular(path, kinds.find(([is]) => is)?.[1] ?? 'something else');
}

function notRegular(path: string, kind: string, cause?: unknown): UnspentError {
  return new UnspentError('IO', `${path} is ${kind}, not a regular file`, { path, kind }, cause);
}
