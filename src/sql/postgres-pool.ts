/**
 * Connections to PostgreSQL for the query builder: the pool of `pg`, with every
 * statement that has parameters prepared once for each connection, and with
 * values in the shapes that SQLite gives them: whole numbers as `number`, bytes
 * as Uint8Array. `pg` is loaded here, when a database of that kind is opened.
 */
import { PostgresDialect, type PostgresPool, type PostgresPoolClient, type PostgresQueryResult } from 'kysely';
import type { Pool, PoolClient, PoolConfig } from 'pg';
import { UnspentError } from '../util/errors.ts';
import { SQL_CONNECT_MS, SQL_CONNECTIONS_MAX, SQL_LOCK_MS, SQL_STATEMENTS_MAX } from '../util/limits.ts';
import type { BeforeStatement } from './database.ts';
import { ServerDemoted } from './failures.ts';
import { PostgresHosts } from './postgres-hosts.ts';

/**
 * What a connection is told that plans its statements once. Compiling a plan to machine code takes longer than such a
 * statement, and so does starting processes to share it: with a limit that it does not know, PostgreSQL plans for a tenth
 * of a table, and started two of them for a page of a hundred rows.
 */
export const PLANNED_ONCE: readonly string[] = ['plan_cache_mode=force_generic_plan', 'jit=off', 'max_parallel_workers_per_gather=0'];

export interface PostgresOptions {
  readonly url: string;
  readonly isPlannedOnce: boolean;
  readonly beforeStatement: BeforeStatement | undefined;
  /** A connection was lost while no statement ran on it. The pool opens another; a transaction finds out with its next statement. */
  readonly onIdleFailure: (error: unknown) => void;
}

export async function postgresDialect(options: PostgresOptions): Promise<PostgresDialect> {
  const hosts = new PostgresHosts(options.url, { writes: true });
  const { Pool: PgPool, Client, types } = (await import('pg')).default;
  const INT8 = 20;
  const BYTEA = 17;
  const parserOf = (oid: number, format?: 'text' | 'binary'): unknown => {
    if (oid === INT8) return wholeNumber;
    return oid === BYTEA ? bytesOf : types.getTypeParser(oid, format as 'text');
  };
  const pool = new PgPool({
    Client: hosts.clientOf(Client),
    max: SQL_CONNECTIONS_MAX,
    connectionTimeoutMillis: SQL_CONNECT_MS,
    allowExitOnIdle: true,
    lock_timeout: SQL_LOCK_MS,
    ...(options.isPlannedOnce ? { options: PLANNED_ONCE.map((setting) => `-c ${setting}`).join(' ') } : {}),
    types: { getTypeParser: parserOf } as PoolConfig['types'],
  } as PoolConfig);
  pool.on('error', options.onIdleFailure);
  return new PostgresDialect({ pool: new PreparingPool(pool, hosts, options) });
}

/** bigint as text; amounts are cast to text and do not come here. */
function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new UnspentError('STORE_DAMAGED', `a number of the database is out of range: ${text}`);
  return value;
}

/** `\x` and hex. */
function bytesOf(text: string): Uint8Array {
  const bytes = Buffer.from(text.slice(2), 'hex');
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

class PreparingPool implements PostgresPool {
  readonly options: object;
  readonly #pool: Pool;
  readonly #hosts: PostgresHosts;
  readonly #options: PostgresOptions;
  readonly #clients = new WeakMap<PoolClient, PostgresPoolClient>();
  readonly #names = new Map<string, string>();

  constructor(pool: Pool, hosts: PostgresHosts, options: PostgresOptions) {
    this.#pool = pool;
    this.#hosts = hosts;
    this.options = pool.options;
    this.#options = options;
  }

  async connect(): Promise<PostgresPoolClient> {
    const client = await this.#pool.connect();
    let prepared = this.#clients.get(client);
    if (prepared === undefined) {
      prepared = this.#preparing(client);
      // The pool listens only while the connection is idle in it; a failure that nobody listens to would end the process.
      client.on('error', this.#options.onIdleFailure);
      this.#clients.set(client, prepared);
    }
    return prepared;
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  #preparing(client: PoolClient): PostgresPoolClient {
    let isOutOfUse = false;
    const query = async <R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>> => {
      if (this.#options.beforeStatement !== undefined) await this.#options.beforeStatement(text);
      const name = values.length === 0 ? undefined : this.#nameOf(text);
      try {
        const result = await client.query(name === undefined ? { text, values: [...values] } : { name, text, values: [...values] });
        return result as unknown as PostgresQueryResult<R>;
      } catch (error) {
        if (!this.#hosts.isElsewhere(error)) throw error;
        isOutOfUse = true;
        throw new ServerDemoted(error as Error);
      }
    };
    return { query: query as PostgresPoolClient['query'], release: (destroy) => client.release(destroy === true || isOutOfUse) };
  }

  /** Undefined: there are so many texts that preparing them would fill the server's memory. */
  #nameOf(sql: string): string | undefined {
    let name = this.#names.get(sql);
    if (name === undefined && this.#names.size < SQL_STATEMENTS_MAX) {
      name = `unspent_${this.#names.size}`;
      this.#names.set(sql, name);
    }
    return name;
  }
}
