/**
 * One connection to PostgreSQL, for reading: a failure of the connection ends it
 * for good, and whoever used it is told so by COPY_UNREACHABLE. Statements with
 * a name are prepared once.
 */
import pg, { type Client, type ClientConfig } from 'pg';
import type { PostgresHosts } from '../../../sql/postgres-hosts.ts';
import { UnspentError } from '../../../util/errors.ts';
import { COPY_CONNECT_MS, COPY_QUERY_MS } from '../../../util/limits.ts';

const BYTEA = 17;
const INT8 = 20;
/** Undefined table, undefined schema: nothing was published there. */
const NOTHING_THERE = /^(42P01|3F000|3D000)$/;

/** Of all connections of one reader. */
export interface StatementCount {
  statements: number;
}

export class CopyConnection {
  /** Statements that are not answered yet. */
  waiting = 0;
  private readonly client: Client;
  private readonly count: StatementCount;
  private failure: UnspentError | null = null;
  /** Resolves when the statement that was asked for last is answered. */
  private last: Promise<void> = Promise.resolve();
  private readonly listeners = new Set<() => void>();

  private constructor(client: Client, count: StatementCount) {
    this.client = client;
    this.count = count;
    client.on('error', (error) => this.fail(error));
    client.on('end', () => this.fail(new Error('the connection was closed')));
  }

  /** Throws COPY_UNREACHABLE. */
  static async open(hosts: PostgresHosts, count: StatementCount): Promise<CopyConnection> {
    const { Client: PgClient, types } = pg;
    const parserOf = (oid: number, format?: 'text' | 'binary'): unknown => {
      if (oid === INT8) return Number;
      return oid === BYTEA ? bytesOf : types.getTypeParser(oid, format as 'text');
    };
    const config = {
      connectionTimeoutMillis: COPY_CONNECT_MS,
      query_timeout: COPY_QUERY_MS,
      keepAlive: true,
      application_name: 'unspent reader',
      types: { getTypeParser: parserOf } as ClientConfig['types'],
    };
    let client: Client;
    try {
      client = await hosts.connect((connectionString) => new PgClient({ ...config, connectionString } as ClientConfig));
    } catch (error) {
      throw asCopyError(error);
    }
    const connection = new CopyConnection(client, count);
    try {
      // A moment is held between two questions, however long nobody asks.
      await client.query('set idle_in_transaction_session_timeout = 0');
    } catch (error) {
      throw connection.fail(error);
    }
    return connection;
  }

  get isLost(): boolean {
    return this.failure !== null;
  }

  onLost(listener: () => void): void {
    this.listeners.add(listener);
  }

  onNotification(listener: () => void): void {
    this.client.on('notification', listener);
  }

  /** Throws COPY_UNREACHABLE, and the connection is lost; COPY_UNREADY where the tables are not there. */
  async query<R>(text: string, values: unknown[] = [], name?: string): Promise<R[]> {
    if (this.failure !== null) throw this.failure;
    this.waiting++;
    // One after the other: the driver is given the next statement when the one before is answered.
    const before = this.last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.last = promise;
    try {
      await before;
      if (this.failure !== null) throw this.failure;
      this.count.statements++;
      const { rows } = await this.client.query(name === undefined ? { text, values } : { name, text, values });
      return rows as R[];
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.waiting--;
      resolve();
    }
  }

  /** Nothing is awaited: a server that does not answer does not answer this either. */
  close(): void {
    this.fail(new UnspentError('CLOSED', 'the connection to the copy was closed'));
  }

  private fail(error: unknown): UnspentError {
    const told = asCopyError(error);
    if (this.failure !== null) return this.failure;
    this.failure = told;
    // After a time limit the statement may still run: its connection is of no use.
    this.client.end().catch(() => undefined);
    for (const listener of this.listeners) listener();
    return told;
  }
}

function asCopyError(error: unknown): UnspentError {
  if (error instanceof UnspentError) return error;
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code !== undefined && NOTHING_THERE.test(code))
    return new UnspentError('COPY_UNREADY', `nothing is published there: ${message}`, { reason: code }, error);
  const reason = code ?? 'lost';
  return new UnspentError('COPY_UNREACHABLE', `the database of the copy: ${message || reason}`, { reason }, error);
}

/** `\x` and hex. */
function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.slice(2), 'hex');
}
