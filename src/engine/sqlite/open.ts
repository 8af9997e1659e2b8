/**
 * The way into a SQLite store and out of it. As with RocksDB, what is there is
 * looked at before the database touches it, and a failed open leaves a store
 * that opens again and is what it was.
 *
 *   LOCK              locked while a process has the store open
 *   store.sqlite      the tables
 *   store.sqlite-wal  the log: commits that are not in the tables yet
 *   store.sqlite-shm  an index of the log, made anew at every start
 *   store.sums        checksums of the pages in the tables (page-sums.ts)
 *   unspent.seal      of a closed store: the size of store.sqlite and the number of commits
 *   unspent.open      of an open one, or one that was not closed: by which process, and
 *                     the number of commits when its log was last moved into the tables
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UnspentError } from '../../util/errors.ts';
import { SQLITE_BUSY_MS, SQLITE_RESTART_MS } from '../../util/limits.ts';
import { checkSeal, markOpen, readUncleanShutdown, removeMark, takeSeal, type UncleanShutdown, writeSeal } from '../seal.ts';
import { type Moved, SqliteConnection } from './connection.ts';
import { sqliteError } from './errors.ts';
import { fileBytes, PAGE_BYTES, SQLITE_FILE, SQLITE_LOG_FILE, SUMS_FILE } from './files.ts';
import { LogPages, recoverablePages } from './log-pages.ts';
import { adoptSums, damagedPage, hasSums, makeSums, pageDamage, pagesIn, recordSums, removeSums, withTables } from './page-sums.ts';
import type { SqlitePlace } from './readers.ts';
import { arrangeTables, COMMIT_COUNT, commitsOf, type WantedTables } from './schema.ts';
import { UncheckedPages } from './unchecked-pages.ts';

const LOCK_FILE = 'LOCK';

/** Of statements that do not fit the tables: here, that there is no such table. */
const SQLITE_ERROR = 1;

export interface OpenedSqlite {
  readonly connection: SqliteConnection;
  readonly lock: DatabaseSync;
  readonly unclosed: UncleanShutdown | null;
  readonly since: Date;
  readonly log: LogPages;
  /** Of a large store: the pages nobody has looked at. */
  readonly unchecked: UncheckedPages | null;
}

export function openSqliteFile(place: SqlitePlace, tables: WantedTables, create: boolean, checkBytes: number): OpenedSqlite {
  const { directory } = place;
  let lock: DatabaseSync | undefined;
  let unchecked: UncheckedPages | null = null;
  try {
    const isThere = fileBytes(directory, SQLITE_FILE) > 0;
    if (!isThere && !create) throw new UnspentError('STORE_MISSING', `there is no store (${directory})`, { directory });
    mkdirSync(directory, { recursive: true });
    lock = takeLock(directory);
    const unclosed = readUncleanShutdown(directory);
    const { commits, areSumsKnown } = checkFiles(directory, unclosed);
    if (areSumsKnown) unchecked = checkPages(place, checkBytes);
    else makeSums(directory);
    const log = new LogPages(join(directory, SQLITE_LOG_FILE));
    const connection = openChecked(place, tables, commits, log);
    const opened = { lock, unclosed, log, unchecked, connection, since: new Date() };
    try {
      if (!areSumsKnown) adoptSums(directory);
      moveLog(opened);
    } catch (error) {
      closeConnection(connection, log);
      throw error;
    }
    return opened;
  } catch (error) {
    unchecked?.close();
    lock?.close();
    throw sqliteError(error, directory);
  }
}

/**
 * After this the store is whole in store.sqlite alone, and sealed. The seal is
 * written before SQLite removes the log, so that a log which is missing beside
 * the mark of a process was taken away by somebody else.
 */
export function closeSqliteFile({ connection, lock, log, unchecked }: OpenedSqlite): void {
  closeConnection(connection, log);
  unchecked?.close();
  lock.close();
}

