/**
 * One moment of a copy in PostgreSQL: a transaction that sees one snapshot
 * (REPEATABLE READ, READ ONLY), which other connections join by its exported
 * name. Where a server cannot export snapshots, the moment has one connection.
 */
import type { Row } from '../../../engine/engine.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { COPY_MOMENT_CONNECTIONS } from '../../../util/limits.ts';
import type { CopyHead, RemoteRange, RemoteSnapshot } from '../contract.ts';
import type { CopyConnection } from './connection.ts';

const BEGIN = 'begin isolation level repeatable read read only';

/** Connections that are open and in no transaction. */
export interface ConnectionPool {
  take(): Promise<CopyConnection>;
  giveBack(connection: CopyConnection): void;
}

/** Every snapshot that a copy began with has tables of its own, and the head says which are read. */
export interface PostgresHead extends CopyHead {
  /** What stands before the column in the name of its table. */
  readonly prefix: string;
}

interface HeadRow {
  readonly seq: number;
  readonly epoch: number;
  readonly generation: number;
  readonly form: string;
  readonly publisher: string | null;
  readonly height: number | null;
  readonly slot: number | null;
  readonly published_at: Date | null;
  readonly complete: boolean;
}

interface RowOfColumn {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export class PostgresSnapshot implements RemoteSnapshot {
  readonly head: PostgresHead;
  readonly identity: string;
  private readonly pool: ConnectionPool;
  private readonly schema: string;
  /** The first began it; the others have joined. */
  private readonly connections: CopyConnection[];
  private readonly exported: string | null;
  private joining = 0;
  private isRetired = false;
  private isReleased = false;

  private constructor(
    pool: ConnectionPool,
    schema: string,
    first: CopyConnection,
    head: PostgresHead,
    identity: string,
    exported: string | null,
  ) {
    this.pool = pool;
    this.schema = schema;
    this.connections = [first];
    this.head = head;
    this.identity = identity;
    this.exported = exported;
  }

  /** Throws COPY_UNREACHABLE, COPY_UNREADY. */
  static async take(pool: ConnectionPool, schema: string): Promise<PostgresSnapshot> {
    const connection = await pool.take();
    try {
      await connection.query(BEGIN);
      const head = await readCopyHead(connection, schema);
      const [{ document }] = await connection.query<{ document: string }>(`select document from ${schema}.identity`);
      const exported = await exportSnapshot(connection);
      return new PostgresSnapshot(pool, schema, connection, head, document, exported);
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  get isLost(): boolean {
    return this.connections[0].isLost;
  }

  async getMany(column: string, keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    const text = `select key, value from ${this.table(column)} where key = any($1::bytea[])`;
    const rows = await this.rows(text, [keys], `keys ${this.table(column)}`);
    const found = new Map(rows.map(({ key, value }) => [Buffer.from(key).toString('latin1'), value]));
    return keys.map((key) => found.get(Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')));
  }

  async scan(column: string, { gte, lt, reverse, limit }: RemoteRange): Promise<Row[]> {
    const values: unknown[] = [limit];
    const bound = (operator: string, key: Uint8Array | undefined): string[] => {
      if (key === undefined) return [];
      values.push(Buffer.from(key.buffer, key.byteOffset, key.length));
      return [`key ${operator} $${values.length}`];
    };
    const bounds = [...bound('>=', gte), ...bound('<', lt)];
    const where = bounds.length === 0 ? '' : ` where ${bounds.join(' and ')}`;
    const text = `select key, value from ${this.table(column)}${where} order by key${reverse ? ' desc' : ''} limit $1`;
    const name = `scan${reverse ? ' back' : ''} ${gte === undefined ? '' : 'from'} ${lt === undefined ? '' : 'to'} ${this.table(column)}`;
    const rows = await this.rows(text, values, name);
    return rows.map(({ key, value }) => [key, value] as const);
  }

  /** Where the copy has begun anew, the tables of a moment from before are dropped after a while. */
  private async rows(text: string, values: unknown[], name: string): Promise<RowOfColumn[]> {
    try {
      return await this.connection().query<RowOfColumn>(text, values, name);
    } catch (error) {
      if (!isUnspentError(error, 'COPY_UNREADY')) throw error;
      throw new UnspentError('COPY_MOVED', 'the copy has begun anew, and the rows of this answer are gone', {}, error);
    }
  }

  retire(): void {
    this.isRetired = true;
    for (const connection of this.connections.splice(1)) this.giveBack(connection);
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    for (const connection of this.connections.slice(0)) this.giveBack(connection);
  }

  /** The one with the least to do. If all have something to do, another one joins for the next time. */
  private connection(): CopyConnection {
    if (this.isReleased) throw new UnspentError('CLOSED', 'the moment of the copy was released');
    let least = this.connections[0];
    for (const connection of this.connections) if (!connection.isLost && connection.waiting < least.waiting) least = connection;
    const mayJoin = this.exported !== null && !this.isRetired && this.connections.length + this.joining < COPY_MOMENT_CONNECTIONS;
    if (least.waiting > 0 && mayJoin) void this.join(this.exported);
    return least;
  }

  private async join(exported: string): Promise<void> {
    this.joining++;
    try {
      const connection = await this.pool.take();
      try {
        await connection.query(BEGIN);
        await connection.query(`set transaction snapshot '${exported.replaceAll("'", "''")}'`);
      } catch (error) {
        connection.close();
        throw error;
      }
      if (this.isReleased || this.isRetired) this.giveBack(connection);
      else this.connections.push(connection);
    } catch {
      // The first connection does it alone; if the server is gone, that one says so to whoever asks.
    } finally {
      this.joining--;
    }
  }

  private table(column: string): string {
    return `${this.schema}."${this.head.prefix}${column}"`;
  }

  /** Behind what was asked of it already. */
  private giveBack(connection: CopyConnection): void {
    connection.query('rollback').then(
      () => this.pool.giveBack(connection),
      () => connection.close(),
    );
  }
}

/** Throws COPY_UNREADY. */
export async function readCopyHead(connection: CopyConnection, schema: string): Promise<PostgresHead> {
  const text = `select seq, epoch, generation, form, publisher, height, slot, published_at, complete from ${schema}.head`;
  const [row] = await connection.query<HeadRow>(text, [], `head ${schema}`);
  if (row === undefined) throw new UnspentError('COPY_UNREADY', 'nothing was published there yet');
  const { form, generation, published_at, ...head } = row;
  if (form !== 'columns')
    throw new UnspentError('COPY_UNREADY', `the copy there has the form '${form}', which is for people: readers take the form 'columns'`);
  return { ...head, publishedAt: published_at?.getTime() ?? null, prefix: generation <= 1 ? 'c_' : `c${generation}_` };
}

/** Null: this server has no such thing; a failed statement must not end the transaction. */
async function exportSnapshot(connection: CopyConnection): Promise<string | null> {
  const [known] = await connection.query<{ there: boolean }>("select to_regprocedure('pg_export_snapshot()') is not null as there");
  if (!known.there) return null;
  const [{ id }] = await connection.query<{ id: string }>('select pg_export_snapshot() as id');
  return id;
}
