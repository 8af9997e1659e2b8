/**
 * Where the control socket of a store is: in the folder `control` of the data
 * directory, which only the owner may enter. Where its path would be longer than
 * a socket's may be, the socket is in a folder of its own among the temporary
 * files, as closed, and a file in `control` says where.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CONTROL_FOLDER } from '../../engine/directory.ts';
import { readRegular } from '../../files/regular.ts';
import { UnspentError } from '../../util/errors.ts';
import { SOCKET_PATH_BYTES_MAX } from '../../util/limits.ts';

const SOCKET = 'socket';
const ELSEWHERE = 'elsewhere';
const OWNER_ONLY_FOLDER = 0o700;
const OWNER_ONLY_FILE = 0o600;
const MADE_BY_US = /\/unspent-[A-Za-z0-9]{6}\/socket$/;
const PATH_READ = { bytesMax: 4096, links: 'refuse' } as const;

/** Makes the place for a socket, and removes what a process that was killed has left. Whoever calls has the store open: nobody else does. */
export function makeSocketPlace(data: string): string {
  const folder = folderOf(data);
  removeSocketPlace(data);
  mkdirSync(folder, { mode: OWNER_ONLY_FOLDER });
  const path = join(folder, SOCKET);
  if (isShort(path)) return path;
  const elsewhere = join(mkdtempSync(join(tmpdir(), 'unspent-')), SOCKET);
  writeFileSync(join(folder, ELSEWHERE), elsewhere, { mode: OWNER_ONLY_FILE });
  if (isShort(elsewhere)) return elsewhere;
  removeSocketPlace(data);
  throw new UnspentError('UNSUPPORTED', `no path for a control socket is short enough: ${path}, ${elsewhere}`);
}

/** The folder lets in nobody else, and neither does the socket itself. */
export function closeSocketToOthers(path: string): void {
  chmodSync(path, OWNER_ONLY_FILE);
}

export function removeSocketPlace(data: string): void {
  const elsewhere = readElsewhere(data);
  // Only what `makeSocketPlace` made: the file may have been written by others where they may write to the data directory.
  if (elsewhere !== null && MADE_BY_US.test(elsewhere) && existsSync(dirname(elsewhere))) {
    rmSync(elsewhere, { force: true });
    rmdirSync(dirname(elsewhere));
  }
  rmSync(folderOf(data), { recursive: true, force: true });
}

/** Where whoever has the store open may be asked; null: nobody listens, or nobody did in a way that we know. */
export function findSocket(data: string): string | null {
  try {
    const path = readElsewhere(data) ?? join(folderOf(data), SOCKET);
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true ? path : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // No such directory, or another user's: opening the store will say so.
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** One and the same by whichever way the directory is named. */
function folderOf(data: string): string {
  return join(realpathSync(data), CONTROL_FOLDER);
}

function readElsewhere(data: string): string | null {
  const file = join(folderOf(data), ELSEWHERE);
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return null;
  return new TextDecoder().decode(readRegular(file, PATH_READ));
}

function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX;
}
