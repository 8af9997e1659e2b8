/**
 * The tables of a SQLite store: one for each column, and two of the engine's own.
 *
 *   COLUMN            key, value: the value ends with a checksum (sqlite-row.ts)
 *   unspent_store     one row: how many commits there were
 *   unspent_columns   of each column: rows, and all that was ever put into it
 *
 * `application_id` and `user_version` of the file say that it is ours, and in
 * which format.
 */
import { UnspentError } from '../../util/errors.ts';
import type { ColumnSpec, EngineStats } from '../engine.ts';
import type { SqliteConnection } from './connection.ts';

/** "UTXO". */
const APPLICATION_ID = 0x5554584f;
const FORMAT = 1;

export const COMMIT_COUNT = 'UPDATE unspent_store SET commits = commits + 1';
export const TALLY = 'UPDATE unspent_columns SET row_count = row_count + ?, puts = puts + ?, put_bytes = put_bytes + ? WHERE name = ?';
export const EMPTY_TALLY = 'UPDATE unspent_columns SET row_count = 0, puts = 0, put_bytes = 0 WHERE name = ?';

export interface WantedTables {
  readonly columns: readonly ColumnSpec[];
  /** May be there, and are dropped. */
  readonly retired: readonly string[];
  /** Must be there, unless the store is new. */
  readonly existing: readonly string[];
}

export function commitsOf(connection: SqliteConnection): number {
  return connection.first('SELECT commits FROM unspent_store')[0] as number;
}

/** Makes the tables what is wanted, inside a transaction. Throws STORE_DAMAGED, STORE_SCHEMA, STORE_SHAPE. */
export function arrangeTables(connection: SqliteConnection, { columns, retired, existing }: WantedTables): void {
  const { directory } = connection;
  const tables = connection.statement('SELECT name FROM sqlite_schema WHERE type = ?').all('table') as unknown as [string][];
  const present = new Set(tables.map(([name]) => name));
  if (present.size === 0) createOwnTables(connection);
  else checkOwnTables(connection, present, existing);
  const wanted = new Set([...columns.map(({ name }) => name), ...retired, 'unspent_store', 'unspent_columns']);
  const others = [...present].filter((name) => !wanted.has(name));
  if (others.length > 0) {
    const message = `the store has columns that these settings do not open (${directory}): ${others.join(', ')}`;
    throw new UnspentError('STORE_SHAPE', message, { directory, columns: others });
  }
  const remove = connection.statement('DELETE FROM unspent_columns WHERE name = ?');
  for (const name of retired) {
    if (!present.has(name)) continue;
    connection.exec(`DROP TABLE ${name}`);
    remove.run(name);
  }
  const add = connection.statement('INSERT INTO unspent_columns (name, row_count, puts, put_bytes) VALUES (?, 0, 0, 0)');
  for (const { name } of columns) {
    if (present.has(name)) continue;
    connection.exec(`CREATE TABLE ${name} (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID`);
    add.run(name);
  }
}

function createOwnTables(connection: SqliteConnection): void {
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${FORMAT};
    CREATE TABLE unspent_store (id INTEGER PRIMARY KEY, commits INTEGER NOT NULL);
    INSERT INTO unspent_store (id, commits) VALUES (1, 0);
    CREATE TABLE unspent_columns (name TEXT PRIMARY KEY, row_count INTEGER NOT NULL, puts INTEGER NOT NULL, put_bytes INTEGER NOT NULL)
      WITHOUT ROWID;`);
}

function checkOwnTables(connection: SqliteConnection, present: ReadonlySet<string>, existing: readonly string[]): void {
  const { directory } = connection;
  const damaged = (what: string) => new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${what}`, { directory });
  const [[application], [format]] = [connection.first('PRAGMA application_id'), connection.first('PRAGMA user_version')];
  if (application !== APPLICATION_ID) throw damaged('its SQLite file was not made by unspent');
  if (format !== FORMAT) {
    throw new UnspentError('STORE_SCHEMA', `the SQLite file in ${directory} has format ${format}; this version reads ${FORMAT}`, {
      directory,
      format,
    });
  }
  const missing = ['unspent_store', 'unspent_columns', ...existing].filter((name) => !present.has(name));
  if (missing.length > 0) throw damaged(`the table ${missing.join(', ')} is missing`);
}

export function sqliteColumnStats(connection: SqliteConnection, name: string): EngineStats {
  const sql = 'SELECT row_count, puts, put_bytes FROM unspent_columns WHERE name = ?';
  const [rows = 0, puts = 0, putBytes = 0] = (connection.statement(sql).get(name) ?? []) as unknown as number[];
  // Of what was deleted the size is not known: rows are taken to be as large as they were on average when they were put.
  const bytes = puts === 0 ? 0 : Math.round((putBytes / puts) * rows);
  return { kind: 'sqlite', bytes, properties: { rows: `${rows}`, 'sqlite.raw-size': `${bytes}` } };
}