/** Moves of the log what readers allow. The mark demands only what is on the disk by then. */
export function moveLog({ connection, since, log }: OpenedSqlite): void {
  const { directory } = connection;
  recordMoved(directory, log, connection.checkpoint());
  // Where there was nothing to move, SQLite has not done it. Its locks are on its other files.
  const file = openSync(join(directory, SQLITE_LOG_FILE), 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  markOpen(directory, { since, commits: commitsOf(connection), sums: true });
}

export function restartLog({ connection, log }: OpenedSqlite): void {
  recordMoved(connection.directory, log, connection.restartLog(SQLITE_RESTART_MS));
}

/** Before the next commit, which may begin the log anew. */
function recordMoved(directory: string, log: LogPages, { logged, moved }: Moved): void {
  recordSums(directory, log.movedPages(logged, moved));
  log.recorded(moved);
}

function closeConnection(connection: SqliteConnection, log: LogPages): void {
  const { directory } = connection;
  // Else closing tries again to move the log, and may remove it: then neither the mark nor the sums would be true.
  if (!sealWhole(connection, log)) {
    removeMark(directory);
    removeSums(directory);
  }
  connection.close();
}

function sealWhole(connection: SqliteConnection, log: LogPages): boolean {
  const { directory } = connection;
  try {
    const all = connection.checkpoint('FULL');
    recordMoved(directory, log, all);
    return all.logged === all.moved && hasSums(directory) && writeSeal(directory, commitsOf(connection));
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

interface Known {
  /** That the seal knows of; null: there is none. */
  readonly commits: number | null;
  /** The checksums of the pages are there, and of this store. */
  readonly areSumsKnown: boolean;
}

/** Throws STORE_DAMAGED. */
function checkFiles(directory: string, unclosed: UncleanShutdown | null): Known {
  const damaged = (what: string) => new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${what}`, { directory });
  const seal = checkSeal(directory);
  const isThere = fileBytes(directory, SQLITE_FILE) > 0;
  if (seal !== null) return { commits: seal.sequence, areSumsKnown: SUMS_FILE in seal.files };
  if (unclosed === null) return { commits: null, areSumsKnown: isThere && hasSums(directory) };
  if (unclosed.sums && !hasSums(directory)) throw damaged(`${SUMS_FILE} is missing`);
  if (unclosed.commits === null) return { commits: null, areSumsKnown: isThere && unclosed.sums };
  // A process marks the store when its log is on the disk.
  if (!isThere) throw damaged(`${SQLITE_FILE} is empty or missing beside its log`);
  if (fileBytes(directory, SQLITE_LOG_FILE) === 0) throw damaged(`${SQLITE_LOG_FILE} is empty or missing, and with it the newest commits`);
  // Pages of commits up to the marked one may be in the tables: a log that ends before it would make a mixture of them.
  const commits = readCommits(directory);
  if (commits < unclosed.commits) throw damaged(`${SQLITE_LOG_FILE} ends at commit ${commits}, and was moved up to ${unclosed.commits}`);
  return { commits: null, areSumsKnown: unclosed.sums };
}

/** Throws STORE_DAMAGED. The pages of a large store are looked at up to `checkBytes`; returns the others. */
function checkPages({ directory, pages }: SqlitePlace, checkBytes: number): UncheckedPages | null {
  const path = join(directory, SQLITE_LOG_FILE);
  const logged = fileBytes(directory, SQLITE_LOG_FILE) > 0 ? recoverablePages(path) : undefined;
  const [last, checked] = [pagesIn(directory), Math.floor(checkBytes / PAGE_BYTES)];
  const page = withTables(directory, (file) => damagedPage(directory, file, { from: 1, to: Math.min(last, checked) }, logged));
  if (page !== null) throw pageDamage(directory, page);
  return checked < last ? new UncheckedPages(directory, pages, { from: checked + 1, to: last }) : null;
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
function openChecked(place: SqlitePlace, tables: WantedTables, commits: number | null, log: LogPages): SqliteConnection {
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
    if (commits === null) closeConnection(connection, log);
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
