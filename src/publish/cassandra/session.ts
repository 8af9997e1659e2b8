/**
 * Statements to Cassandra: prepared once, each with the consistency it needs, and
 * those that may run twice tried again while nodes come and go. Compare-and-set
 * statements are sent once: one without an answer may have happened, and whoever
 * sent it has to look.
 *
 * Rows are written with QUORUM and read with QUORUM, so a read sees every write
 * that was acknowledged before it, whichever nodes answer.
 */
import cassandra, { type Client, type QueryOptions, type types } from 'cassandra-driver';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { CASSANDRA_ATTEMPTS_MAX, CASSANDRA_PARALLEL, CASSANDRA_RETRY_MS, CASSANDRA_RETRY_MS_MAX } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import { withoutSecret } from '../../util/secret.ts';
import { WatchedClient } from './driver-client.ts';
import type { CassandraPlace } from './place.ts';

export type Value = Uint8Array | Buffer | string | number | bigint | boolean | null | readonly Uint8Array[];
export type CassandraRow = Readonly<Record<string, unknown>>;

export interface Statement {
  readonly text: string;
  readonly values: readonly Value[];
}

export interface SessionOptions {
  /** Awaited before each statement or batch; what it throws is its failure. For tests. */
  readonly beforeStatement?: ((text: string) => void | Promise<void>) | undefined;
  /** Told of each compare-and-set that was answered; what it throws comes in the place of the answer. For tests. */
  readonly afterCompareAndSet?: ((text: string) => void) | undefined;
  /** Times that a statement is sent which may run twice. */
  readonly attempts?: number | undefined;
}

const { any, all, quorum, serial } = cassandra.types.consistencies;
const CONSISTENCIES = { any, all, quorum, serial } as const;

/** Answers of the server after which the same statement may succeed. */
const { unavailableException, overloaded, isBootstrapping, writeTimeout, readTimeout, readFailure, writeFailure } =
  cassandra.types.responseErrorCodes;
const TRANSIENT = new Set([unavailableException, overloaded, isBootstrapping, writeTimeout, readTimeout, readFailure, writeFailure, 0]);
/** Of Cassandra 4 and newer, not in the driver: the outcome of a compare-and-set is not known; a node lacks what others have prepared. */
const CAS_UNKNOWN = 0x1700;

export class CassandraSession {
  readonly name: string;
  readonly keyspace: string;
  /** So far. */
  statements = 0;
  private readonly place: CassandraPlace;
  private readonly options: SessionOptions;
  private client: WatchedClient;
  private connecting: Promise<void> | null = null;
  private isClosed = false;

  constructor(place: CassandraPlace, options: SessionOptions = {}) {
    this.name = place.name;
    this.keyspace = place.keyspace;
    this.place = place;
    this.options = options;
    this.client = this.newClient();
  }

  private newClient(): WatchedClient {
    const client: WatchedClient = new WatchedClient(this.place, () => this.replace(client));
    return client;
  }

  /** Statements that are under way on the broken one fail, and are tried again if they may run twice. */
  private replace(broken: WatchedClient): void {
    if (broken !== this.client || this.isClosed) return;
    const { connecting } = this;
    this.client = this.newClient();
    this.connecting = null;
    void broken.end(connecting);
  }

  /** Rows of a read, all of them. */
  async read(text: string, values: readonly Value[] = [], consistency: 'quorum' | 'serial' = 'quorum'): Promise<readonly CassandraRow[]> {
    return this.retried(async () => {
      const rows: CassandraRow[] = [];
      for (let pageState: string | undefined; ; ) {
        const result: types.ResultSet = await this.send({ text, values }, { consistency: CONSISTENCIES[consistency], pageState });
        rows.push(...(result.rows as unknown as CassandraRow[]));
        if (result.pageState === null || result.pageState === undefined) return rows;
        pageState = result.pageState;
      }
    });
  }

  /** One page of a read, of about so many rows; `next`: where the one after it begins, null: there is none. */
  async page(
    text: string,
    values: readonly Value[],
    rows: number,
    pageState: string | null,
  ): Promise<{ readonly rows: readonly CassandraRow[]; readonly next: string | null }> {
    const result = await this.retried(() => this.send({ text, values }, { fetchSize: rows, ...(pageState !== null && { pageState }) }));
    return { rows: result.rows as unknown as CassandraRow[], next: result.pageState ?? null };
  }

  /** A write that may run twice. `timestamp`: what decides between two writes of the same cell. */
  async write(text: string, values: readonly Value[], timestamp?: bigint, consistency: 'quorum' | 'all' = 'quorum'): Promise<void> {
    await this.retried(() => this.send({ text, values }, { consistency: CONSISTENCIES[consistency], ...timestampOf(timestamp) }));
  }

