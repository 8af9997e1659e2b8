/**
 * A database that is open: transactions for reading and for writing, tried again
 * after transient failures, refused after a fatal one. All statements of a store
 * on SQL (wallet/sql, txstore/sql) run inside `read` or `write`, or alone.
 *
 * A read sees one moment. A write sees what is committed and locks what it is
 * about to change; in SQLite it has the whole database for itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, sql } from 'kysely';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { SQL_RETRY_MS, SQL_RETRY_PAUSE_MS_MAX, SQL_RETRY_PAUSE_MS_MIN } from '../util/limits.ts';
import { type FailureClass, postgresFailure, type SqlFailure, sqliteFailure, WriteConflict } from './failures.ts';
import { postgresDialect } from './postgres-pool.ts';
import { NodeSqliteDialect } from './sqlite-driver.ts';

export type SqlKind = 'sqlite' | 'postgres';

/** Where statements run: the builder, and which database it is. */
export interface DatabaseTransaction<Tables> {
  readonly db: Kysely<Tables>;
  readonly kind: SqlKind;
}

export type BeforeStatement = (sql: string) => void | Promise<void>;

export interface SqlDatabaseOptions {
  /** False: commits do not wait for the disk. SQLite only; a server has its own setting. */
  readonly isDurable?: boolean | undefined;
  /** PostgreSQL: a statement is planned once for each connection, whatever its parameters are. Default: the server decides. */
  readonly isPlannedOnce?: boolean | undefined;
  /** PostgreSQL: whether a transaction committed whose answer was lost is asked before it is tried again. One more statement for each write. */
  readonly isCommitChecked?: boolean | undefined;
  /** Awaited before each statement, with its text; what it throws is the statement's failure. */
  readonly beforeStatement?: BeforeStatement | undefined;
}

export interface FailureCount {
  readonly class: FailureClass;
  readonly reason: string;
  readonly count: number;
}

/** Invalid parameter value: what PostgreSQL says of the id of a transaction that it has not begun. */
const IN_THE_FUTURE = '22023';

/** What statements are inside of. */
type Body<Tables, T> = (tx: DatabaseTransaction<Tables>) => Promise<T>;

export class SqlDatabase<Tables> {
  readonly kind: SqlKind;
  /** What messages call it: 'wallet database'. */
  readonly name: string;
  readonly #writer: Kysely<Tables>;
  /** The writer itself where connections come from a pool. */
  readonly #reader: Kysely<Tables>;
  readonly #writes = new Turns();
  readonly #reads = new Turns();
  readonly #failures = new Map<string, { class: FailureClass; reason: string; count: number }>();
  #fatal: UnspentError | undefined;
  readonly #isCommitChecked: boolean;
  #isClosed = false;

  private constructor(kind: SqlKind, name: string, writer: Kysely<Tables>, reader: Kysely<Tables>, isCommitChecked = false) {
    this.kind = kind;
    this.name = name;
    this.#isCommitChecked = isCommitChecked;
    this.#writer = writer;
    this.#reader = reader;
  }

  /** `sqlite:FILE` or `postgres://...`. Throws USAGE. Nothing is connected before the first call. */
  static async open<Tables>(url: string, name: string, options: SqlDatabaseOptions): Promise<SqlDatabase<Tables>> {
    const file = /^sqlite:(?:\/\/)?(.+)$/.exec(url)?.[1];
    if (file !== undefined) return SqlDatabase.#openSqlite(file, name, options);
    if (/^postgres(ql)?:\/\//.test(url)) return SqlDatabase.#openPostgres(url, name, options);
    throw new UnspentError('USAGE', `a ${name} is sqlite:FILE or postgres://..., not '${url.split('@').at(-1)?.slice(0, 80)}'`);
  }

  static #openSqlite<Tables>(file: string, name: string, { isDurable = true, beforeStatement }: SqlDatabaseOptions): SqlDatabase<Tables> {
    const connection = (): Kysely<Tables> => new Kysely<Tables>({ dialect: new NodeSqliteDialect({ file, isDurable, beforeStatement }) });
    return new SqlDatabase('sqlite', name, connection(), connection());
  }

