/**
 * A folder of backups: one folder for each, and a file that says what it is, so
 * that nothing else is ever taken for one, written into or deleted.
 *
 *   unspent-backups.json        what this folder is
 *   20260501T120000Z-2160/      a backup: manifest.json, and under store/ the files
 *   partial-4711-a1b2c3/        one that is being made, or was when its process died
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { writeFileAtomically } from '../../engine/directory.ts';
import { readRegular } from '../../files/regular.ts';
import { checkedText, parseChecked } from '../../util/checked-text.ts';
import { UnspentError } from '../../util/errors.ts';
import { BACKUP_NAME_HELD_MS } from '../../util/limits.ts';
import { isRunning } from '../../util/running.ts';
import { writeText } from './file-copy.ts';
import { BACKUP_MANIFEST_FILE, type BackupManifest, readBackupManifest } from './manifest.ts';

const MARK_FILE = 'unspent-backups.json';
const MARK = { format: 'unspent-backups', version: 1 };
/** Of a partial one: the process that makes it. */
export const OWNER_FILE = 'owner.json';
const PARTIAL = /^partial-/;
/** Of a backup, or the empty folder that holds a name for one. */
const NAME = /^\d{8}T\d{6}Z-\d+(?:\.\d+)?$/;

/** Where the files of a store are inside a backup. */
export const STORE_FOLDER = 'store';

const SMALL = { bytesMax: 64 * 1024, links: 'refuse' } as const;

/** Makes the folder if need be. Throws STORE_FOREIGN where there is something else. */
export async function openBackupFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  await mkdir(path, { recursive: true });
  if (isBackupFolder(path)) return path;
  const [first] = readdirSync(path).filter((name) => name !== 'lost+found' && name !== `${MARK_FILE}.tmp`);
  if (first !== undefined)
    throw new UnspentError('STORE_FOREIGN', `${path} is not a folder of backups and not empty: it holds ${first}`, { folder: path });
  writeFileAtomically(path, MARK_FILE, checkedText(MARK));
  return path;
}

/** Throws BACKUP_MISSING. */
export function findBackupFolder(folder: string): string {
  const path = resolve(folder);
  if (isBackupFolder(path)) return path;
  throw new UnspentError('BACKUP_MISSING', `${path} is not a folder of backups`, { folder: path });
}

/** Names, the oldest first: a name begins with its time. */
export function backupNames(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !PARTIAL.test(name) && existsSync(join(folder, name, BACKUP_MANIFEST_FILE)))
    .sort();
}

/** Those that are being made, or whose process died. */
export function partialNames(folder: string): string[] {
  return readdirSync(folder).filter((name) => PARTIAL.test(name));
}

/** `name` undefined: the newest. Throws BACKUP_MISSING, BACKUP_INVALID. */
export function findBackup(folder: string, name: string | undefined): { readonly path: string; readonly manifest: BackupManifest } {
  const path = findBackupFolder(folder);
  const names = backupNames(path);
  const found = name ?? names.at(-1);
  if (found === undefined) throw new UnspentError('BACKUP_MISSING', `there is no backup in ${path}`, { folder: path });
  if (!names.includes(found))
    throw new UnspentError('BACKUP_MISSING', `there is no backup ${found} in ${path}; there are ${names.join(', ') || 'none'}`, {
      folder: path,
    });
  return { path: join(path, found), manifest: readBackupManifest(join(path, found)) };
}

/** A new folder in which a backup is made. Those that processes of this machine have left by dying go. */
export async function beginPartial(folder: string): Promise<string> {
  for (const name of partialNames(folder))
    if (isAbandoned(join(folder, name))) rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of readdirSync(folder)) if (NAME.test(name) && isOld(join(folder, name))) removeIfEmpty(join(folder, name));
  const partial = await mkdtemp(join(folder, `partial-${process.pid}-`));
  await writeText(join(partial, OWNER_FILE), checkedText({ host: hostname(), process: process.pid }));
  return partial;
}

/** False: there is something of that name. */
export function tryMakeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

export function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
}

/** What a process that is at work holds is younger: it is empty for as long as a manifest takes. */
function isOld(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.mtimeMs < Date.now() - BACKUP_NAME_HELD_MS;
}

function isBackupFolder(path: string): boolean {
  try {
    const mark = parseChecked(new TextDecoder().decode(readRegular(join(path, MARK_FILE), SMALL)));
    return mark?.['format'] === MARK.format && mark['version'] === MARK.version;
  } catch {
    return false;
  }
}

/** Whether its process has died. Of another machine nobody here knows. */
function isAbandoned(partial: string): boolean {
  const owner = ownerOf(partial);
  // A folder of this very process is of a backup that goes on beside this one.
  return owner !== null && owner !== process.pid && !isRunning(owner);
}

/** Null: of another machine, or not known. */
function ownerOf(partial: string): number | null {
  const path = join(partial, OWNER_FILE);
  // Left in the moment in which it was made: its name is all there is.
  if (!existsSync(path)) return Number(/partial-(\d+)-/.exec(partial)?.[1] ?? Number.NaN) || null;
  const owner = parseChecked(new TextDecoder().decode(readRegular(path, SMALL)));
  return owner?.['host'] === hostname() && typeof owner['process'] === 'number' ? owner['process'] : null;
}
