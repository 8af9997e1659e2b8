/**
 * The readers of a SQLite store: connections that each hold one moment of it,
 * for snapshots and scans, and are used again afterwards.
 *
 * SQLite writes to a log, moves the pages of the log into the file (a
 * checkpoint), and begins the log anew when no reader needs it any more. A
 * reader that began after all of the log was moved reads the file alone. So that
 * the log does not grow for ever beside snapshots that are always held, a
 * snapshot of the newest commit is renewed while the log is long: it goes over
 * to another connection that sees the same commit.
 */
import { SQLITE_BUSY_MS, SQLITE_READERS_IDLE_MAX, SQLITE_RENEW_MS } from '../../util/limits.ts';
import { SqliteConnection } from './connection.ts';
import { sqliteError } from './errors.ts';
import { fileBytes, SQLITE_LOG_FILE } from './files.ts';
import { commitsOf } from './schema.ts';

/** What a connection to a store needs to know; it can be sent to another thread. */
export interface SqlitePlace {
  readonly directory: string;
  readonly cacheBytes: number;
  readonly mmapBytes: number;
  /** Bytes of the log at which a checkpoint is made. */
  readonly logBytes: number;
  /** In memory that all threads share: what is known of its pages (PAGES_KNOWN). */
  readonly pages: Int32Array;
}

/** Of the writer's cache, what each reader has of its own. */
const READER_CACHE_SHARE = 1 / 16;

export function openReader({ directory, cacheBytes, mmapBytes, pages }: SqlitePlace): SqliteConnection {
  return new SqliteConnection(directory, {
    readOnly: true,
    cacheBytes: cacheBytes * READER_CACHE_SHARE,
    mmapBytes,
    busyMs: SQLITE_BUSY_MS,
    pages,
  });
}

export function logBytesOf({ directory }: SqlitePlace): number {
  return fileBytes(directory, SQLITE_LOG_FILE);
}

/** Whether checkpoints could not keep the log short. */
export function isLogLong(place: SqlitePlace): boolean {
  return logBytesOf(place) > 2 * place.logBytes;
}

/** One moment of the store; null as its connection: given back. */
export interface Pin {
  connection: SqliteConnection | null;
  readonly commits: number;
}

export class SqliteReaders {
  readonly place: SqlitePlace;
  readonly #idle: SqliteConnection[] = [];
  readonly #pins = new Set<Pin>();
  #timer: NodeJS.Timeout | undefined;

  constructor(place: SqlitePlace) {
    this.place = place;
  }

  get pinned(): number {
    return this.#pins.size;
  }

  /** The newest commit, until it is given back. */
  pin(): Pin {
    const pin = this.#begin();
    this.#pins.add(pin);
    this.#timer ??= setInterval(() => this.#renewInTurn(), SQLITE_RENEW_MS).unref();
    return pin;
  }

  unpin(pin: Pin): void {
    this.#pins.delete(pin);
    this.#end(pin);
  }

  /** Takes every pin of the newest commit to a connection that has just begun. False: some are of an older commit. */
  renew(): boolean {
    let isAll = true;
    for (const pin of this.#pins) {
      const next = this.#begin();
      const isSame = next.commits === pin.commits;
      if (isSame) [pin.connection, next.connection] = [next.connection, pin.connection];
      this.#end(next);
      isAll &&= isSame;
    }
    return isAll;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const pin of [...this.#pins]) this.unpin(pin);
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  #begin(): Pin {
    const connection = this.#idle.pop() ?? openReader(this.place);
    try {
      connection.begin();
      return { connection, commits: commitsOf(connection) };
    } catch (error) {
      connection.close();
      throw sqliteError(error, this.place.directory);
    }
  }

  #end(pin: Pin): void {
    const { connection } = pin;
    pin.connection = null;
    if (connection === null) return;
    connection.rollback();
    if (this.#idle.length < SQLITE_READERS_IDLE_MAX) this.#idle.push(connection);
    else connection.close();
  }

  /** What goes wrong here is met again by whoever reads or commits next, and said there. */
  #renewInTurn(): void {
    try {
      if (this.#pins.size > 0 && isLogLong(this.place)) this.renew();
    } catch {
      // The pins are as they were.
    }
  }
}
