/**
 * The engine on SQLite, as it comes with Node: for the machines RocksDB's
 * binding does not run on. One connection writes, a transaction a batch; readers
 * have connections of their own, in this thread or another, and never wait for
 * the writer.
 */
import { UnspentError } from '../../util/errors.ts';
import { SQLITE_CHECK_BYTES } from '../../util/limits.ts';
import type { Batch, ColumnSpec, Engine, EngineStats, Row, ScanOptions, Snapshot } from '../engine.ts';
import { type ScanRange, scanRange } from '../scan-range.ts';
import type { UncleanShutdown } from '../seal.ts';
import { SqliteBatch, type Transact } from './batch.ts';
import type { SqliteConnection } from './connection.ts';
import { sqliteError } from './errors.ts';
import { fileBytes, PAGES_KNOWN, PAGES_UNREADABLE, SQLITE_FILE } from './files.ts';
import { closeSqliteFile, moveLog, type OpenedSqlite, openSqliteFile, restartLog } from './open.ts';
import { isLogLong, logBytesOf, openReader, type SqlitePlace, SqliteReaders } from './readers.ts';
import { type SqliteColumn, sqliteColumn } from './row.ts';
import { COMMIT_COUNT, EMPTY_TALLY, sqliteColumnStats } from './schema.ts';
import { pinnedRows, SqliteSnapshot } from './snapshot.ts';

export interface SqliteOptions {
  readonly createIfMissing: boolean;
  /** Columns the store may have and nobody asks for any more: they are dropped. */
  readonly retired?: readonly string[];
  /** Columns the store must have unless it is new. */
  readonly existing?: readonly string[];
  /** Log at which its pages are moved into the tables. As RocksDB's memtables it holds what was written last, but on disk. */
  readonly memtableBytes?: number;
  /** Pages kept in memory by the writer; each reader has a sixteenth of it beside that. */
  readonly cacheBytes?: number;
  /** Of the file, how much is mapped into memory to be read. A disk that fails then kills the process. */
  readonly mmapBytes?: number;
  /** Of the file, how much is compared with its checksums before the store is open; the rest is compared beside the work. */
  readonly checkBytes?: number;
}

const LOG_BYTES = 96_000_000;
const CACHE_BYTES = 160_000_000;

/** Only a path and settings: each thread opens the file for itself. */
export interface SqliteHandle extends SqlitePlace {
  readonly kind: 'sqlite';
}

export interface SqliteEngine extends Engine {
  /** For `attachSqlite` in a worker of this process, as long as this engine is open. */
  readonly handle: SqliteHandle;
  readonly unclosed: UncleanShutdown | null;
  /** Of a large store, in each of its threads. */
  readonly pagesUnchecked: number | null;
}

/** Opens or creates the store in the directory, as `openRocks` does. */
export function openSqlite(directory: string, columns: readonly ColumnSpec[], options: SqliteOptions): SqliteEngine {
  const { memtableBytes: logBytes = LOG_BYTES, cacheBytes = CACHE_BYTES, mmapBytes = 0, retired = [], existing = [] } = options;
  const pages = new Int32Array(new SharedArrayBuffer(PAGES_KNOWN.count * Int32Array.BYTES_PER_ELEMENT));
  const place = { directory, logBytes, cacheBytes, mmapBytes, pages };
  const opened = openSqliteFile(place, { columns, retired, existing }, options.createIfMissing, options.checkBytes ?? SQLITE_CHECK_BYTES);
  void opened.unchecked?.check();
  return new Sqlite(place, columns, opened.connection, opened);
}

/** The same store in another thread, to read. */
export function attachSqlite(place: SqlitePlace, columns: readonly ColumnSpec[]): Engine {
  try {
    return new Sqlite(place, columns, openReader(place), null);
  } catch (error) {
    throw sqliteError(error, place.directory);
  }
}

class Sqlite implements SqliteEngine {
  readonly columns: readonly ColumnSpec[];
  readonly handle: SqliteHandle;
  readonly unclosed: UncleanShutdown | null;
  readonly #columns: Map<string, SqliteColumn>;
  /** The writer's, or of an attached engine one that reads. */
  readonly #connection: SqliteConnection;
  /** Null: attached, and must not write. */
  readonly #owned: OpenedSqlite | null;
  readonly #readers: SqliteReaders;
  readonly #batch: SqliteBatch;
  /** Bytes of the log when it was last moved, if it could not begin anew since; else 0. */
  #logMoved = 0;
  #open = true;

