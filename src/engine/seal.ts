/**
 * The seal of a store that was closed properly: the names and sizes of its
 * files, and its last sequence number. What differs from it is damage, not the
 * trace of a crash.
 *
 * A seal must describe what is on the disk now. So there is none while the store
 * is open: it is renamed, which needs no space, before RocksDB touches a file.
 * Only a proper close writes one, and a failed open puts it back only where
 * every file is still as it says.
 *
 * The renamed file stays as a mark as long as the store is open, and is given
 * the process that has it: if that dies, the next one can say so.
 */
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../files/regular.ts';
import { checkedText, parseChecked } from '../util/checked-text.ts';
import { UnspentError } from '../util/errors.ts';
import { writeFileAtomically } from './directory.ts';

/** RocksDB leaves names it does not know alone. */
const SEAL_FILE = 'unspent.seal';
const OPEN_FILE = 'unspent.open';

/** What holds data: RocksDB's tables, logs, manifest and the pointer to it; SQLite's one file, and the checksums of its pages. */
const DATA_FILE = /^(\d+\.(sst|log)|MANIFEST-\d+|CURRENT|store\.(sqlite|sums))$/;

/** A few dozen bytes a file: room for more tables than any store has. */
const SEAL_READ = { bytesMax: 16 * 1024 * 1024, links: 'follow' } as const;

interface Seal {
  readonly files: Readonly<Record<string, number>>;
  readonly sequence: number;
}

/** The process that had the store open last and did not close it; null: which one is not known. */
export interface UncleanShutdown {
  readonly process: number | null;
  readonly since: string | null;
  /** Of SQLite: as many commits as the store must still have. */
  readonly commits: number | null;
  /** Of SQLite: the checksums of its pages must be there. */
  readonly sums: boolean;
}

/**
 * After a proper close. Without a seal a store opens too, so a failing disk is no reason to fail here: then false. False
 * too where another process has opened the store since: the files are its own now.
 */
export function writeSeal(directory: string, sequence: number): boolean {
  try {
    const holder = readUncleanShutdown(directory)?.process ?? process.pid;
    if (holder !== process.pid) return false;
    const seal: Seal = { files: dataFiles(directory), sequence };
    writeFileAtomically(directory, SEAL_FILE, checkedText(seal));
    rmSync(join(directory, OPEN_FILE), { force: true });
    return true;
  } catch {
    // The mark stays, and the next open looks at the logs as after a crash.
    return false;
  }
}

/** Compares the files with the seal and returns it; null: there is none that can be read. Changes nothing. */
export function checkSeal(directory: string): Seal | null {
  const seal = readSeal(join(directory, SEAL_FILE));
  if (seal === null) return null;
  for (const [name, size] of Object.entries(seal.files)) {
    const found = statSync(join(directory, name), { throwIfNoEntry: false })?.size;
    if (found === size) continue;
    // Another process may have opened the store since we read the seal; the lock will tell.
    if (readSeal(join(directory, SEAL_FILE)) === null) return null;
    const what = found === undefined ? 'is missing' : `has ${found} bytes instead of ${size}`;
    throw new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${name} ${what}`, { directory, file: name });
  }
  return seal;
}

/** Makes the seal a mark before the files change. What it returns makes it a seal again if they did not; null: there is none. */
export function takeSeal(directory: string): (() => void) | null {
  try {
    renameSync(join(directory, SEAL_FILE), join(directory, OPEN_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
  return () => {
    try {
      const seal = readSeal(join(directory, OPEN_FILE));
      const files = Object.entries(dataFiles(directory));
      const isUnchanged =
        seal !== null && Object.keys(seal.files).length === files.length && files.every(([name, size]) => seal.files[name] === size);
      if (isUnchanged) renameSync(join(directory, OPEN_FILE), join(directory, SEAL_FILE));
    } catch {
      // Then there is none: the next open looks at the logs as after a crash.
    }
  };
}

/** Null: the store was closed, or is new. */
export function readUncleanShutdown(directory: string): UncleanShutdown | null {
  const path = join(directory, OPEN_FILE);
  if (statSync(join(directory, SEAL_FILE), { throwIfNoEntry: false }) !== undefined) return null;
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return null;
  const mark = parseChecked(new TextDecoder().decode(readRegular(path, SEAL_READ))) as Partial<UncleanShutdown & Seal> | null;
  return {
    process: typeof mark?.process === 'number' ? mark.process : null,
    since: typeof mark?.since === 'string' ? mark.since : null,
    commits: typeof mark?.commits === 'number' ? mark.commits : null,
    // The mark may still be the seal it was made of.
    sums: mark?.sums === true || mark?.files?.['store.sums'] !== undefined,
  };
}

/** Says which process has the store. Where that cannot be written the store opens all the same: less is known after a crash. */
export function markOpen(directory: string, known: { since?: Date; commits?: number | null; sums?: boolean } = {}): void {
  const { since = new Date(), commits = null, sums = false } = known;
  const mark: UncleanShutdown = { process: process.pid, since: since.toISOString(), commits, sums };
  try {
    writeFileSync(join(directory, OPEN_FILE), checkedText(mark));
  } catch {
    // A mark that cannot be read says as much as an empty one.
  }
}

/** Where it is not known what a close will leave: neither sealed nor open. */
export function removeMark(directory: string): void {
  // A seal that could not be flushed may be there.
  for (const name of [SEAL_FILE, OPEN_FILE]) rmSync(join(directory, name), { force: true });
}

function dataFiles(directory: string): Record<string, number> {
  const files: Record<string, number> = {};
  for (const name of readdirSync(directory).sort()) {
    if (DATA_FILE.test(name)) files[name] = statSync(join(directory, name)).size;
  }
  return files;
}

/** A seal that cannot be read, or whose checksum is wrong, is as good as none. */
function readSeal(path: string): Seal | null {
  try {
    const seal = parseChecked(new TextDecoder().decode(readRegular(path, SEAL_READ))) as Partial<Seal> | null;
    return seal !== null && typeof seal.files === 'object' && typeof seal.sequence === 'number' ? (seal as Seal) : null;
  } catch {
    return null;
  }
}
