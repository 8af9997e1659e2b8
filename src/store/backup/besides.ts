/**
 * What else is in a data directory, and how it comes into a backup: databases of
 * wallets and of records (SQLite) as they are at one moment, before the store is,
 * because they go on from where they are and must not be ahead of it; journals of
 * chains that the program makes itself up to their last whole line, after it.
 * Anything else is left out, and said to be.
 */
import { readdirSync, statSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { STORE_ENTRIES } from '../../engine/directory.ts';
import { openRegularHandle } from '../../files/regular.ts';
import { SQLITE_BUSY_MS } from '../../util/limits.ts';
import { hashFile } from './file-copy.ts';

export interface Besides {
  readonly databases: readonly string[];
  readonly journals: readonly string[];
  readonly leftOut: readonly string[];
}

const DATABASE = /^[A-Za-z0-9._-]+\.sqlite$/;
const JOURNAL = /^[a-z]+\.journal$/;
/** SQLite's own files beside a database: what they hold is in the copy. */
const OF_DATABASE = /\.sqlite-(wal|shm|journal)$/;

export function findBesides(data: string): Besides {
  const names = readdirSync(data, { withFileTypes: true }).filter(({ name }) => !STORE_ENTRIES.includes(name) && !OF_DATABASE.test(name));
  const files = names.filter((entry) => entry.isFile()).map(({ name }) => name);
  const databases = files.filter((name) => DATABASE.test(name));
  const journals = files.filter((name) => JOURNAL.test(name));
  const leftOut = names.map(({ name }) => name).filter((name) => ![...databases, ...journals, 'lost+found'].includes(name));
  return { databases: databases.sort(), journals: journals.sort(), leftOut: leftOut.sort() };
}

/** The last commit, whoever has it open. It is SQLite that reads the file: to open and close it otherwise would end its locks. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  // Loaded when it is needed: most stores have none beside them.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(from, { readOnly: true, timeout: SQLITE_BUSY_MS });
  try {
    database.prepare('VACUUM INTO ?').run(to);
  } finally {
    database.close();
  }
}

export async function copyJournal(from: string, to: string): Promise<void> {
  await hashFile(from, statSync(from).size, to);
  const { size } = statSync(to);
  const whole = await lastLineEnd(to, size);
  if (whole < size) await truncate(to, whole);
}

/** The number of bytes up to the last end of a line. */
async function lastLineEnd(path: string, size: number): Promise<number> {
  const file = await openRegularHandle(path, 'refuse');
  const block = new Uint8Array(64 * 1024);
  try {
    for (let end = size; end > 0; end -= Math.min(end, block.length)) {
      const from = Math.max(0, end - block.length);
      const { bytesRead } = await file.read(block, 0, end - from, from);
      const at = block.subarray(0, bytesRead).lastIndexOf(10);
      if (at >= 0) return from + at + 1;
    }
    return 0;
  } finally {
    await file.close();
  }
}
