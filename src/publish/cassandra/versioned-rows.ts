/**
 * Rows of one generation of a copy, read as they were published with a version:
 * of each key the newest version that is not above it. Rows of a version that is
 * under way are there already, above.
 *
 * A scan goes through the buckets between its bounds in their order, which is
 * that of the keys. Most scans stay in one; for others the table of buckets says
 * which there are, and the next ones are asked while one is read.
 */
import type { Row } from '../../engine/engine.ts';
import { compareBytes } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { CASSANDRA_BUCKETS_AHEAD, CASSANDRA_KEYS_MAX, CASSANDRA_PAGE_ROWS_MAX } from '../../util/limits.ts';
import { keyText } from '../row-changes.ts';
import { bucketOf } from './buckets.ts';
import type { NumberedColumn } from './generation.ts';
import { type CassandraRow, type CassandraSession, forEachInParallel, type Value } from './session.ts';

export interface VersionedRange {
  readonly gte?: Uint8Array | undefined;
  readonly lt?: Uint8Array | undefined;
  readonly reverse?: boolean | undefined;
  readonly limit?: number | undefined;
}

export class VersionedRows {
  private readonly session: CassandraSession;
  private readonly table: string;
  private readonly bucketTable: string;
  private readonly columns: ReadonlyMap<string, NumberedColumn>;

  constructor(session: CassandraSession, table: string, bucketTable: string, columns: ReadonlyMap<string, NumberedColumn>) {
    this.session = session;
    this.table = table;
    this.bucketTable = bucketTable;
    this.columns = columns;
  }

  /** Values in the order of the keys. */
  async getMany(name: string, keys: readonly Uint8Array[], version: bigint): Promise<(Uint8Array | undefined)[]> {
    const { number, rule } = this.column(name);
    const buckets = new Map<string, { readonly bucket: Buffer; readonly keys: Uint8Array[] }>();
    for (const key of keys) {
      const bucket = bucketOf(key, rule);
      const text = keyText(bucket);
      const known = buckets.get(text);
      if (known === undefined) buckets.set(text, { bucket, keys: [key] });
      else known.keys.push(key);
    }
    const values = new Map<string, Uint8Array>();
    const text = `SELECT k, s, v FROM ${this.table} WHERE b = ? AND c = ? AND k IN ? AND s <= ? GROUP BY b, c, k`;
    await forEachInParallel(portions([...buckets.values()]), async (part) => {
      const rows = await this.session.read(text, [part.bucket, number, part.keys.map(asBuffer), version]);
      for (const row of rows) if (row['v'] !== null) values.set(keyText(row['k'] as Buffer), bytesOf(row['v']));
    });
    return keys.map((key) => values.get(keyText(key)));
  }

  /** Rows in key order, or from the last to the first. */
  async scan(name: string, range: VersionedRange, version: bigint): Promise<Row[]> {
    const column = this.column(name);
    const limit = range.limit ?? Number.POSITIVE_INFINITY;
    const { gte, lt, reverse = false } = range;
    if (limit <= 0 || (gte !== undefined && lt !== undefined && compareBytes(gte, lt) >= 0)) return [];
    const buckets = await this.bucketsOf(column, gte, lt);
    if (reverse) buckets.reverse();
    const found: Row[] = [];
    for (let next = 0, width = 1; next < buckets.length && found.length < limit; next += width, width = CASSANDRA_BUCKETS_AHEAD) {
      const parts = buckets.slice(next, next + width);
      const rows = await Promise.all(parts.map((bucket) => this.scanBucket(column.number, bucket, range, limit - found.length, version)));
      for (const row of rows.flat()) {
        if (found.length >= limit) break;
        found.push(row);
      }
    }
    return found;
  }