  /** Writes of one partition, together; they may run twice. */
  async batch(statements: readonly Statement[], timestamp: bigint, consistency: 'quorum' | 'all' = 'quorum'): Promise<void> {
    const queries = statements.map(({ text, values }) => ({ query: text, params: values as unknown[] }));
    const options = { prepare: true, logged: false, consistency: CONSISTENCIES[consistency], ...timestampOf(timestamp) };
    await this.retried(async () => {
      await this.begin(statements[0].text);
      await this.sent((client) => client.batch(queries, options));
    });
  }

  /** A compare-and-set. False: the comparison failed and nothing was changed. */
  async compareAndSet(text: string, values: readonly Value[]): Promise<boolean> {
    try {
      const { rows } = await this.send({ text, values }, {});
      this.options.afterCompareAndSet?.(text);
      return (rows as unknown as CassandraRow[])[0]['[applied]'] === true;
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** A change of the schema; the nodes agree on it when this returns. */
  async define(text: string): Promise<void> {
    await this.retried(() => this.send({ text, values: [] }, { prepare: false }));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.client.end(this.connecting);
  }

  private async send({ text, values }: Statement, options: Partial<Record<keyof QueryOptions, unknown>>): Promise<types.ResultSet> {
    await this.begin(text);
    return this.sent((client) => client.execute(text, values as unknown[], { prepare: true, ...options } as QueryOptions));
  }

  /** What is no error of the driver's own is one in it: this client has lost track of what its nodes know. */
  private async sent<T>(body: (client: Client) => Promise<T>): Promise<T> {
    const { client } = this;
    try {
      return await body(client.client);
    } catch (error) {
      if (error instanceof cassandra.errors.DriverError) throw error;
      this.replace(client);
      const text = `the copy in ${this.name}: the driver failed: ${withoutSecret((error as Error).message)}`;
      throw new UnspentError('DATABASE_BUSY', text, { reason: 'driver' }, error);
    }
  }

  private async begin(text: string): Promise<void> {
    if (this.isClosed) throw new UnspentError('CLOSED', `the connection to the copy in ${this.name} is closed`);
    await this.options.beforeStatement?.(text);
    this.statements++;
    this.connecting ??= this.sent((client) => client.connect());
    const { connecting } = this;
    await connecting.catch((error) => {
      if (this.connecting === connecting) this.connecting = null;
      throw error;
    });
  }

  private async retried<T>(body: () => Promise<T>): Promise<T> {
    let wait = CASSANDRA_RETRY_MS;
    for (let attempts = 1; ; attempts++) {
      try {
        return await body();
      } catch (error) {
        const failure = this.failure(error);
        const mayRetry =
          isUnspentError(failure, 'DATABASE_BUSY') && attempts < (this.options.attempts ?? CASSANDRA_ATTEMPTS_MAX) && !this.isClosed;
        if (!mayRetry) throw failure;
        await pause(wait, {});
        wait = Math.min(wait * 2, CASSANDRA_RETRY_MS_MAX);
      }
    }
  }

  /** What does not come from the driver stays as it is. */
  private failure(error: unknown): unknown {
    const { DriverError, ResponseError, AuthenticationError, NoHostAvailableError } = cassandra.errors;
    if (!(error instanceof DriverError)) return error;
    const inner = error instanceof NoHostAvailableError ? Object.values(error.innerErrors as Record<string, Error>) : [error];
    const isRefused = inner.some((reason) => reason instanceof AuthenticationError);
    const code = error instanceof ResponseError ? error.code : null;
    const isTransient = code === null ? !isRefused : TRANSIENT.has(code) || code === CAS_UNKNOWN;
    const text = `the copy in ${this.name}: ${withoutSecret(error.message)}`;
    const reason = code === null ? error.name : `0x${code.toString(16)}`;
    return new UnspentError(isTransient ? 'DATABASE_BUSY' : 'DATABASE', text, { reason }, error);
  }
}

function timestampOf(timestamp: bigint | undefined): { readonly timestamp?: types.Long } {
  return timestamp === undefined ? {} : { timestamp: cassandra.types.Long.fromString(String(timestamp)) };
}

/** Runs `body` for each, some at a time. After a failure no further one begins, and it is thrown when none runs any more. */
export async function forEachInParallel<T>(
  items: Iterable<T>,
  body: (item: T) => Promise<void>,
  width = CASSANDRA_PARALLEL,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { readonly error: unknown } | null = null;
  const work = async (): Promise<void> => {
    for (let next = iterator.next(); next.done !== true && failure === null; next = iterator.next()) {
      try {
        await body(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
