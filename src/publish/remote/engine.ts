/**
 * A published copy as an engine that can only be read: what the server's reads,
 * events and wire shapes stand on as they stand on the database of a fold. Its
 * snapshots are published changes, and rows come from the cache of the change or,
 * over the link, from the database (`attempts.ts`: how that is waited for).
 */
import type { Batch, ColumnSpec, Engine, EngineStats, Row, ScanOptions, Snapshot } from '../../engine/engine.ts';
import { scanRange } from '../../engine/scan-range.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import { keyAfter } from '../../util/key-range.ts';
import { COPY_CACHE_BYTES_MAX, COPY_PAGE_BYTES, COPY_PAGE_ROWS_FIRST, COPY_PAGE_ROWS_MAX } from '../../util/limits.ts';
import { type Attempt, Attempts } from './attempts.ts';
import type { CopyHead, RemoteRange, RemoteSize } from './contract.ts';
import { CopyCache, pageName, type RowPage, rowName, sizeOf } from './copy-cache.ts';
import type { CopyLink, Found } from './link.ts';
import type { Want } from './messages.ts';
import { packKeys, unpackRows, unpackValues } from './pack.ts';
import { Request } from './request.ts';

/** How much larger each page of a scan is than the one before. */
const PAGE_GROWTH = 4;

/** A published change that is read. It is given back with its last reader, once a newer one is current. */
export class PinnedRows {
  readonly pin: number;
  readonly head: CopyHead;
  readonly cache = new CopyCache(COPY_CACHE_BYTES_MAX);
  /** Pages that are on their way: all who want one wait for the same. */
  readonly coming = new Map<string, Request<RowPage>>();
  private readonly onUnused: () => void;
  private readers = 0;
  private isRetired = false;

  constructor(pin: number, head: CopyHead, onUnused: () => void) {
    this.pin = pin;
    this.head = head;
    this.onUnused = onUnused;
  }

  join(): void {
    this.readers++;
  }

  leave(): void {
    this.readers--;
    this.giveBack();
  }

  retire(): void {
    this.isRetired = true;
    this.giveBack();
  }

  private giveBack(): void {
    if (!this.isRetired || this.readers > 0) return;
    this.cache.clear();
    this.onUnused();
  }
}

export class CopyEngine implements Engine {
  readonly columns: readonly ColumnSpec[];
  readonly attempts = new Attempts();
  /** Rows that were fetched. */
  fetchedRows = 0;
  sizes: Readonly<Record<string, RemoteSize>> = {};
  private readonly specs: ReadonlyMap<string, ColumnSpec>;
  private readonly link: CopyLink;
  /** Of what was fetched of each column, for the size of its pages. */
  private readonly rowBytes = new Map<string, number>();
  private current: PinnedRows;

  constructor(link: CopyLink, columns: readonly ColumnSpec[], first: PinnedRows) {
    this.link = link;
    this.columns = columns;
    this.specs = new Map(columns.map((column) => [column.name, column]));
    this.current = first;
  }

  /** The newest change that is read. */
  get head(): CopyHead {
    return this.current.head;
  }

  get cachedBytes(): number {
    return this.current.cache.bytes;
  }

  /** Snapshots that are taken from now on are of this change. */
  advance(to: PinnedRows): void {
    const before = this.current;
    this.current = to;
    before.retire();
  }

  snapshot(): Snapshot {
    return new CopySnapshot(this, this.current);
  }

  /** Of a change that is not current yet. */
  snapshotOf(at: PinnedRows): Snapshot {
    return new CopySnapshot(this, at);
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(column, [key])[0];
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return this.rowsAt(this.current, column, keys);
  }

  scan(column: string, options?: ScanOptions): Iterable<Row> {
    return this.scanAt(this.current, column, options);
  }

  /** Values at a change; from the cache, or by way of an attempt, or asleep. */
  rowsAt(at: PinnedRows, column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const names = keys.map((key) => rowName(column, key));
    const values = names.map((name) => this.known<Uint8Array | null>(at, name));
    const missing = values.flatMap((value, i) => (value === undefined ? [i] : []));
    if (missing.length > 0) {
      this.spec(column);
      const want = { kind: 'keys', column, keys: packKeys(missing.map((i) => keys[i])) } as const;
      const request = this.request(at, want, (found) => {
        const rows = unpackValues(found);
        this.fetchedRows += rows.length;
        missing.forEach((place, i) => {
          values[place] = rows[i] ?? null;
          at.cache.set(names[place], rows[i] ?? null);
        });
      });
      this.waitFor(at, request, (attempt) => {
        for (const i of missing) attempt.keep(names[i], values[i], sizeOf(names[i], values[i] ?? null));
      });
    }
    return values.map((value) => value ?? undefined);
  }

  scanAt(at: PinnedRows, column: string, options?: ScanOptions): Iterable<Row> {
    return this.pages(at, column, scanRange(this.spec(column), options));
  }

