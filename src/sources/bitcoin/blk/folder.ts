/**
 * A node's folder of block files: where it is, which files there are, and the
 * key that newer nodes write them with. Nothing in it is ever changed.
 */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readRegularLater } from '../../../files/regular.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { SECRET_FILE_BYTES_MAX } from '../../../util/limits.ts';
import { networkFolder } from '../node-folder.ts';

const KEY_BYTES = 8;
const FILE_NAME = /^blk(\d{5,})\.dat$/;

/** The folder with blk*.dat: the one given, or `blocks` of a data directory, of the network's part of it first. Throws SOURCE_UNREACHABLE. */
export async function findBlocks(path: string, network: BitcoinNetwork): Promise<string> {
  const folders = [path, join(path, networkFolder(network), 'blocks'), join(path, 'blocks')];
  const looked = [...new Set(folders)];
  for (const folder of looked) if ((await listBlockFiles(folder)).length > 0) return folder;
  const message = existsSync(path) ? `no block files (blk00000.dat and so on) in ${looked.join(', ')}` : `there is no ${path}`;
  throw new UnspentError('SOURCE_UNREACHABLE', `blk:${path}: ${message}`, { path, looked });
}

/** Numbers of the files, in order; none where there is no such folder. */
export async function listBlockFiles(folder: string): Promise<number[]> {
  try {
    const names = await readdir(folder);
    return names
      .flatMap((name) => FILE_NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw unreadable(folder, error);
  }
}

export function blockFile(folder: string, number: number): string {
  return join(folder, `blk${String(number).padStart(5, '0')}.dat`);
}

/** What each byte of the files is xored with, by its place in the file; null: nothing. Throws SOURCE_DAMAGED. */
export async function readKey(folder: string): Promise<Uint8Array | null> {
  const path = join(folder, 'xor.dat');
  let key: Uint8Array;
  try {
    key = await readRegularLater(path, { bytesMax: SECRET_FILE_BYTES_MAX, links: 'follow' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unreadable(path, error);
  }
  if (key.length !== KEY_BYTES) {
    throw new UnspentError('SOURCE_DAMAGED', `${path} has ${key.length} bytes; the key of block files has ${KEY_BYTES}`, { path });
  }
  return key.every((byte) => byte === 0) ? null : key;
}

export function unreadable(path: string, cause: unknown): UnspentError {
  return new UnspentError('SOURCE_UNREACHABLE', `${path} cannot be read: ${(cause as Error).message}`, { path }, cause);
}
