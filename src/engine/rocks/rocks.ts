/**
 * The engine on RocksDB: where every byte of a store rests. One native write
 * batch is reused for ever, lookups are one native call for all keys, a scan
 * has an iterator of its own. Tuning, errors and snapshots have their own files.
 */

import { hasPrefix } from '../../util/bytes.ts';
import { SCAN_ROWS } from '../../util/limits.ts';
import type { Batch, ColumnSpec, CommitsAhead, Engine, EngineStats, Row, ScanOptions, Snapshot } from '../engine.ts';
import type { PinnedFiles } from '../pinned-files.ts';
import { SCAN_ROWS_FIRST, SCAN_ROWS_GROWTH, type ScanRange, scanRange } from '../scan-range.ts';
import { markOpen, type UncleanShutdown, writeSeal } from '../seal.ts';
import { WriteCounters } from '../write-counters.ts';
import { RocksBatch } from './batch.ts';
import { binding, type NativeColumn } from './binding.ts';
import { pinFiles } from './checkpoint.ts';
import { attachDatabase, lastPlace, type RocksColumn, RocksDatabase, rowAt } from './database.ts';
import { storeError } from './errors.ts';
import { ManifestReader } from './manifest.ts';
import { nativeName } from './native-name.ts';
import { closeNative, openDatabase } from './open.ts';
import { RocksSnapshot } from './snapshot.ts';
import { databaseStats, rocksColumnStats, STATS_ROWS_MAX } from './stats.ts';
import { Tables } from './tables.ts';
import { nativeNames, nativeOptions, type RocksOptions, type WriterThread } from './tuning.ts';
import { hasSecondCore, RocksWriter } from './writer/writer.ts';

/** What another thread needs to read the same database. */
export interface RocksHandle {
  readonly kind: 'rocks';
  readonly database: bigint;
  readonly counters: SharedArrayBuffer;
}

export interface RocksEngine extends Engine {
  /** For `attachRocks` in a worker of this process, as long as this engine is open. */
  readonly handle: RocksHandle;
  /** Who had the store open before and did not close it: RocksDB has recovered it from its logs. */
  readonly unclosed: UncleanShutdown | null;
  /** The files of this moment, held in a folder of `place`; null: the file system cannot. */
  pinFiles(place: string): PinnedFiles | null;
}

/**
 * Opens or creates the database in the directory. A column it does not have yet
 * is made; one it has and nobody names is STORE_SHAPE. When it fails, the store
 * is what it was.
 */
export async function openRocks(directory: string, columns: readonly ColumnSpec[], options: RocksOptions): Promise<RocksEngine> {
  const engine = await openAsIs(directory, columns, options);
  if (!engine.emptied) return engine;
  // Only when it is opened does RocksDB move all it has in memory into tables. Then it gives the space back, and the
  // log, which a column that nobody writes to would keep alive.
  const { unclosed } = engine;
  await engine.close();
  return Object.assign(await openAsIs(directory, columns, options), { unclosed });
}

async function openAsIs(directory: string, columns: readonly ColumnSpec[], options: RocksOptions): Promise<Rocks> {
  const { native, handles, unclosed } = await openDatabase(
    directory,
    nativeOptions(columns, options),
    nativeNames(columns, options.existing ?? []),
  );
  const opened = { unclosed, writerThread: options.writerThread ?? 'auto' };
  const engine = new Rocks(new RocksDatabase(directory, native, columns, handles), columns, opened);
  markOpen(directory);
  await engine.empty(options.retired ?? [], handles);
  return engine;
}

/**
 * The same database in another thread, to read. It must be closed before the
 * engine whose handle it is; closing it closes only what it opened itself.
 */
export function attachRocks(handle: RocksHandle, columns: readonly ColumnSpec[]): Engine {
  return new Rocks(attachDatabase(handle.database, columns), columns, null, handle.counters);
}

class Rocks implements RocksEngine {
  readonly columns: readonly ColumnSpec[];
  readonly handle: RocksHandle;
  readonly #database: RocksDatabase;
  readonly #batch: RocksBatch;
  readonly #tables: Tables;
  readonly #manifest: ManifestReader;
  readonly #counters: WriteCounters;
  readonly #owner: boolean;
  readonly #writerThread: WriterThread;
  #writer: RocksWriter | null = null;
  unclosed: UncleanShutdown | null;
  /** There was something in a retired column when it was opened. */
  emptied = false;
  #closing: Promise<void> | undefined;

  /** `opened` null: another thread has opened it, and closes it. */
  constructor(
    database: RocksDatabase,
    columns: readonly ColumnSpec[],
    opened: { readonly unclosed: UncleanShutdown | null; readonly writerThread: WriterThread } | null,
    counters?: SharedArrayBuffer,
  ) {
    this.columns = columns;
    this.#database = database;
    this.#counters = new WriteCounters(
      columns.map(({ name }) => name),
      counters,
    );
    this.handle = { kind: 'rocks', database: binding.db_get_handle(database.native), counters: this.#counters.shared };
    this.#batch = new RocksBatch(database, this.#counters, () => this.#settle());
    this.#tables = new Tables(database.directory);
    this.#manifest = new ManifestReader(database.directory);
    this.#owner = opened !== null;
    this.#writerThread = opened?.writerThread ?? 'off';
    this.unclosed = opened?.unclosed ?? null;
  }

