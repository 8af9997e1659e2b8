/**
 * Reads of a published copy for code that reads synchronously: an attempt that
 * meets rows which are not at hand is given up, the rows are fetched, and it is
 * made again. For the rare case that only the copy knows what is needed: blocks
 * that were undone, or pruned, while nobody published.
 */
import type { Reader, Row, ScanOptions } from '../engine/engine.ts';
import { UnspentError } from '../util/errors.ts';
import { PUBLISH_ATTEMPTS_MAX } from '../util/limits.ts';
import { keyText } from './row-changes.ts';
import type { PublishedRows } from './target.ts';

class RowsWanted extends Error {
  readonly fetch: () => Promise<void>;

  constructor(fetch: () => Promise<void>) {
    super('rows are to be fetched');
    this.fetch = fetch;
  }
}

class FetchedRows implements Reader {
  private readonly source: PublishedRows;
  private readonly values = new Map<string, Map<string, Uint8Array | undefined>>();
  private readonly scans = new Map<string, readonly Row[]>();

  constructor(source: PublishedRows) {
    this.source = source;
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(column, [key])[0];
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const values = this.values.get(column) ?? new Map<string, Uint8Array | undefined>();
    this.values.set(column, values);
    const missing = keys.filter((key) => !values.has(keyText(key))).map((key) => Uint8Array.from(key));
    if (missing.length > 0) {
      throw new RowsWanted(async () => {
        const found = await this.source.get(column, missing);
        missing.forEach((key, i) => {
          values.set(keyText(key), found[i]);
        });
      });
    }
    return keys.map((key) => values.get(keyText(key))?.slice());
  }

  scan(column: string, options: ScanOptions = {}): Iterable<Row> {
    const { gte, lt, reverse = false, limit } = options;
    const name = [column, gte && keyText(gte), lt && keyText(lt), reverse, limit].join('\0');
    const rows = this.scans.get(name);
    if (rows !== undefined) return rows.map(([key, value]) => [key.slice(), value.slice()] as const);
    const range = { ...options, ...(gte && { gte: gte.slice() }), ...(lt && { lt: lt.slice() }) };
    throw new RowsWanted(async () => {
      this.scans.set(name, await this.source.scan(column, range));
    });
  }
}

/** `body` reads, changes nothing, and may be called many times. */
export async function withFetchedRows<T>(source: PublishedRows, body: (reader: Reader) => T): Promise<T> {
  const reader = new FetchedRows(source);
  for (let attempts = 0; attempts < PUBLISH_ATTEMPTS_MAX; attempts++) {
    try {
      return body(reader);
    } catch (error) {
      if (!(error instanceof RowsWanted)) throw error;
      await error.fetch();
    }
  }
  throw new UnspentError('EXPIRED', `reading the copy took more than ${PUBLISH_ATTEMPTS_MAX} attempts; it begins anew`);
}