  constructor(place: SqlitePlace, columns: readonly ColumnSpec[], connection: SqliteConnection, owned: OpenedSqlite | null) {
    this.columns = columns;
    this.handle = { kind: 'sqlite', ...place };
    this.unclosed = owned?.unclosed ?? null;
    this.#columns = new Map(columns.map((spec) => [spec.name, sqliteColumn(spec)]));
    this.#connection = connection;
    this.#owned = owned;
    this.#readers = new SqliteReaders(place);
    this.#batch = new SqliteBatch(
      this.#columns,
      (fsync, body) => this.#transact(fsync, body),
      () => this.#assertOpen(),
    );
  }

  get(name: string, key: Uint8Array): Uint8Array | undefined {
    const column = this.#column(name);
    return this.#run(() => this.#connection.get(column, key));
  }

  getMany(name: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const column = this.#column(name);
    return this.#run(() => this.#connection.getMany(column, keys));
  }

  scan(name: string, options?: ScanOptions): Iterable<Row> {
    const column = this.#column(name);
    return this.#rows(column, scanRange(column.spec, options));
  }

  batch(): Batch {
    this.#assertOpen();
    this.#batch.clear();
    return this.#batch;
  }

  snapshot(names: readonly string[]): Snapshot {
    const columns = new Map(names.map((name) => [name, this.#column(name)]));
    this.#assertOpen();
    return new SqliteSnapshot(this.#readers, columns, () => this.#assertOpen());
  }

  /** SQLite drops all pages of the table at once, and uses them again. */
  clear(name: string): void {
    const { spec } = this.#column(name);
    this.#transact(false, (connection) => {
      connection.exec(`DELETE FROM ${spec.name}`);
      connection.statement(EMPTY_TALLY).run(spec.name);
    });
  }

  stats(name?: string): EngineStats {
    this.#assertOpen();
    return this.#run(() => (name === undefined ? this.#stats() : sqliteColumnStats(this.#connection, this.#column(name).spec.name)));
  }

  get pagesUnchecked(): number | null {
    const left = Atomics.load(this.handle.pages, PAGES_KNOWN.left);
    return left === PAGES_UNREADABLE ? null : left;
  }

  async close(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#batch.clear();
    this.#columns.clear();
    await this.#owned?.unchecked?.stop();
    this.#run(() => {
      this.#readers.close();
      if (this.#owned === null) this.#connection.close();
      else closeSqliteFile(this.#owned);
    });
  }

  *#rows(column: SqliteColumn, range: ScanRange): Generator<Row, void, void> {
    this.#assertOpen();
    if (range.empty) return;
    const pin = this.#readers.pin();
    try {
      yield* pinnedRows(pin, column, range, () => this.#assertOpen());
    } catch (error) {
      throw sqliteError(error, this.handle.directory);
    } finally {
      this.#readers.unpin(pin);
    }
  }

  #transact: Transact = (fsync, body) => {
    this.#assertOpen();
    if (this.#owned === null) throw new Error('assertion failed: an attached engine only reads');
    const { connection } = this.#owned;
    try {
      connection.assertSound();
      this.#shortenLog(this.#owned);
      if (fsync) connection.exec('PRAGMA synchronous = FULL');
      connection.statement('BEGIN IMMEDIATE').run();
      body(connection);
      connection.statement(COMMIT_COUNT).run();
      connection.end();
    } catch (error) {
      connection.rollback();
      throw sqliteError(error, this.handle.directory);
    } finally {
      if (fsync) connection.exec('PRAGMA synchronous = NORMAL');
    }
  };

  /**
   * Moves a log that is long enough into the tables, so that this commit can begin it anew. Where snapshots that are
   * always held have kept it from that, those of this thread are renewed, which then need it no more, and a little time
   * is given to other threads to do the same. A snapshot of an older commit may stay for long, and is not waited for:
   * the log grows on.
   */
  #shortenLog(owned: OpenedSqlite): void {
    const { logBytes } = this.handle;
    const bytes = logBytesOf(this.handle);
    if (bytes <= logBytes) this.#logMoved = 0;
    else if (this.#logMoved === 0 || bytes > this.#logMoved + logBytes / 2) {
      moveLog(owned);
      if (isLogLong(this.handle) && this.#readers.renew()) restartLog(owned);
      // Not before: while that fails there must be no commit, which could begin the log anew.
      this.#logMoved = bytes;
    }
  }

  #stats(): EngineStats {
    const [pages] = this.#connection.first('PRAGMA page_count');
    const [free] = this.#connection.first('PRAGMA freelist_count');
    const log = logBytesOf(this.handle);
    return {
      kind: 'sqlite',
      bytes: fileBytes(this.handle.directory, SQLITE_FILE) + log,
      properties: {
        'sqlite.pages': `${pages}`,
        'sqlite.free-pages': `${free}`,
        'sqlite.log-bytes': `${log}`,
        'sqlite.readers': `${this.#readers.pinned}`,
        'sqlite.unchecked-pages': this.pagesUnchecked === null ? 'unreadable' : `${this.pagesUnchecked}`,
      },
    };
  }

  #assertOpen(): void {
    const { directory } = this.handle;
    if (!this.#open) throw new UnspentError('CLOSED', `the store is closed (${directory})`, { directory });
  }

  #column(name: string): SqliteColumn {
    const column = this.#columns.get(name);
    if (column !== undefined) return column;
    this.#assertOpen();
    throw new Error(`assertion failed: there is no column '${name}'`);
  }

  #run<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw sqliteError(error, this.handle.directory);
    }
  }
}
