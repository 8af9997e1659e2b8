/** The files of a SQLite store, by name and size (open.ts says what they hold). */
import { statSync } from 'node:fs';
import { join } from 'node:path';

export const SQLITE_FILE = 'store.sqlite';
export const SQLITE_LOG_FILE = `${SQLITE_FILE}-wal`;
export const SUMS_FILE = 'store.sums';

/** A commit writes whole pages: with 8 KiB a block on half a million outputs wrote 1.8 times the bytes, at the same speed. */
export const PAGE_BYTES = 4096;

/** What all threads know of the pages that are compared beside the work of a store (unchecked-pages.ts): an Int32Array of these. */
export const PAGES_KNOWN = { damaged: 0, left: 1, count: 2 } as const;

/** As what is left, where the tables or the checksums cannot be read. */
export const PAGES_UNREADABLE = -1;

/** Of a file of the store; 0: there is none. Only its entry is looked at: to open and close it would end SQLite's locks on it. */
export function fileBytes(directory: string, name: string): number {
  return statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
}
