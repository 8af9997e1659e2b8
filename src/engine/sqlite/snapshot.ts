/**
 * Reading at one moment of a SQLite store: the rows of a scan, and snapshots.
 * Each chunk of rows is a question of its own inside the transaction that holds
 * the moment, so scans and lookups may be interleaved freely.
 */
import { assert, UnspentError } from '../../util/errors.ts';
import { keyAfter } from '../../util/key-range.ts';
import { SCAN_ROWS } from '../../util/limits.ts';
import type { Row, ScanOptions, Snapshot } from '../engine.ts';
import { SCAN_ROWS_FIRST, SCAN_ROWS_GROWTH, type ScanRange, scanRange } from '../scan-range.ts';
import type { ChunkBounds, SqliteConnection } from './connection.ts';
import { sqliteError } from './errors.ts';
import type { Pin, SqliteReaders } from './readers.ts';
import type { SqliteColumn } from './row.ts';

/** The rows of a scan at a pin, fetched in chunks; between two of them the pin may be renewed. */
export function* pinnedRows(pin: Pin, column: SqliteColumn, range: ScanRange, assertUsable: () => void): Generator<Row, void, void> {
  const { reverse } = range;
  let bounds: ChunkBounds = { gte: range.gte?.length === 0 ? undefined : range.gte, lt: range.lt, reverse };
  for (let asked = SCAN_ROWS_FIRST, left = range.limit; ; asked = Math.min(SCAN_ROWS, asked * SCAN_ROWS_GROWTH)) {
    assertUsable();
    const { rows, isLast } = connectionOf(pin).chunk(column, bounds, Math.min(asked, left));
    // Before the rows are handed out: they are the caller's to change.
    const last = rows.at(-1)?.[0].slice();
    for (const row of rows) {
      assertUsable();
      yield row;
    }
    left -= rows.length;
    if (last === undefined || isLast || left === 0) return;
    bounds = reverse ? { ...bounds, lt: last } : { ...bounds, gte: keyAfter(last) };
  }
}

function connectionOf({ connection }: Pin): SqliteConnection {
  if (connection === null) throw new UnspentError('CLOSED', 'the snapshot was released');
  return connection;
}

export class SqliteSnapshot implements Snapshot {
  readonly #readers: SqliteReaders;
  readonly #columns: ReadonlyMap<string, SqliteColumn>;
  readonly #assertOpen: () => void;
  readonly #pin: Pin;

  constructor(readers: SqliteReaders, columns: ReadonlyMap<string, SqliteColumn>, assertOpen: () => void) {
    this.#readers = readers;
    this.#columns = columns;
    this.#assertOpen = assertOpen;
    this.#pin = readers.pin();
  }

  get(name: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(name, [key])[0];
  }

  getMany(name: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const column = this.#column(name);
    return this.#run(() => connectionOf(this.#pin).getMany(column, keys));
  }

  scan(name: string, options?: ScanOptions): Iterable<Row> {
    const column = this.#column(name);
    return this.#rows(column, scanRange(column.spec, options));
  }

  release(): void {
    this.#readers.unpin(this.#pin);
  }

  *#rows(column: SqliteColumn, range: ScanRange): Generator<Row, void, void> {
    if (range.empty) return;
    try {
      yield* pinnedRows(this.#pin, column, range, () => this.#assertUsable());
    } catch (error) {
      throw sqliteError(error, this.#readers.place.directory);
    }
  }

  #column(name: string): SqliteColumn {
    this.#assertUsable();
    const column = this.#columns.get(name);
    assert(column !== undefined, `column '${name}' is in the snapshot`);
    return column;
  }

  #assertUsable(): void {
    this.#assertOpen();
    connectionOf(this.#pin);
  }

  #run<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw sqliteError(error, this.#readers.place.directory);
    }
  }
}
