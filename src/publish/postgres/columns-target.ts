/**
 * A copy in PostgreSQL in the form `columns`: a table for each of our columns,
 * with the same keys and values. A group of changes is one statement, and so one
 * transaction: the head row moves, which is the fence, and every column's puts
 * and deletes go with it as lists.
 */
import type { Row, ScanOptions } from '../../engine/engine.ts';
import { binaryCopyRows, byteaList } from '../../sql/binary-forms.ts';
import type { PostgresConnection } from '../../sql/postgres-connection.ts';
import { isUnspentError } from '../../util/errors.ts';
import { PUBLISH_GRACE_MS, PUBLISH_SWEEP_MS } from '../../util/limits.ts';
import { type ColumnChange, type CopyChange, countOf } from '../change.ts';
import type { PublishedIdentity } from '../identity.ts';
import { keyText, netted } from '../row-changes.ts';
import type { Claim, CopyTarget, PublishedHead, PublishedMoment, PublishedRows, SnapshotLoad } from '../target.ts';
import { FencedHead, type PostgresTargetOptions } from './fenced-head.ts';
import { generationOf, quoted, tablePrefix } from './schema.ts';

/** Of a key that is there already. */
const UNIQUE_VIOLATION = '23505';

export class PostgresColumns implements CopyTarget {
  readonly form = 'columns';
  readonly rows: PublishedRows;
  private readonly head: FencedHead;
  private readonly graceMs: number;
  /** When the tables of former copies go, on the clock of `performance.now`; null: there are none. */
  private sweepAt: number | null = null;
  /** The tables of a snapshot are being filled: nothing is dropped meanwhile. */
  private isLoading = false;

  constructor(url: string, options: PostgresTargetOptions = {}) {
    this.head = new FencedHead(url, 'columns', options);
    this.graceMs = options.graceMs ?? PUBLISH_GRACE_MS;
    this.rows = {
      get: (column, keys) => this.get(column, keys),
      scan: (column, range) => this.scan(column, range),
    };
  }

  get name(): string {
    return this.head.name;
  }

  async claim(signal: AbortSignal, onWaiting?: () => void): Promise<Claim> {
    const claim = await this.head.claim(signal, onWaiting);
    this.isLoading = false;
    this.sweepAt = performance.now() + this.graceMs;
    return claim;
  }

  async load(identity: PublishedIdentity): Promise<SnapshotLoad> {
    const generation = await this.head.newGeneration();
    const { connection } = this.head;
    this.isLoading = true;
    for (const { name } of identity.columns) {
      // Keys are hashes or numbers, values are written once: no statistics of values, and bytes as they are.
      await connection.query(`CREATE TABLE ${this.table(name, generation)} (key bytea PRIMARY KEY, value bytea NOT NULL)`);
    }
    let isFinishing = false;
    return {
      rows: (column, rows) =>
        connection.copy(`COPY ${this.table(column, generation)} (key, value) FROM STDIN WITH (FORMAT binary)`, binaryCopyRows(rows)),
      finish: async (moment) => {
        isFinishing = true;
        const head = await this.finish(identity, generation, moment);
        this.isLoading = false;
        this.sweepAt = performance.now() + this.graceMs;
        return head;
      },
      abandon: async () => {
        this.isLoading = false;
        // Its answer may be all that was lost: then these are the copy. If they are not, they are dropped with those of others.
        if (isFinishing) return;
        for (const { name } of identity.columns) await connection.query(`DROP TABLE IF EXISTS ${this.table(name, generation)}`);
      },
    };
  }

  private finish(identity: PublishedIdentity, generation: number, moment: PublishedMoment): Promise<PublishedHead> {
    const document = `identity AS (INSERT INTO ${this.head.schema}.identity (one, document)
      SELECT true, $${FencedHead.OWN_VALUES + 1}::text WHERE EXISTS (SELECT 1 FROM fence)
      ON CONFLICT (one) DO UPDATE SET document = excluded.document)`;
    return this.head.moveTo(moment, 1, generation, [document], [JSON.stringify(identity)]);
  }

  async publish(changes: readonly CopyChange[]): Promise<PublishedHead> {
    const columns = netted(changes);
    try {
      return await this.write(changes, columns);
    } catch (error) {
      // A row is there that should not be. Nothing was written, and what is published decides.
      const isThere = isUnspentError(error, 'DATABASE') && error.meta['reason'] === UNIQUE_VIOLATION;
      if (!isThere) throw error;
      return await this.write(
        changes,
        columns.map(({ column, puts, deletes }) => ({ column, puts, deletes })),
      );
    }
  }

