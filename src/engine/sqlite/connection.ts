/**
 * One connection to the SQLite file of a store, with the statements it has
 * prepared. The writer has one; so has every reader, because in SQLite a moment
 * of the store is a transaction, and a connection has one at a time.
 */
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { SCAN_BYTES } from '../../util/limits.ts';
import type { Row } from '../engine.ts';
import { PAGES_KNOWN, SQLITE_FILE } from './files.ts';
import { pageDamage } from './page-sums.ts';
import { checkedValue, type SqliteColumn } from './row.ts';

export interface ConnectionOptions {
  readonly readOnly: boolean;
  readonly cacheBytes: number;
  readonly mmapBytes: number;
  /** How long to wait for a lock that another connection holds. */
  readonly busyMs: number;
  readonly pages: Int32Array;
}

/** Frames of the log: how many there are, and how many of them are in the tables. */
export interface Moved {
  readonly logged: number;
  readonly moved: number;
}

/** Where a chunk of a scan lies. A bound that is missing is none. */
export interface ChunkBounds {
  readonly gte: Uint8Array | undefined;
  readonly lt: Uint8Array | undefined;
  readonly reverse: boolean;
}

export interface Chunk {
  readonly rows: readonly Row[];
  /** There are no rows beyond. */
  readonly isLast: boolean;
}

export class SqliteConnection {
  readonly directory: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #busyMs: number;
  /** Shared by all connections to the store (PAGES_KNOWN). */
  readonly #pages: Int32Array;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;

  constructor(directory: string, { readOnly, cacheBytes, mmapBytes, busyMs, pages }: ConnectionOptions) {
    this.directory = directory;
    this.#busyMs = busyMs;
    this.#pages = pages;
    this.#database = new DatabaseSync(join(directory, SQLITE_FILE), { readOnly, timeout: busyMs });
    try {
      this.exec(`PRAGMA cache_size = -${Math.ceil(cacheBytes / 1024)}; PRAGMA mmap_size = ${mmapBytes}`);
      this.#begin = this.#database.prepare('BEGIN');
      this.#commit = this.#database.prepare('COMMIT');
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** The statement of that text, prepared once. Its rows are arrays. */
  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      statement.setReturnArrays(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** The first row of a question about the database itself. */
  first(sql: string): readonly unknown[] {
    return (this.statement(sql).get() as unknown as readonly unknown[] | undefined) ?? [];
  }

  /** Reads as of one moment until `end`: the moment is that of the first read. */
  begin(): void {
    this.#begin.run();
  }

  end(): void {
    if (this.#database.isTransaction) this.#commit.run();
  }

  rollback(): void {
    if (this.#database.isTransaction) this.exec('ROLLBACK');
  }

  /** Throws STORE_DAMAGED: what is not found may be on the page that is damaged. */
  assertSound(): void {
    const page = Atomics.load(this.#pages, PAGES_KNOWN.damaged);
    if (page !== 0) throw pageDamage(this.directory, page);
  }

  get(column: SqliteColumn, key: Uint8Array): Uint8Array | undefined {
    this.assertSound();
    const row = this.statement(column.lookup).get(key) as unknown as [Uint8Array] | undefined;
    return row && checkedValue(column, key, row[0], this.directory);
  }

  /** One transaction over all keys: one moment, and the locks are taken once. */
  getMany(column: SqliteColumn, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (this.#database.isTransaction || keys.length < 2) return keys.map((key) => this.get(column, key));
    this.begin();
    try {
      return keys.map((key) => this.get(column, key));
    } finally {
      this.end();
    }
  }

  chunk(column: SqliteColumn, { gte, lt, reverse }: ChunkBounds, rowsMax: number): Chunk {
    this.assertSound();
    const bounds = [...(gte === undefined ? [] : ['key >= ?']), ...(lt === undefined ? [] : ['key < ?'])];
    const where = bounds.length === 0 ? '' : ` WHERE ${bounds.join(' AND ')}`;
    const sql = `SELECT key, value FROM ${column.spec.name}${where} ORDER BY key${reverse ? ' DESC' : ''} LIMIT ?`;
    const values = [...(gte === undefined ? [] : [gte]), ...(lt === undefined ? [] : [lt]), rowsMax];
    const rows: Row[] = [];
    let bytes = 0;
    for (const found of this.statement(sql).iterate(...values)) {
      const [key, stored] = found as unknown as [Uint8Array, Uint8Array];
      rows.push([key, checkedValue(column, key, stored, this.directory)]);
      bytes += stored.length;
      if (bytes >= SCAN_BYTES) return { rows, isLast: false };
    }
    return { rows, isLast: rows.length < rowsMax };
  }

  /** Moves of the log what readers allow; with FULL it waits for them. */
  checkpoint(mode: 'PASSIVE' | 'FULL' | 'RESTART' = 'PASSIVE'): Moved {
    const [, logged, moved] = this.first(`PRAGMA wal_checkpoint(${mode})`) as readonly number[];
    return { logged, moved };
  }

  /** Moves the whole log and has the next commit begin it anew, if all readers leave it in that time. */
  restartLog(waitMs: number): Moved {
    this.exec(`PRAGMA busy_timeout = ${waitMs}`);
    try {
      return this.checkpoint('RESTART');
    } finally {
      this.exec(`PRAGMA busy_timeout = ${this.#busyMs}`);
    }
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}
