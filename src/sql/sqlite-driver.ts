/**
 * A driver for the query builder over Node's own SQLite: one connection. A
 * transaction takes the lock at once unless it only reads: two writers that both
 * begin by reading could never both go on. A statement is prepared once for each
 * text.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type TransactionSettings,
} from 'kysely';
import { SQL_SQLITE_BUSY_MS, SQL_SQLITE_CACHE_KIB, SQL_SQLITE_LOG_PAGES, SQL_STATEMENTS_MAX } from '../util/limits.ts';
import type { BeforeStatement } from './database.ts';

export interface SqliteConnectionOptions {
  readonly file: string;
  /** False only where losing the last commits to a power cut does not matter: in tests. */
  readonly isDurable: boolean;
  readonly beforeStatement: BeforeStatement | undefined;
}

export class NodeSqliteDialect implements Dialect {
  readonly #options: SqliteConnectionOptions;

  constructor(options: SqliteConnectionOptions) {
    this.#options = options;
  }

  createDriver(): Driver {
    return new NodeSqliteDriver(this.#options);
  }

  createQueryCompiler(): SqliteQueryCompiler {
    return new SqliteQueryCompiler();
  }

  createAdapter(): SqliteAdapter {
    return new SqliteAdapter();
  }

  createIntrospector(db: ConstructorParameters<typeof SqliteIntrospector>[0]): SqliteIntrospector {
    return new SqliteIntrospector(db);
  }
}

class NodeSqliteDriver implements Driver {
  readonly #options: SqliteConnectionOptions;
  #connection: NodeSqliteConnection | undefined;

  constructor(options: SqliteConnectionOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    this.#connection = new NodeSqliteConnection(this.#options);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#connection === undefined) throw new Error('the driver is not initialised');
    return this.#connection;
  }

  async beginTransaction(connection: DatabaseConnection, { accessMode }: TransactionSettings): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`BEGIN ${accessMode === 'read only' ? 'DEFERRED' : 'IMMEDIATE'}`));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('COMMIT'));
  }

  /** SQLite has ended the transaction by itself after some failures, such as a full disk. */
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection?.isTransaction) await connection.executeQuery(CompiledQuery.raw('ROLLBACK'));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, { readonly statement: StatementSync; readonly hasRows: boolean }>();

  readonly #beforeStatement: SqliteConnectionOptions['beforeStatement'];

  constructor({ file, isDurable, beforeStatement }: SqliteConnectionOptions) {
    this.#beforeStatement = beforeStatement;
    this.#database = new DatabaseSync(file, { timeout: SQL_SQLITE_BUSY_MS, enableForeignKeyConstraints: true });
    try {
      // temp_store: what it takes to undo a statement stays in memory. In a file it is as many pages again as the log gets.
      this.#database.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = ${isDurable ? 'FULL' : 'OFF'}; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -${SQL_SQLITE_CACHE_KIB}; PRAGMA wal_autocheckpoint = ${SQL_SQLITE_LOG_PAGES}`,
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get isTransaction(): boolean {
    return this.#database.isTransaction;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#beforeStatement !== undefined) await this.#beforeStatement(sql);
    const { statement, hasRows } = this.#prepare(sql);
    const values = parameters as readonly SQLInputValue[];
    if (hasRows) return { rows: statement.all(...values) as R[] };
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  // biome-ignore lint/correctness/useYield: the contract of a connection asks for it, and no statement of ours streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('this driver does not stream');
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }

  #prepare(sql: string): { readonly statement: StatementSync; readonly hasRows: boolean } {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      if (this.#statements.size >= SQL_STATEMENTS_MAX) this.#statements.clear();
      const statement = this.#database.prepare(sql);
      prepared = { statement, hasRows: statement.columns().length > 0 };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }
}