  private write(changes: readonly CopyChange[], columns: readonly ColumnChange[]): Promise<PublishedHead> {
    const [last] = changes.slice(-1);
    const parts: string[] = [];
    const values: unknown[] = [];
    const parameter = (list: readonly Uint8Array[]): string => {
      values.push(byteaList(list));
      return `$${FencedHead.OWN_VALUES + values.length}::bytea[]`;
    };
    // Not `FROM unnest`, which keeps all rows before it gives the first. A row that may be there takes half as long again.
    const insert = (table: string, puts: readonly Row[], conflict: string): void => {
      if (puts.length === 0) return;
      const [keys, rows] = [parameter(puts.map(([key]) => key)), parameter(puts.map(([, value]) => value))];
      parts.push(`p${parts.length} AS (INSERT INTO ${table} (key, value) SELECT unnest(${keys}), unnest(${rows})
        WHERE EXISTS (SELECT 1 FROM fence) ${conflict})`);
    };
    for (const { column, puts, deletes, fresh = 0 } of columns) {
      const table = this.table(column, this.head.current.generation);
      insert(table, puts.slice(0, fresh), '');
      insert(table, puts.slice(fresh), 'ON CONFLICT (key) DO UPDATE SET value = excluded.value');
      if (deletes.length > 0)
        parts.push(`d${parts.length} AS (DELETE FROM ${table} WHERE key = ANY (${parameter(deletes)}) AND EXISTS (SELECT 1 FROM fence))`);
    }
    return this.head.move(last, countOf(changes), parts, values);
  }

  async renew(): Promise<void> {
    await this.head.renew();
    if (this.sweepAt === null || this.isLoading || performance.now() < this.sweepAt) return;
    this.sweepAt = null;
    await this.sweep(this.head.connection);
  }

  async close(): Promise<void> {
    await this.head.close();
  }

  /** Drops the tables of copies that were replaced or never completed. Where a reader still holds one, the next turn does. */
  private async sweep(connection: PostgresConnection): Promise<void> {
    const { schema, current } = this.head;
    const rows = await connection.query('SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1', [
      schema.slice(1, -1),
    ]);
    for (const { name } of rows) {
      const generation = generationOf(String(name));
      // Those of a publisher that leads by now have a higher number than we have led with.
      if (generation === null || generation === current.generation || generation > current.epoch) continue;
      try {
        // Sent as one, so that the wait counts for it alone: publishing stands still meanwhile.
        await connection.query(`SET LOCAL lock_timeout = ${PUBLISH_SWEEP_MS}; DROP TABLE IF EXISTS ${schema}.${quoted(String(name))}`);
      } catch (error) {
        if (!isUnspentError(error, 'DATABASE_BUSY')) throw error;
        this.sweepAt = performance.now() + this.graceMs;
      }
    }
  }

  private async get(column: string, keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    const table = this.table(column, this.head.current.generation);
    const rows = await this.head.connection.query(`SELECT key, value FROM ${table} WHERE key = ANY ($1::bytea[])`, [byteaList(keys)]);
    const values = new Map(rows.map((row) => [keyText(row['key'] as Buffer), new Uint8Array(row['value'] as Buffer)]));
    return keys.map((key) => values.get(keyText(key)));
  }

  private async scan(column: string, { gte, lt, reverse, limit }: ScanOptions): Promise<readonly Row[]> {
    const table = this.table(column, this.head.current.generation);
    const values: Buffer[] = [];
    const bound = (sign: string, key: Uint8Array): string => {
      values.push(Buffer.from(key));
      return `key ${sign} $${values.length}`;
    };
    const bounds = [...(gte === undefined ? [] : [bound('>=', gte)]), ...(lt === undefined ? [] : [bound('<', lt)])];
    const where = bounds.length === 0 ? '' : `WHERE ${bounds.join(' AND ')}`;
    const end = `ORDER BY key ${reverse === true ? 'DESC' : 'ASC'} ${limit === undefined ? '' : `LIMIT ${limit}`}`;
    const rows = await this.head.connection.query(`SELECT key, value FROM ${table} ${where} ${end}`, values);
    return rows.map((row) => [new Uint8Array(row['key'] as Buffer), new Uint8Array(row['value'] as Buffer)]);
  }

  private table(column: string, generation: number): string {
    return `${this.head.schema}.${quoted(tablePrefix(generation) + column)}`;
  }
}
