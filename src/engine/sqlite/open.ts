/**
 * The way into a SQLite store and out of it. As with RocksDB, what is there is
 * looked at before the database touches it, and a failed open leaves a store
 * that opens again and is what it was.
 *
 *   LOCK              locked while a process has the store open
 *   store.sqlite      the tables
 *   store.sqlite-wal  the log: commits that are not in the tables yet
 *   store.sqlite-shm  an index of the log, made anew at every start
 *   unspent.seal      of a closed store: the size of store.sqlite and the number of commits
 *   unspent.open      of an open one, or one that was not closed: by which process, and
 *                     the number of commits when its log was last moved into the tables
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnspentError } from '../../util/errors.ts';
import { SQLITE_BUSY_MS } from '../../util/limits.ts';
import { checkSeal, markOpen, readUncleanShutdown, removeMark, takeSeal, type UncleanShutdown, writeSeal } from '../seal.ts';
import { fileBytes, PAGE_BYTES, SQLITE_FILE, SQLITE_LOG_FILE, SqliteConnection } from './connection.ts';
import { sqliteError } from './errors.ts';
import type { SqlitePlace } from './readers.ts';
import { arrangeTables, COMMIT_COUNT, commitsOf, type WantedTables } from './schema.ts';

const LOCK_FILE = 'LOCK';

/** Of statements that do not fit the tables: here, that there is no such table. */
const SQLITE_ERROR = 1;

export interface OpenedSqlite {
  readonly connection: SqliteConnection;
  readonly lock: DatabaseSync;
  readonly unclosed: UncleanShutdown | null;
  readonly since: Date;
}

export function openSqliteFile(place: SqlitePlace, tables: WantedTables, create: boolean): OpenedSqlite {
  const { directory } = place;
  let lock: DatabaseSync | undefined;
  try {
    const isThere = fileBytes(directory, SQLITE_FILE) > 0;
    if (!isThere && !create) throw new UnspentError('STORE_MISSING', `there is no store (${directory})`, { directory });
    mkdirSync(directory, { recursive: true });
    lock = takeLock(directory);
    const unclosed = readUncleanShutdown(directory);
    const commits = checkFiles(directory, unclosed);
    const opened = { lock, unclosed, connection: openChecked(place, tables, commits), since: new Date() };
    moveLog(opened);
    return opened;
  } catch (error) {
    lock?.close();
    throw sqliteError(error, directory);
  }
}

/**
 * After this the store is whole in store.sqlite alone, and sealed. The seal is
 * written before SQLite removes the log, so that a log which is missing beside
 * the mark of a process was taken away by somebody else.
 */
export function closeSqliteFile({ connection, lock }: OpenedSqlite): void {
  closeConnection(connection);
  lock.close();
}

/** Moves of the log what readers allow. The mark demands only what is on the disk by then. */
export function moveLog({ connection, since }: OpenedSqlite): void {
  const { directory } = connection;
  connection.checkpoint();
  // Where there was nothing to move, SQLite has not done it. Its locks are on its other files.
  const log = openSync(join(directory, SQLITE_LOG_FILE), 'r+');
  try {
    fsyncSync(log);
  } finally {
    closeSync(log);
  }
  markOpen(directory, { since, commits: commitsOf(connection) });
}

function closeConnection(connection: SqliteConnection): void {
  // Else closing tries again to move the log, and may remove it: then the mark would not be true either.
  if (!sealWhole(connection)) removeMark(connection.directory);
  connection.close();
}

function sealWhole(connection: SqliteConnection): boolean {
  try {
    const [isBusy, logged, moved] = connection.first('PRAGMA wal_checkpoint(FULL)');
    return isBusy === 0 && logged === moved && writeSeal(connection.directory, commitsOf(connection));
  } catch {
    return false;
  }
}

/** A transaction of SQLite's on a file of its own: it ends with the process, and works wherever SQLite does. */
function takeLock(directory: string): DatabaseSync {
  const lock = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** Returns the number of commits the seal knows of; null: there is none. Throws STORE_DAMAGED. */
function checkFiles(directory: string, unclosed: UncleanShutdown | null): number | null {
  const damaged = (what: string) => new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${what}`, { directory });
  const seal = checkSeal(directory);
  if (unclosed?.commits == null) return seal?.sequence ?? null;
  // A process marks the store when its log is on the disk.
  if (fileBytes(directory, SQLITE_FILE) === 0) throw damaged(`${SQLITE_FILE} is empty or missing beside its log`);
  if (fileBytes(directory, SQLITE_LOG_FILE) === 0) throw damaged(`${SQLITE_LOG_FILE} is empty or missing, and with it the newest commits`);
  // Pages of commits up to the marked one may be in the tables: a log that ends before it would make a mixture of them.
  const commits = readCommits(directory);
  if (commits < unclosed.commits) throw damaged(`${SQLITE_LOG_FILE} ends at commit ${commits}, and was moved up to ${unclosed.commits}`);
  return null;
}

/** Changes nothing in the files, as opening them to write would. 0: the store is only half created. */
function readCommits(directory: string): number {
  const database = new DatabaseSync(join(directory, SQLITE_FILE), { readOnly: true, timeout: SQLITE_BUSY_MS });
  try {
    const { commits } = database.prepare('SELECT commits FROM unspent_store').get() as { commits: number };
    return commits;
  } catch (error) {
    if ((error as { readonly errcode?: number }).errcode === SQLITE_ERROR) return 0;
    throw error;
  } finally {
    database.close();
  }
}

/** `commits`: as many as there must have been; null: nobody knows. */
function openChecked(place: SqlitePlace, tables: WantedTables, commits: number | null): SqliteConnection {
  const { directory } = place;
  const restoreSeal = takeSeal(directory);
  let connection: SqliteConnection;
  try {
    connection = new SqliteConnection(directory, { ...place, readOnly: false, busyMs: SQLITE_BUSY_MS });
  } catch (error) {
    restoreSeal?.();
    throw error;
  }
  try {
    arrange(connection, place, tables, commits);
  } catch (error) {
    connection.rollback();
    if (commits === null) closeConnection(connection);
    else connection.close();
    restoreSeal?.();
    throw error;
  }
  return connection;
}

function arrange(connection: SqliteConnection, { directory, logBytes }: SqlitePlace, tables: WantedTables, commits: number | null): void {
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = ${logBytes}`);
  // Opening is a commit, on the disk when it returns: from now on there must be a log.
  connection.exec('BEGIN IMMEDIATE');
  arrangeTables(connection, tables);
  if (commits !== null && commitsOf(connection) !== commits) {
    const message = `the store is damaged (${directory}): ${SQLITE_FILE} has ${commitsOf(connection)} commits, its seal ${commits}`;
    throw new UnspentError('STORE_DAMAGED', message, { directory });
  }
  connection.statement(COMMIT_COUNT).run();
  connection.end();
  connection.exec('PRAGMA synchronous = NORMAL');
}