  private *pages(at: PinnedRows, column: string, range: ReturnType<typeof scanRange>): Generator<Row, void, void> {
    if (range.empty) return;
    const { reverse } = range;
    let { gte, lt, limit: left } = range;
    for (let size = COPY_PAGE_ROWS_FIRST; ; size = Math.min(COPY_PAGE_ROWS_MAX, size * PAGE_GROWTH)) {
      const wanted = Number.isFinite(left) ? left : size;
      const page = this.page(at, column, { gte, lt, reverse, limit: this.pageRows(column, wanted) });
      const last = page.rows.at(-1)?.[0];
      const isLast = page.isLast || last === undefined || page.rows.length >= left;
      if (!isLast) {
        if (reverse) lt = last;
        else gte = keyAfter(last);
        // Whoever has read more than one page will read the next one.
        const next = Math.min(left - page.rows.length, size * PAGE_GROWTH);
        if (size > COPY_PAGE_ROWS_FIRST) this.readAhead(at, column, { gte, lt, reverse, limit: this.pageRows(column, next) });
      }
      for (const row of page.rows) {
        if (left-- <= 0) return;
        yield row;
      }
      if (isLast) return;
    }
  }

  /** Throws where an attempt must be made again. */
  private page(at: PinnedRows, column: string, range: RemoteRange): RowPage {
    const name = pageName(column, range.gte, range.lt, range.reverse);
    const known = this.known<RowPage>(at, name);
    if (known !== undefined) return known;
    const request = at.coming.get(name) ?? this.requestPage(at, column, name, range);
    return this.waitFor(at, request, (attempt, page) => attempt.keep(name, page, sizeOf(name, page)));
  }

  private readAhead(at: PinnedRows, column: string, range: RemoteRange): void {
    const name = pageName(column, range.gte, range.lt, range.reverse);
    if (this.known(at, name) === undefined && !at.coming.has(name)) this.requestPage(at, column, name, range);
  }

  private requestPage(at: PinnedRows, column: string, name: string, range: RemoteRange): Request<RowPage> {
    const request = this.request(at, { kind: 'scan', column, range }, (found) => {
      const rows = unpackRows(found);
      const page = { rows, isLast: rows.length < range.limit };
      this.fetchedRows += rows.length;
      if (rows.length > 0) this.rowBytes.set(column, found.length / rows.length);
      at.cache.set(name, page);
      return page;
    });
    at.coming.set(name, request);
    request.onSettled = () => at.coming.delete(name);
    return request;
  }

  private request<T>(at: PinnedRows, want: Want, take: (found: Found) => T): Request<T> {
    const request = new Request<T>();
    this.link.fetch(at.pin, want, {
      found: (found) => request.resolve(take(found)),
      missed: (error) => request.reject(error),
    });
    return request;
  }

  /** By ending the attempt that is being made, or asleep. Throws COPY_UNREACHABLE, COPY_MOVED. */
  private waitFor<T>(at: PinnedRows, request: Request<T>, keep: (attempt: Attempt, value: T) => void): T {
    const attempt = this.attempts.current;
    if (attempt !== null) return attempt.miss(request.promise.then((value) => keep(attempt, value)));
    this.link.sleepUntil(at.pin, () => request.isSettled);
    return request.value();
  }

  /** Rows of a page: not so many that their bytes are too many. */
  private pageRows(column: string, wanted: number): number {
    const bytes = this.rowBytes.get(column) ?? COPY_PAGE_BYTES / COPY_PAGE_ROWS_FIRST;
    return Math.max(1, Math.min(wanted, COPY_PAGE_ROWS_MAX, Math.ceil(COPY_PAGE_BYTES / bytes)));
  }

  private known<T>(at: PinnedRows, name: string): T | undefined {
    const kept = this.attempts.current?.rows.get(name);
    return (kept === undefined ? at.cache.row(name) : kept) as T | undefined;
  }

  private spec(column: string): ColumnSpec {
    const spec = this.specs.get(column);
    assert(spec !== undefined, `column '${column}' is in the copy`);
    return spec;
  }

  batch(): Batch {
    throw readOnly();
  }

  clear(): void {
    throw readOnly();
  }

  stats(column?: string): EngineStats {
    const sizes = column === undefined ? Object.values(this.sizes) : [this.sizes[column] ?? { bytes: 0, rows: null }];
    const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
    const [{ rows = null } = {}] = column === undefined ? [] : sizes;
    return { kind: 'copy', bytes, properties: rows === null ? {} : { rows: `${rows}` } };
  }

  async close(): Promise<void> {
    await this.link.close();
  }
}

class CopySnapshot implements Snapshot {
  private readonly engine: CopyEngine;
  private readonly at: PinnedRows;
  private isReleased = false;

  constructor(engine: CopyEngine, at: PinnedRows) {
    this.engine = engine;
    this.at = at;
    at.join();
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(column, [key])[0];
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.assertUsable();
    return this.engine.rowsAt(this.at, column, keys);
  }

  scan(column: string, options?: ScanOptions): Iterable<Row> {
    this.assertUsable();
    return this.engine.scanAt(this.at, column, options);
  }

  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    this.at.leave();
  }

  private assertUsable(): void {
    if (this.isReleased) throw new UnspentError('CLOSED', 'the snapshot was released');
  }
}

function readOnly(): UnspentError {
  return new UnspentError('UNSUPPORTED', 'a published copy is only read here: its publisher writes it');
}
