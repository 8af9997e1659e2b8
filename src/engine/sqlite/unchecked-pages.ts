/**
 * The pages of a large store that opening did not wait for: they are compared
 * with their checksums beside its work. When one is damaged, every read and
 * commit in every thread is refused from then on (`SqliteConnection`).
 */
import { closeSync, openSync, read } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SQLITE_CHECK_PAGES } from '../../util/limits.ts';
import { PAGE_BYTES, PAGES_KNOWN, PAGES_UNREADABLE, SQLITE_FILE, SQLITE_LOG_FILE } from './files.ts';
import { recoverablePages } from './log-pages.ts';
import { damagedPage, type PageRange } from './page-sums.ts';

const readFrom = promisify(read);

export class UncheckedPages {
  readonly #directory: string;
  readonly #pages: Int32Array;
  readonly #range: PageRange;
  /** Open as long as there are connections: closing it would end SQLite's locks on the file. */
  readonly #tables: number;
  #checking: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(directory: string, pages: Int32Array, range: PageRange) {
    this.#directory = directory;
    this.#pages = pages;
    this.#range = range;
    this.#tables = openSync(join(directory, SQLITE_FILE), 'r');
    this.#know('left', range.to - range.from + 1);
  }

  /** Settles when all pages were looked at, one is damaged, or it was stopped. */
  check(): Promise<void> {
    this.#checking = this.#check();
    return this.#checking;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#checking;
  }

  close(): void {
    closeSync(this.#tables);
  }

  async #check(): Promise<void> {
    const buffer = Buffer.allocUnsafeSlow(SQLITE_CHECK_PAGES * PAGE_BYTES);
    const { to } = this.#range;
    for (let from = this.#range.from; from <= to && !this.#isStopped; from += SQLITE_CHECK_PAGES) {
      try {
        // Only to have the disk's work done beside ours: pages are moved between two steps, so they are compared in one.
        await readFrom(this.#tables, buffer, 0, buffer.length, (from - 1) * PAGE_BYTES);
        if (this.#isStopped) return;
        const page = this.#damagedPage({ from, to: Math.min(to, from + SQLITE_CHECK_PAGES - 1) });
        if (page !== null) this.#know('damaged', page);
        this.#know('left', page === null ? Math.max(0, to - from - SQLITE_CHECK_PAGES + 1) : 0);
        if (page !== null) return;
      } catch {
        // Whoever reads next is told by the disk, and whoever waits for this by what is left.
        this.#know('left', PAGES_UNREADABLE);
        return;
      }
    }
  }

  #know(what: 'damaged' | 'left', value: number): void {
    Atomics.store(this.#pages, PAGES_KNOWN[what], value);
  }

  /** Where sums could not be recorded, the pages they are of are still in the log. */
  #damagedPage(range: PageRange): number | null {
    if (damagedPage(this.#directory, this.#tables, range) === null) return null;
    return damagedPage(this.#directory, this.#tables, range, recoverablePages(join(this.#directory, SQLITE_LOG_FILE)));
  }
}