  static async #openPostgres<Tables>(
    url: string,
    name: string,
    { isPlannedOnce = false, isCommitChecked, beforeStatement }: SqlDatabaseOptions,
  ): Promise<SqlDatabase<Tables>> {
    let database: SqlDatabase<Tables> | undefined;
    const onIdleFailure = (error: unknown): void => database?.count(postgresFailure(error) ?? { class: 'transient', reason: 'idle' });
    const pool = new Kysely<Tables>({ dialect: await postgresDialect({ url, isPlannedOnce, beforeStatement, onIdleFailure }) });
    database = new SqlDatabase('postgres', name, pool, pool, isCommitChecked);
    return database;
  }

  /** Failures of the database so far, by class and reason. */
  get failures(): readonly FailureCount[] {
    return [...this.#failures.values()].map((entry) => ({ ...entry }));
  }

  /** False after a fatal failure: every call fails until the database is opened anew. */
  get isHealthy(): boolean {
    return this.#fatal === undefined;
  }

  /** One transaction that sees one moment. */
  read<T>(body: Body<Tables, T>): Promise<T> {
    return this.#snapshot(this.#reader, this.#reads, body);
  }

  /**
   * The same, of what a write is about to change. In SQLite it runs on the connection that writes, whose cache stays valid:
   * that of the other one is void after each commit, and what it reads for this would have to be read twice.
   */
  readForWrite<T>(body: Body<Tables, T>): Promise<T> {
    return this.#snapshot(this.#writer, this.#writes, body);
  }

  #snapshot<T>(connection: Kysely<Tables>, turns: Turns, body: Body<Tables, T>): Promise<T> {
    const once = (): Promise<T> =>
      connection
        .transaction()
        .setIsolationLevel('repeatable read')
        .setAccessMode('read only')
        .execute((db) => body({ db, kind: this.kind }));
    return this.#retried(this.kind === 'sqlite' ? () => turns.take(once) : once);
  }

  /** One statement that reads: it sees one moment by itself, and needs no transaction around it. */
  readOne<T>(body: Body<Tables, T>): Promise<T> {
    return this.#one(this.#reader, this.#reads, body);
  }

  /** One statement that writes: all of it or nothing, without a transaction around it. It may run more than once. */
  writeOne<T>(body: Body<Tables, T>): Promise<T> {
    return this.#one(this.#writer, this.#writes, body);
  }

  #one<T>(db: Kysely<Tables>, turns: Turns, body: Body<Tables, T>): Promise<T> {
    const once = (): Promise<T> => body({ db, kind: this.kind });
    return this.#retried(this.kind === 'sqlite' ? () => turns.take(once) : once);
  }

  /** One transaction; what it throws undoes it. It may run more than once, so it changes nothing but the database. */
  write<T>(body: Body<Tables, T>): Promise<T> {
    // In SQLite a second writer of this process would wait for the first with the thread that the first needs.
    const once = (): Promise<T> => this.#writer.transaction().execute((db) => body({ db, kind: this.kind }));
    if (this.#isCommitChecked) return this.#retried(this.#onceAcknowledged(body));
    return this.#retried(this.kind === 'sqlite' ? () => this.#writes.take(once) : once);
  }

  /** An attempt that looks first whether the one before it has committed: the answer to a COMMIT gets lost with its connection. */
  #onceAcknowledged<T>(body: Body<Tables, T>): () => Promise<T> {
    let ended: { readonly result: T; readonly id: string } | undefined;
    return async () => {
      if (ended !== undefined) {
        const status = await this.#statusOf(ended.id);
        if (status === 'committed') return ended.result;
        if (status === 'in progress') throw new WriteConflict('the server has not ended the transaction of a lost connection yet');
        ended = undefined;
      }
      return this.#writer.transaction().execute(async (db) => {
        const result = await body({ db, kind: this.kind });
        const { rows } = await sql<{ id: string | null }>`SELECT pg_current_xact_id_if_assigned()::text AS id`.execute(db);
        const id = rows[0]?.id;
        // Without an id it has written nothing, and may be done again.
        if (id) ended = { result, id };
        return result;
      });
    };
  }

  /** Null: too long ago to be known, or, after a failover that lost it, not begun yet. */
  async #statusOf(id: string): Promise<string | null> {
    try {
      const { rows } = await sql<{ status: string | null }>`SELECT pg_xact_status(${id}::xid8) AS status`.execute(this.#writer);
      return rows[0]?.status ?? null;
    } catch (error) {
      if (postgresFailure(error)?.reason === IN_THE_FUTURE) return null;
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#writes.take(async () => {}), this.#reads.take(async () => {})]);
    await this.#writer.destroy();
    if (this.#reader !== this.#writer) await this.#reader.destroy();
  }

  count({ class: kind, reason }: SqlFailure): void {
    const key = `${kind} ${reason}`;
    const entry = this.#failures.get(key) ?? { class: kind, reason, count: 0 };
    entry.count++;
    this.#failures.set(key, entry);
  }

  async #retried<T>(attempt: () => Promise<T>): Promise<T> {
    const end = performance.now() + SQL_RETRY_MS;
    for (let pauseMs = SQL_RETRY_PAUSE_MS_MIN; ; pauseMs = Math.min(2 * pauseMs, SQL_RETRY_PAUSE_MS_MAX)) {
      if (this.#isClosed) throw new UnspentError('CLOSED', `the ${this.name} is closed`);
      if (this.#fatal !== undefined) throw this.#fatal;
      try {
        return await attempt();
      } catch (error) {
        if (isUnspentError(error)) throw error;
        const failure = this.kind === 'sqlite' ? sqliteFailure(error) : postgresFailure(error);
        if (failure === undefined) throw error;
        this.count(failure);
        if (failure.class !== 'transient' || performance.now() > end) throw this.#refused(failure, error);
        // Half of it by chance, so that processes that met do not meet again.
        await sleep(pauseMs * (0.5 + Math.random() / 2));
      }
    }
  }

  #refused(failure: SqlFailure, cause: unknown): UnspentError {
    const text = `${failure.reason}: ${(cause as Error).message}`;
    const meta = { class: failure.class, reason: failure.reason };
    if (failure.class === 'transient')
      return new UnspentError('DATABASE_BUSY', `the ${this.name} did not do it in time: ${text}`, meta, cause);
    if (failure.class === 'permanent') return new UnspentError('DATABASE', `the ${this.name} refused it: ${text}`, meta, cause);
    this.#fatal = new UnspentError('DATABASE_FAILED', `the ${this.name} cannot be used: ${text}`, meta, cause);
    return this.#fatal;
  }
}

/** One after the other, in the order they came. */
class Turns {
  #last: Promise<unknown> = Promise.resolve();

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}
