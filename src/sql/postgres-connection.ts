/**
 * One connection to PostgreSQL for a room that moves many rows: statements with
 * lists of bytes in PostgreSQL's own binary form, and COPY. It connects when it
 * is first used; after a failure that may have broken it, the next call has a new
 * one. Nothing is tried again here: whoever writes must look first whether the
 * commit happened.
 */
import type { Client, ClientConfig, QueryResult } from 'pg';
import { UnspentError } from '../util/errors.ts';
import { SQL_CONNECT_MS, SQL_LOCK_MS, SQL_STATEMENTS_MAX } from '../util/limits.ts';
import { missingPackage } from '../util/missing-package.ts';
import { postgresFailure } from './failures.ts';
import { PostgresHosts } from './postgres-hosts.ts';

export interface PostgresConnectionOptions {
  /** Of one server, or of several of which one takes writes (`postgres-hosts.ts`). */
  readonly url: string;
  /** What messages call the database: 'copy'. */
  readonly name: string;
  /** What the server lists it as. */
  readonly application: string;
  /**
   * Every statement finds its rows by their keys. A plan that walks through the table is never wanted then, and is made all
   * the same for a table that is small when a statement is first run, and kept when it has grown.
   */
  readonly findsByKey?: boolean;
  /** Milliseconds after which a statement without an answer counts as lost. */
  readonly answerMs: number;
  /** Awaited before each statement; what it throws is the statement's failure. For tests. */
  readonly beforeStatement?: ((sql: string) => void | Promise<void>) | undefined;
}

export type SqlRow = Readonly<Record<string, unknown>>;

/** A statement of a transaction. */
export type SqlQuery = (text: string, values?: readonly unknown[]) => Promise<readonly SqlRow[]>;

export class PostgresConnection {
  private readonly options: PostgresConnectionOptions;
  private readonly hosts: PostgresHosts;
  private readonly names = new Map<string, string>();
  private client: Promise<Client> | null = null;
  private isClosed = false;

  /** Throws USAGE. */
  constructor(options: PostgresConnectionOptions) {
    this.options = options;
    this.hosts = new PostgresHosts(options.url, { writes: true });
  }

  /** Rows of a statement; one that has parameters is prepared once. Throws DATABASE, DATABASE_BUSY, DATABASE_FAILED. */
  async query(text: string, values: readonly unknown[] = []): Promise<readonly SqlRow[]> {
    return (await this.result(text, values)).rows as SqlRow[];
  }

