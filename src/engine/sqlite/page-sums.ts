/**
 * Checksums of the pages of store.sqlite, which SQLite does not keep: four bytes
 * a page in store.sums, in their order; zero is a page that was never written.
 * In WAL mode pages change only when the log is moved into the tables, so the
 * sums are written then, before the log may begin anew: a page whose sum is
 * wrong is in the log, or it is damaged.
 */
import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { UnspentError } from '../../util/errors.ts';
import { fileBytes, PAGE_BYTES, SQLITE_FILE, SUMS_FILE } from './files.ts';

const TEMPORARY_FILE = `${SUMS_FILE}.new`;
const SUM_BYTES = 4;
/** Pages read at a time: 1 MB of them. */
const PAGES_READ = 256;
/** Sums written at a time: a page of the file system. */
const SUMS_WRITTEN = 1024;

const NO_PAGES: ReadonlySet<number> = new Set();

/** Never zero. */
export function pageSum(page: Uint8Array): number {
  return crc32(page) || 1;
}

const EMPTY_PAGE = pageSum(new Uint8Array(PAGE_BYTES));

export function hasSums(directory: string): boolean {
  return existsSync(join(directory, SUMS_FILE));
}

export function removeSums(directory: string): void {
  rmSync(join(directory, SUMS_FILE), { force: true });
}

/** On the disk when it returns. */
export function recordSums(directory: string, sums: ReadonlyMap<number, number>): void {
  if (sums.size === 0) return;
  const file = openSync(join(directory, SUMS_FILE), 'r+');
  try {
    const block = Buffer.alloc(SUMS_WRITTEN * SUM_BYTES);
    const pages = [...sums.keys()].sort((a, b) => a - b);
    for (let at = 0; at < pages.length; ) {
      const first = Math.floor((pages[at] - 1) / SUMS_WRITTEN) * SUMS_WRITTEN;
      const read = readSync(file, block, 0, block.length, first * SUM_BYTES);
      block.fill(0, read);
      let end = read;
      for (; at < pages.length && pages[at] <= first + SUMS_WRITTEN; at++) {
        const offset = (pages[at] - 1 - first) * SUM_BYTES;
        block.writeUInt32LE(sums.get(pages[at]) ?? 0, offset);
        end = Math.max(end, offset + SUM_BYTES);
      }
      writeWhole(file, block.subarray(0, end), first * SUM_BYTES);
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Of a store that has none: its pages are taken as they are. They are the store's with `adoptSums`, when SQLite has
 * made the store what it shall be: until then it may write the first page past the log.
 */
export function makeSums(directory: string): void {
  const file = openSync(join(directory, TEMPORARY_FILE), 'w');
  try {
    const pages = Math.ceil(fileBytes(directory, SQLITE_FILE) / PAGE_BYTES);
    if (pages > 0) withTables(directory, (tables) => writeSums(file, readPages(tables, 1, pages)));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function adoptSums(directory: string): void {
  renameSync(join(directory, TEMPORARY_FILE), join(directory, SUMS_FILE));
}

function writeSums(file: number, pieces: Iterable<Piece>): void {
  for (const { first, bytes } of pieces) {
    const sums = Buffer.alloc((bytes.length / PAGE_BYTES) * SUM_BYTES);
    for (let at = 0; at < bytes.length; at += PAGE_BYTES) {
      sums.writeUInt32LE(pageSum(bytes.subarray(at, at + PAGE_BYTES)), (at / PAGE_BYTES) * SUM_BYTES);
    }
    writeWhole(file, sums, (first - 1) * SUM_BYTES);
  }
}

/** Only while this process has no connection to them: closing the file would end SQLite's locks on it. */
export function withTables<T>(directory: string, body: (file: number) => T): T {
  const file = openSync(join(directory, SQLITE_FILE), 'r');
  try {
    return body(file);
  } finally {
    closeSync(file);
  }
}

/** As many as the tables have, or should have. */
export function pagesIn(directory: string): number {
  return Math.ceil(Math.max(fileBytes(directory, SQLITE_FILE) / PAGE_BYTES, fileBytes(directory, SUMS_FILE) / SUM_BYTES));
}

export interface PageRange {
  readonly from: number;
  readonly to: number;
}

/** The first of these pages that is not as it was written, apart from those in the log; null: there is none. */
export function damagedPage(directory: string, tables: number, { from, to }: PageRange, logged = NO_PAGES): number | null {
  const file = openSync(join(directory, SUMS_FILE), 'r');
  try {
    const sums = Buffer.alloc(PAGES_READ * SUM_BYTES);
    for (const { first, bytes } of readPages(tables, from, to)) {
      sums.fill(0, readSync(file, sums, 0, sums.length, (first - 1) * SUM_BYTES));
      for (let at = 0; at < bytes.length; at += PAGE_BYTES) {
        const index = at / PAGE_BYTES;
        if (logged.has(first + index)) continue;
        const expected = sums.readUInt32LE(index * SUM_BYTES) || EMPTY_PAGE;
        if (pageSum(bytes.subarray(at, at + PAGE_BYTES)) !== expected) return first + index;
      }
    }
    return null;
  } finally {
    closeSync(file);
  }
}

export function pageDamage(directory: string, page: number): UnspentError {
  const message = `the store is damaged (${directory}): page ${page} of ${SQLITE_FILE} does not have the checksum that ${SUMS_FILE} says`;
  return new UnspentError('STORE_DAMAGED', message, { directory, file: SQLITE_FILE, page });
}

interface Piece {
  readonly first: number;
  readonly bytes: Buffer;
}

/** What is missing of a page is zeros. The pieces share a buffer. */
function* readPages(tables: number, from: number, to: number): Generator<Piece, void, void> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PAGES_READ, to - from + 1) * PAGE_BYTES);
  for (let first = from; first <= to; first += PAGES_READ) {
    const bytes = buffer.subarray(0, Math.min(PAGES_READ, to - first + 1) * PAGE_BYTES);
    bytes.fill(0, readSync(tables, bytes, 0, bytes.length, (first - 1) * PAGE_BYTES));
    yield { first, bytes };
  }
}

function writeWhole(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done);
}
