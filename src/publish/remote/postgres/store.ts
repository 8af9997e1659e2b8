/**
 * A published copy in PostgreSQL: the tables that the publisher writes, read
 * through moments that each see one published change. Connections are opened
 * when they are needed and kept for the next moment. The server tells of changes
 * (`notify unspent_head`); on a standby, which cannot listen, asking does.
 */
import { PostgresHosts, parsePostgresUrl } from '../../../sql/postgres-hosts.ts';
import { UnspentError } from '../../../util/errors.ts';
import { COPY_CONNECTIONS_MAX } from '../../../util/limits.ts';
import { withoutSecret } from '../../../util/secret.ts';
import type { CopyHead, RemoteSize, RemoteSnapshot, RemoteStore } from '../contract.ts';
import { CopyConnection, type StatementCount } from './connection.ts';
import { type ConnectionPool, PostgresSnapshot, readCopyHead } from './snapshot.ts';

const CHANNEL = 'unspent_head';
const SCHEMA = 'unspent';

export class PostgresCopy implements RemoteStore, ConnectionPool {
  readonly name: string;
  private readonly hosts: PostgresHosts;
  /** Quoted. */
  private readonly schema: string;
  private readonly count: StatementCount = { statements: 0 };
  private readonly idle: CopyConnection[] = [];
  private open = 0;
  private control: Promise<CopyConnection> | null = null;
  private listener: (() => void) | null = null;
  private isClosed = false;

  /** `postgres://user@host,host/database?schema=NAME`. Throws USAGE. */
  constructor(url: string) {
    const { address, schema } = parts(url);
    this.name = withoutSecret(url);
    this.hosts = new PostgresHosts(address, { writes: false });
    this.schema = `"${schema}"`;
  }

  get statements(): number {
    return this.count.statements;
  }

  async newest(): Promise<CopyHead> {
    return readCopyHead(await this.controlling(), this.schema);
  }

  pin(): Promise<RemoteSnapshot> {
    return PostgresSnapshot.take(this, this.schema);
  }

  async sizes(columns: readonly string[]): Promise<ReadonlyMap<string, RemoteSize>> {
    const text = `select c.relname as name, pg_total_relation_size(c.oid) as bytes, c.reltuples::bigint as rows
      from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = any($2::text[])`;
    const connection = await this.controlling();
    const { prefix } = await readCopyHead(connection, this.schema);
    const values = [this.schema.slice(1, -1), columns.map((column) => `${prefix}${column}`)];
    const rows = await connection.query<{ name: string; bytes: number; rows: number }>(text, values, 'sizes');
    return new Map(rows.map(({ name, bytes, rows: count }) => [name.slice(prefix.length), { bytes, rows: count < 0 ? null : count }]));
  }

  onMove(listener: () => void): void {
    this.listener = listener;
  }

  async take(): Promise<CopyConnection> {
    for (let known = this.idle.pop(); known !== undefined; known = this.idle.pop()) if (!known.isLost) return known;
    if (this.open >= COPY_CONNECTIONS_MAX)
      throw new UnspentError('BUSY', `${this.open} connections to the copy are in use already`, { limit: COPY_CONNECTIONS_MAX });
    this.open++;
    let isCounted = true;
    const forget = (): void => {
      if (isCounted) this.open--;
      isCounted = false;
    };
    try {
      const connection = await CopyConnection.open(this.hosts, this.count);
      connection.onLost(forget);
      return connection;
    } catch (error) {
      forget();
      throw error;
    }
  }

  giveBack(connection: CopyConnection): void {
    if (this.isClosed) connection.close();
    else if (!connection.isLost) this.idle.push(connection);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.listener = null;
    for (const connection of this.idle.splice(0)) connection.close();
    const control = await this.control?.catch(() => null);
    control?.close();
  }

  /** For what is of no moment. */
  private controlling(): Promise<CopyConnection> {
    this.control ??= this.connectControl();
    const opening = this.control;
    opening.catch(() => {
      if (this.control === opening) this.control = null;
    });
    return opening;
  }

  private async connectControl(): Promise<CopyConnection> {
    const connection = await CopyConnection.open(this.hosts, this.count);
    connection.onLost(() => {
      this.control = null;
      this.listener?.();
    });
    connection.onNotification(() => this.listener?.());
    const [{ standby }] = await connection.query<{ standby: boolean }>('select pg_is_in_recovery() as standby');
    if (!standby) await connection.query(`listen ${CHANNEL}`);
    return connection;
  }
}

function parts(text: string): { address: string; schema: string } {
  const url = parsePostgresUrl(text);
  const schema = url.parameters.get('schema') ?? SCHEMA;
  if (!/^[a-zA-Z_][a-zA-Z0-9_]{0,62}$/.test(schema))
    throw new UnspentError('USAGE', `a schema is letters, digits and underscores, not '${schema.slice(0, 80)}'`, { field: 'schema' });
  url.parameters.delete('schema');
  return { address: url.text(), schema };
}