  /** Empties columns that nobody asks for; the binding cannot drop them. */
  async empty(retired: readonly string[], handles: Readonly<Record<string, NativeColumn>>): Promise<void> {
    const specs = retired.map((name): ColumnSpec => ({ name, access: 'order', weight: 0 }));
    const { directory, native } = this.#database;
    const engine = new Rocks(new RocksDatabase(directory, native, specs, handles), specs, null);
    try {
      for (const name of retired) {
        if ([...engine.scan(name, { limit: 1 })].length === 0) continue;
        engine.clear(name);
        this.emptied = true;
      }
      await engine.close();
    } catch (error) {
      await engine.close();
      await this.close();
      throw error;
    }
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(column, [key])[0];
  }

  getMany(name: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const column = this.#database.column(name);
    if (this.#writer?.isPlanning) return this.#writer.getMany(name, keys, (rest) => this.#database.getMany(column, rest));
    this.#settle();
    return this.#database.getMany(column, keys);
  }

  scan(name: string, options?: ScanOptions): Iterable<Row> {
    const column = this.#database.column(name);
    return this.#rows(column, scanRange(column.spec, options));
  }

  batch(): Batch {
    this.#database.assertOpen();
    this.#settle();
    // Few batches are direct while groups of blocks come; at the tip all are.
    this.#writer?.rest();
    this.#batch.clear();
    return this.#batch;
  }

  ahead(): CommitsAhead | null {
    this.#database.assertOpen();
    if (this.#writerThread === 'off' || (this.#writerThread === 'auto' && !hasSecondCore())) return null;
    this.#writer ??= new RocksWriter(this.handle, this.columns);
    if (this.#writerThread === 'on') this.#writer.start();
    return this.#writer.isReady ? this.#writer : null;
  }

  /** Nothing is on its way to the disk in another thread any more. */
  #settle(): void {
    this.#writer?.settle();
  }

  snapshot(columns: readonly string[]): Snapshot {
    this.#database.assertOpen();
    this.#settle();
    return new RocksSnapshot(this.#database, columns);
  }

  clear(column: string): void {
    const { write } = this.#database.column(column);
    this.#settle();
    this.#database.run(() => binding.db_clear(this.#database.native, { ...write, lt: lastPlace(new Uint8Array(0)) }));
    this.#counters.cleared(column);
  }

  stats(column?: string): EngineStats {
    this.#database.assertOpen();
    this.#settle();
    if (column === undefined) return databaseStats(this.#database);
    const name = nativeName(this.#database.column(column).spec);
    const inTables = this.#manifest.read().columns.find((each) => each.name === name)?.tableSequence ?? 0;
    const rows = this.scan(column, { limit: STATS_ROWS_MAX });
    return rocksColumnStats(this.#tables.of(name), this.#counters.addedAfter(column, inTables), rows);
  }

  pinFiles(place: string): PinnedFiles | null {
    this.#settle();
    return pinFiles(this.#database.directory, place, this.#database.sequence());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { directory, native } = this.#database;
    this.#settle();
    const sequence = this.#database.sequence();
    this.#batch.letGo();
    this.#database.letGo();
    if (!this.#owner) return;
    try {
      await this.#writer?.close();
      await closeNative(native);
      writeSeal(directory, sequence);
    } catch (error) {
      throw storeError(error, directory);
    }
  }

  *#rows(column: RocksColumn, range: ScanRange): Generator<Row, void, void> {
    if (range.empty) return;
    this.#settle();
    const iterator = this.#openIterator(column, range);
    try {
      for (let rows = SCAN_ROWS_FIRST, left = range.limit; ; rows = Math.min(SCAN_ROWS, rows * SCAN_ROWS_GROWTH)) {
        const chunk = this.#database.nextRows(iterator, Math.min(rows, left));
        for (let at = 0; at < chunk.rows.length; at += 2) yield rowAt(chunk, at);
        left -= chunk.rows.length / 2;
        if (chunk.finished || left === 0) return;
      }
    } finally {
      this.#database.closeIterator(iterator);
    }
  }

  /**
   * With bounds, RocksDB itself stops at the end and does not walk the deleted
   * keys beyond it. It starts a bounded reverse iterator by seeking to `lt`, and
   * when that is in the next prefix the filter is asked about the wrong one: so
   * such a scan has no upper bound and seeks to the last place of its own prefix.
   */
  #openIterator(column: RocksColumn, { gte, lt, reverse, prefix }: ScanRange) {
    const leaves = reverse && prefix !== undefined && lt !== undefined && !hasPrefix(lt, prefix);
    const iterator = this.#database.openIterator(column, {
      reverse,
      ...(gte === undefined ? {} : { gte }),
      ...(lt === undefined || leaves ? {} : { lt }),
    });
    if (leaves) this.#database.run(() => binding.iterator_seek(iterator, lastPlace(prefix)));
    return iterator;
  }
}
