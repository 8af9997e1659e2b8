/**
 * Writes rows of one generation: batches of one partition each, several at a
 * time. Each write has the number of its version as its timestamp, so it may be
 * written again, by whoever finishes the version, and a removal that comes later
 * wins over a write that was held up.
 */
import { UnspentError } from '../../util/errors.ts';
import { CASSANDRA_BATCH_BYTES, CASSANDRA_BATCH_ROWS } from '../../util/limits.ts';
import { keyText } from '../row-changes.ts';
import { bucketOf } from './buckets.ts';
import type { NumberedColumn } from './generation.ts';
import type { Operation } from './journal.ts';
import { isNothingThere } from './schema.ts';
import { type CassandraSession, forEachInParallel, type Statement } from './session.ts';
import { asBuffer } from './versioned-rows.ts';

export class RowWrites {
  private readonly session: CassandraSession;
  private readonly table: string;
  private readonly bucketTable: string;
  private readonly columns: readonly NumberedColumn[];
  /** Buckets that the table of buckets has, as far as is known here. */
  private readonly known = new Set<string>();

  constructor(session: CassandraSession, table: string, bucketTable: string, columns: readonly NumberedColumn[]) {
    this.session = session;
    this.table = table;
    this.bucketTable = bucketTable;
    this.columns = columns;
  }

  async write(version: bigint, operations: readonly Operation[]): Promise<void> {
    const parts = new Map<string, { readonly bucket: Buffer; readonly operations: Operation[] }>();
    const fresh = new Map<string, readonly [number, Buffer]>();
    for (const operation of operations) {
      const { number, rule } = this.columns[operation.column];
      const bucket = bucketOf(operation.key, rule);
      const text = keyText(bucket);
      const name = `${number} ${text}`;
      if (!this.known.has(name)) fresh.set(name, [number, bucket]);
      const part = parts.get(text);
      if (part === undefined) parts.set(text, { bucket, operations: [operation] });
      else part.operations.push(operation);
    }
    try {
      await this.writeBuckets(fresh);
      await forEachInParallel(this.batches(parts.values(), version), (statements) => this.session.batch(statements, version));
    } catch (error) {
      if (!isNothingThere(error)) throw error;
      const message = `another publisher leads the copy in ${this.session.name}, and has dropped this generation`;
      throw new UnspentError('FENCED', message, { copy: this.session.name }, error);
    }
  }

  /** Before their rows, so that no scan passes them by. */
  private async writeBuckets(fresh: ReadonlyMap<string, readonly [number, Buffer]>): Promise<void> {
    const text = `INSERT INTO ${this.bucketTable} (c, b) VALUES (?, ?)`;
    const columns = new Map<number, Buffer[]>();
    for (const [number, bucket] of fresh.values()) columns.set(number, [...(columns.get(number) ?? []), bucket]);
    await forEachInParallel(columns, ([number, buckets]) =>
      this.session.batch(
        buckets.map((bucket) => ({ text, values: [number, bucket] })),
        1n,
      ),
    );
    for (const name of fresh.keys()) this.known.add(name);
  }

  private *batches(
    parts: Iterable<{ readonly bucket: Buffer; readonly operations: readonly Operation[] }>,
    version: bigint,
  ): Iterable<readonly Statement[]> {
    const put = `INSERT INTO ${this.table} (b, c, k, s, v) VALUES (?, ?, ?, ?, ?)`;
    const deleted = `INSERT INTO ${this.table} (b, c, k, s) VALUES (?, ?, ?, ?)`;
    for (const { bucket, operations } of parts) {
      let statements: Statement[] = [];
      let bytes = 0;
      for (const { column, key, value } of operations) {
        const place = [bucket, column, asBuffer(key), version];
        statements.push(value === undefined ? { text: deleted, values: place } : { text: put, values: [...place, asBuffer(value)] });
        bytes += key.length + (value?.length ?? 0);
        if (statements.length < CASSANDRA_BATCH_ROWS && bytes < CASSANDRA_BATCH_BYTES) continue;
        yield statements;
        [statements, bytes] = [[], 0];
      }
      if (statements.length > 0) yield statements;
    }
  }
}