  /** Those in which there may be rows of the column between the bounds, in order. */
  private async bucketsOf({ number, rule }: NumberedColumn, gte: Uint8Array | undefined, lt: Uint8Array | undefined): Promise<Buffer[]> {
    const from = gte === undefined ? null : bucketOf(gte, rule);
    const to = lt === undefined ? null : bucketOf(lt, rule);
    if (from !== null && to !== null && from.equals(to)) return [from];
    const bounds = [...(from === null ? [] : ['b >= ?']), ...(to === null ? [] : ['b <= ?'])];
    const text = [`SELECT b FROM ${this.bucketTable} WHERE c = ?`, ...bounds].join(' AND ');
    const rows = await this.session.read(text, [number, ...[from, to].filter((bound) => bound !== null)]);
    return rows.map((row) => row['b'] as Buffer);
  }

  private async scanBucket(
    number: number,
    bucket: Buffer,
    { gte, lt, reverse = false }: VersionedRange,
    limit: number,
    version: bigint,
  ): Promise<Row[]> {
    const values: Value[] = [bucket, number];
    const bounds: string[] = [];
    const bound = (operator: string, key: Uint8Array | undefined): void => {
      if (key === undefined) return;
      bounds.push(` AND k ${operator} ?`);
      values.push(asBuffer(key));
    };
    bound('>=', gte);
    bound('<', lt);
    const order = reverse ? ' ORDER BY c DESC, k DESC, s ASC' : '';
    const text = `SELECT k, s, v FROM ${this.table} WHERE b = ? AND c = ?${bounds.join('')}${order}`;
    const newest = new NewestVersions(version, reverse);
    for (let state: string | null = null; ; ) {
      // Some keys have several versions, and some are deleted.
      const rows = Math.min(CASSANDRA_PAGE_ROWS_MAX, limit - newest.rows.length + 8);
      const page = await this.session.page(text, values, rows, state);
      for (const row of page.rows) newest.take(row);
      if (page.next === null) newest.end();
      if (page.next === null || newest.rows.length >= limit) return newest.rows.slice(0, limit);
      state = page.next;
    }
  }

  private column(name: string): NumberedColumn {
    const column = this.columns.get(name);
    assert(column !== undefined, `the copy has the column ${name}`);
    return column;
  }
}

/** Of versions in the order of the table, or the other way: for each key the newest that is published. */
class NewestVersions {
  readonly rows: Row[] = [];
  private readonly version: bigint;
  private readonly reverse: boolean;
  private key: Buffer | null = null;
  /** The version that counts so far; null: none. */
  private value: CassandraRow | null = null;

  constructor(version: bigint, reverse: boolean) {
    this.version = version;
    this.reverse = reverse;
  }

  take(row: CassandraRow): void {
    const key = row['k'] as Buffer;
    if (this.key === null || !this.key.equals(key)) {
      this.end();
      this.key = key;
    }
    if ((row['s'] as bigint) > this.version) return;
    // Newest first, so the first counts; in reverse the last.
    if (this.value === null || this.reverse) this.value = row;
  }

  /** No more versions of this key come. */
  end(): void {
    const { value } = this;
    if (this.key !== null && value !== null && value['v'] !== null) this.rows.push([bytesOf(this.key), bytesOf(value['v'])]);
    this.key = null;
    this.value = null;
  }
}

/** A bucket with many keys is asked in portions: one statement holds its node up for as long as it takes. */
function* portions(
  buckets: Iterable<{ readonly bucket: Buffer; readonly keys: readonly Uint8Array[] }>,
): Iterable<{ readonly bucket: Buffer; readonly keys: readonly Uint8Array[] }> {
  for (const { bucket, keys } of buckets)
    for (let at = 0; at < keys.length; at += CASSANDRA_KEYS_MAX) yield { bucket, keys: keys.slice(at, at + CASSANDRA_KEYS_MAX) };
}

/** As the driver takes them. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** Of their own: what the driver gives is a view of all that came with it. */
function bytesOf(value: unknown): Uint8Array {
  return Uint8Array.from(value as Buffer);
}
