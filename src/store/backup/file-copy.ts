/**
 * Files into a backup and out of it, with their hashes: by copying, with one
 * buffer of bounded size, or by another link to a file that never changes.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { openRegularHandle } from '../../files/regular.ts';
import { toHex } from '../../util/bytes.ts';
import { BEGINS_ANEW, UnspentError } from '../../util/errors.ts';
import { BACKUP_BUFFER_BYTES, BACKUP_TAIL_BYTES } from '../../util/limits.ts';

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Bytes since the last call. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** Of the first `bytes` of a file; returns its hash. With `to`, they are written there, and are on the disk when this returns. Throws IO where the file is shorter. */
export async function hashFile(from: string, bytes: number, to: string | null, options: CopyOptions = {}): Promise<string> {
  const source = await openRegularHandle(from, 'refuse');
  let target: FileHandle | null = null;
  try {
    target = to === null ? null : await open(to, 'wx', 0o600);
    const hash = createHash('sha256');
    const buffer = new Uint8Array(Math.min(BACKUP_BUFFER_BYTES, Math.max(1, bytes)));
    for (let left = bytes; left > 0; ) {
      if (options.signal?.aborted) throw new UnspentError('INTERRUPTED', 'stopped; nothing is left of it', { advice: BEGINS_ANEW });
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, left), bytes - left);
      if (bytesRead === 0) throw new UnspentError('IO', `${from} has ${bytes - left} bytes instead of ${bytes}`, { path: from });
      const part = buffer.subarray(0, bytesRead);
      hash.update(part);
      if (target !== null) await writeAll(target, part);
      left -= bytesRead;
      options.onBytes?.(bytesRead);
    }
    await target?.sync();
    return hash.digest('hex');
  } finally {
    await source.close();
    await target?.close();
  }
}

/** Of the end of a file. RocksDB ends a table with where and when it was made, so no two tables end alike. */
export async function hashTail(path: string): Promise<string> {
  const file = await openRegularHandle(path, 'refuse');
  try {
    const { size } = await file.stat();
    const bytes = new Uint8Array(Math.min(size, BACKUP_TAIL_BYTES));
    await file.read(bytes, 0, bytes.length, size - bytes.length);
    return toHex(createHash('sha256').update(bytes).digest());
  } finally {
    await file.close();
  }
}

/** A text that is on the disk when this returns. */
export async function writeText(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The entries of a folder. Windows has no descriptors of directories, and writes their entries by itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at, bytes.length - at)).bytesWritten;
}
