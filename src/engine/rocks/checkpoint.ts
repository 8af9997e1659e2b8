/**
 * The files of an open RocksDB at one moment. The binding has no checkpoint, so
 * this is one made from outside (docs/adr/0067): called in the thread that
 * commits, between two commits, it takes the logs, then the manifest, then the
 * tables that this manifest names.
 *
 * Why that is a state of the database: nobody commits meanwhile, so the logs do
 * not grow and those that are needed only become fewer; they are linked before
 * the manifest is read, so no log is missing that it needs. A table never
 * changes. Only a compaction can take away a table between the reading of the
 * manifest and its link: then all of it begins anew. Whoever copies the files has
 * the copy checked as before every opening, to the very last operation
 * (`recovery.ts`).
 */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../../files/regular.ts';
import { UnspentError } from '../../util/errors.ts';
import { PIN_ATTEMPTS_MAX, PIN_PAUSE_MS } from '../../util/limits.ts';
import { type PinnedFile, type PinnedFiles, tryLink } from '../pinned-files.ts';
import { storeError } from './errors.ts';
import { readManifest } from './manifest.ts';

const LOG_FILE = /^(\d+)\.log$/;
const CURRENT = 'CURRENT';
const IDENTITY = 'IDENTITY';

/** In a new folder of `place`. Null: the file system has no hard links. Throws BUSY where compactions never rest, DISK_FULL, IO. */
export function pinFiles(database: string, place: string, sequence: number): PinnedFiles | null {
  try {
    mkdirSync(place, { recursive: true });
    for (let attempt = 1; attempt <= PIN_ATTEMPTS_MAX; attempt++) {
      const directory = mkdtempSync(join(place, 'files-'));
      const files = takeFiles(database, directory);
      if (Array.isArray(files)) return { directory, files, sequence };
      rmSync(directory, { recursive: true, force: true });
      if (files === 'no links') return null;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIN_PAUSE_MS);
    }
  } catch (error) {
    throw storeError(error, database);
  }
  const message = `the files of the store change too fast to be held (${database})`;
  throw new UnspentError('BUSY', message, { directory: database });
}

function takeFiles(database: string, into: string): PinnedFile[] | 'changed' | 'no links' {
  const files: PinnedFile[] = [];
  for (const name of readdirSync(database).filter((each) => LOG_FILE.test(each))) {
    const linked = link(database, into, name);
    if (linked === null) continue;
    if (!linked) return 'no links';
    // Of the newest log there will be more; what belongs to this moment is there now.
    files.push({ name, bytes: statSync(join(into, name)).size, isFinal: false });
  }
  const current = new TextDecoder().decode(readRegular(join(database, CURRENT), { bytesMax: 1024, links: 'follow' }));
  writeFileSync(join(into, CURRENT), current);
  for (const name of [CURRENT, current.trim(), IDENTITY]) {
    // A copy, because RocksDB adds to it. When it begins another manifest, it deletes this one.
    if (name !== CURRENT && !copied(database, into, name)) return 'changed';
    files.push({ name, bytes: statSync(join(into, name)).size, isFinal: false });
  }
  const { tables, isWhole, columns, minLogToKeep } = readManifest(into);
  if (!isWhole) return 'changed';
  for (const [number, bytes] of tables) {
    const name = tableName(number);
    const linked = link(database, into, name);
    if (linked === null) return 'changed';
    if (!linked) return 'no links';
    const found = statSync(join(into, name)).size;
    if (found !== bytes) throw damaged(database, `${name} has ${found} bytes instead of ${bytes}`);
    files.push({ name, bytes, isFinal: true });
  }
  const oldest = Math.max(minLogToKeep, Math.min(...columns.map(({ logNumber }) => logNumber)));
  // Older logs wait to be deleted.
  return files.filter(({ name }) => Number(LOG_FILE.exec(name)?.[1] ?? oldest) >= oldest);
}

/** False: it is gone. */
function copied(from: string, to: string, name: string): boolean {
  try {
    copyFileSync(join(from, name), join(to, name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Null: it is gone. */
function link(from: string, to: string, name: string): boolean | null {
  try {
    return tryLink(join(from, name), join(to, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function tableName(number: number): string {
  return `${`${number}`.padStart(6, '0')}.sst`;
}

function damaged(directory: string, what: string): UnspentError {
  return new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${what}`, { directory });
}