  /** Rows that it changed. */
  async change(text: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.result(text, values)).rowCount ?? 0;
  }

  /** `text`: COPY ... FROM STDIN; `data` as its format says. */
  copy(text: string, data: Uint8Array): Promise<void> {
    return this.run(text, async (client) => {
      const copy = new CopyIn(text, data);
      client.query(copy as unknown as string);
      await copy.done;
    });
  }

  /**
   * Several statements that happen together or not at all. All of them go to one connection: where it breaks, none of those
   * that follow runs by itself on the next one. Whether a commit whose answer was lost has happened is to be looked up.
   */
  async transaction<T>(body: (query: SqlQuery) => Promise<T>): Promise<T> {
    const client = await this.run('BEGIN', async (open) => {
      await open.query('BEGIN');
      return open;
    });
    const query: SqlQuery = async (text, values = []) => {
      const { rows } = await this.run(text, () => client.query(text, [...values]));
      return rows as SqlRow[];
    };
    try {
      const result = await body(query);
      await query('COMMIT');
      return result;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => this.drop(client));
      throw error;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const { client } = this;
    this.client = null;
    await client?.then((open) => open.end()).catch(() => undefined);
  }

  private result(text: string, values: readonly unknown[]): Promise<QueryResult> {
    return this.run(text, (client) => {
      const name = values.length === 0 ? undefined : this.nameOf(text);
      return client.query({ text, values: [...values], ...(name === undefined ? {} : { name }) });
    });
  }

  private async run<T>(text: string, body: (client: Client) => Promise<T>): Promise<T> {
    const { beforeStatement } = this.options;
    try {
      if (beforeStatement !== undefined) await beforeStatement(text);
      return await body(await this.connected());
    } catch (error) {
      throw this.failed(error);
    }
  }

  private connected(): Promise<Client> {
    if (this.isClosed) throw new UnspentError('CLOSED', `the connection to the ${this.options.name} is closed`);
    this.client ??= this.connect();
    return this.client;
  }

  private async connect(): Promise<Client> {
    const { Client: PgClient } = (await import('pg')).default;
    const config = {
      connectionTimeoutMillis: SQL_CONNECT_MS,
      query_timeout: this.options.answerMs,
      application_name: this.options.application,
      keepAlive: true,
      lock_timeout: SQL_LOCK_MS,
      // Statements are many rows with always the same plan.
      options: `-c plan_cache_mode=force_generic_plan${this.options.findsByKey === true ? ' -c enable_seqscan=off' : ''}`,
    };
    const client = await this.hosts.connect((connectionString) => new PgClient({ ...config, connectionString } as ClientConfig));
    // Told by the next statement, too.
    client.on('error', () => this.drop(client));
    return client;
  }

  private drop(client: Client): void {
    if (this.client === null) return;
    this.client = null;
    void client.end().catch(() => undefined);
  }

  /** After anything but a clean refusal the connection is not used again: what it was in the middle of is not known. */
  private failed(error: unknown): unknown {
    if (error instanceof UnspentError) return error;
    const missing = missingPackage(error, 'copies in PostgreSQL', ['pg']);
    if (missing !== undefined) return missing;
    const isLate = error instanceof Error && error.message === 'Query read timeout';
    const isElsewhere = this.hosts.isElsewhere(error);
    const failure = isLate
      ? ({ class: 'transient', reason: 'no answer' } as const)
      : isElsewhere
        ? ({ class: 'transient', reason: '25006' } as const)
        : postgresFailure(error);
    if (failure === undefined) return error;
    // What does not take writes, or has no room, may be another server the next time.
    const isFatal = failure.class === 'fatal';
    if (
      isFatal ||
      isElsewhere ||
      !/^[0-9A-Z]{5}$/.test(failure.reason) ||
      failure.reason.startsWith('08') ||
      failure.reason.startsWith('57')
    )
      this.abandon();
    const text = `the ${this.options.name}: ${failure.reason}: ${(error as Error).message}`;
    const code = failure.class === 'transient' ? 'DATABASE_BUSY' : failure.class === 'permanent' ? 'DATABASE' : 'DATABASE_FAILED';
    return new UnspentError(code, text, { class: failure.class, reason: failure.reason }, error);
  }

  private abandon(): void {
    const { client } = this;
    this.client = null;
    void client?.then((open) => open.end()).catch(() => undefined);
  }

  private nameOf(text: string): string | undefined {
    let name = this.names.get(text);
    if (name === undefined && this.names.size < SQL_STATEMENTS_MAX) {
      name = `unspent_${this.names.size}`;
      this.names.set(text, name);
    }
    return name;
  }
}

/** What `pg` calls while a COPY runs; it has none of its own. */
class CopyIn {
  readonly done: Promise<void>;
  /** Set by `pg`, to be told that no answer is awaited any more: otherwise its timer keeps the process. */
  callback: ((error: Error | null) => void) | undefined;
  private readonly text: string;
  private readonly data: Uint8Array;
  private resolve!: () => void;
  private reject!: (error: Error) => void;

  constructor(text: string, data: Uint8Array) {
    this.text = text;
    this.data = data;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: { query(text: string): void }): void {
    connection.query(this.text);
  }

  handleCopyInResponse(connection: { sendCopyFromChunk(chunk: Uint8Array): void; endCopyFrom(): void }): void {
    connection.sendCopyFromChunk(this.data);
    connection.endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback?.(null);
    this.resolve();
  }

  handleError(error: Error): void {
    this.callback?.(error);
    this.reject(error);
  }
}
