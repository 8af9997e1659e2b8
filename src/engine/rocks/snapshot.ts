/**
 * One moment of a RocksDB. The binding has no snapshot object; an iterator is
 * one, so a snapshot is a forward and a reverse iterator of every column, all
 * made between two equal sequence numbers.
 *
 * Scans and lookups of a column share its iterators. Each seek makes a new
 * token; a scan whose token is no longer the iterator's seeks again, so they
 * may be interleaved freely.
 */
import { compareBytes, equalBytes, hasPrefix } from '../../util/bytes.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import { SCAN_ROWS } from '../../util/limits.ts';
import type { ColumnSpec, Row, ScanOptions, Snapshot } from '../engine.ts';
import { SCAN_ROWS_FIRST, SCAN_ROWS_GROWTH, type ScanRange, scanRange } from '../scan-range.ts';
import { binding, type NativeIterator, type NativeRows } from './binding.ts';
import { lastPlace, type RocksColumn, type RocksDatabase, rowAt } from './database.ts';

/**
 * Only a writer on another thread can come between two readings of the
 * sequence number. Its commits usually take longer than making the iterators
 * (a few microseconds each), so a few tries do; a writer that never rests
 * between tiny commits may need many.
 */
const SNAPSHOT_MS_MAX = 2000;

const NOTHING = new Uint8Array(0);

class Cursor {
  readonly #database: RocksDatabase;
  readonly #iterator: NativeIterator;
  token = 0;

  constructor(database: RocksDatabase, column: RocksColumn, reverse: boolean) {
    this.#database = database;
    this.#iterator = database.openIterator(column, { reverse });
  }

  seek(target: Uint8Array): number {
    this.#database.assertOpen();
    this.#database.run(() => binding.iterator_seek(this.#iterator, target));
    return ++this.token;
  }

  /** Only after a seek, and not after `finished`. */
  next(rows: number): NativeRows {
    return this.#database.nextRows(this.#iterator, rows);
  }

  close(): void {
    this.#database.closeIterator(this.#iterator);
  }
}

interface Cursors {
  readonly column: RocksColumn;
  readonly forward: Cursor;
  readonly reverse: Cursor;
}

export class RocksSnapshot implements Snapshot {
  readonly #database: RocksDatabase;
  readonly #cursors = new Map<string, Cursors>();
  readonly #sequence: number;
  #released = false;

  constructor(database: RocksDatabase, names: readonly string[]) {
    this.#database = database;
    const columns = [...new Set(names)].map((name) => database.column(name));
    const deadline = performance.now() + SNAPSHOT_MS_MAX;
    do {
      const before = database.sequence();
      this.#openCursors(columns);
      if (database.sequence() === before) {
        this.#sequence = before;
        return;
      }
      this.#closeCursors();
    } while (performance.now() < deadline);
    throw new UnspentError('IO', `the store changes too fast to take a snapshot of it (${database.directory})`, { columns: names });
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(column, [key])[0];
  }

  getMany(name: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const { column, forward } = this.#at(name);
    // While nothing was committed since, the store itself is the snapshot, and its lookups use filters.
    if (this.#database.sequence() === this.#sequence) {
      const values = this.#database.getMany(column, keys);
      if (this.#database.sequence() === this.#sequence) return values;
    }
    return keys.map((key) => {
      forward.seek(key);
      const { rows } = forward.next(1);
      return rows.length > 0 && equalBytes(rows[0], key) ? rows[1] : undefined;
    });
  }

  scan(name: string, options?: ScanOptions): Iterable<Row> {
    const { column, forward, reverse } = this.#at(name);
    const range = scanRange(column.spec, options);
    return this.#rows(range.reverse ? reverse : forward, range, column.spec);
  }

  release(): void {
    this.#released = true;
    this.#closeCursors();
  }

  *#rows(cursor: Cursor, range: ScanRange, column: ColumnSpec): Generator<Row, void, void> {
    if (range.empty) return;
    const { gte, lt, reverse } = range;
    const direction = reverse ? -1 : 1;
    // Whole prefix column: a seek to a full key may miss what lies in other prefixes, but a seek to fewer
    // bytes than a prefix is not filtered. It goes back a little; the rows passed already are skipped.
    const seekBytes = column.access === 'prefix' && range.prefix === undefined ? (column.prefixBytes ?? 0) - 1 : undefined;
    let token = -1;
    let passed: Uint8Array | undefined;
    let left = range.limit;
    for (let rows = SCAN_ROWS_FIRST; ; rows = Math.min(SCAN_ROWS, rows * SCAN_ROWS_GROWTH)) {
      this.#assertUsable();
      if (cursor.token !== token) token = cursor.seek(passed === undefined ? startOf(range) : passed.subarray(0, seekBytes));
      const chunk = cursor.next(Math.min(rows, left + 1));
      const passedBefore = passed;
      passed = farther(passed, chunk, direction);
      for (let at = 0; at < chunk.rows.length; at += 2) {
        const key = chunk.rows[at];
        if (passedBefore !== undefined && direction * compareBytes(key, passedBefore) <= 0) continue;
        if (lt !== undefined && compareBytes(key, lt) >= 0) {
          if (reverse) continue;
          return;
        }
        if (reverse && gte !== undefined && compareBytes(key, gte) < 0) return;
        yield rowAt(chunk, at);
        if (--left === 0) return;
      }
      if (chunk.finished) return;
    }
  }

  #at(name: string): Cursors {
    this.#assertUsable();
    const cursors = this.#cursors.get(name);
    assert(cursors !== undefined, `column '${name}' is in the snapshot`);
    return cursors;
  }

  #assertUsable(): void {
    this.#database.assertOpen();
    if (this.#released) throw new UnspentError('CLOSED', 'the snapshot was released');
  }

  #openCursors(columns: readonly RocksColumn[]): void {
    try {
      for (const column of columns) {
        const forward = new Cursor(this.#database, column, false);
        this.#cursors.set(column.spec.name, { column, forward, reverse: new Cursor(this.#database, column, true) });
      }
    } catch (error) {
      this.#closeCursors();
      throw error;
    }
  }

  #closeCursors(): void {
    for (const { forward, reverse } of this.#cursors.values()) {
      forward.close();
      reverse.close();
    }
    this.#cursors.clear();
  }
}

/** Where a scan starts. Backwards not at an `lt` in the next prefix: the filter would be asked about the wrong one. */
function startOf({ gte, lt, reverse, prefix }: ScanRange): Uint8Array {
  if (!reverse) return gte ?? NOTHING;
  return lt !== undefined && (prefix === undefined || hasPrefix(lt, prefix)) ? lt : lastPlace(prefix ?? NOTHING);
}

/** A copy of the last key of the chunk, or what was passed before when a seek went back behind it. */
function farther(passed: Uint8Array | undefined, { rows }: NativeRows, direction: number): Uint8Array | undefined {
  const last = rows.at(-2);
  if (last === undefined || (passed !== undefined && direction * compareBytes(last, passed) <= 0)) return passed;
  return Uint8Array.from(last);
}
