/**
 * What we use of @nxtedition/rocksdb, typed. The package has no types, and its
 * public API (abstract-level) costs twice the native call per put, so this is
 * the native binding itself. The version is pinned exactly: this file was
 * checked against the source of that version.
 *
 * Nothing here is safe by itself: a call on a closed database, a closed
 * iterator, or `nextv` after `finished` kills the process. rocks.ts and
 * rocks-snapshot.ts keep those promises.
 */
import { createRequire } from 'node:module';

declare const kind: unique symbol;
type Opaque<Name extends string> = { readonly [kind]: Name };

export type NativeDatabase = Opaque<'database'>;
export type NativeColumn = Opaque<'column'>;
export type NativeIterator = Opaque<'iterator'>;
type NativeBatch = Opaque<'batch'>;

/** Options of one column. An unknown name is ignored without a word, hence the exact list. */
export interface NativeColumnOptions {
  /** Sets write_buffer_size to a quarter of the budget, merges two memtables a flush, zstd from level 2 down. */
  readonly compaction: 'level';
  readonly memtableMemoryBudget: number;
  /** Zstd dictionaries. With `compaction: 'level'` levels 2 and deeper are zstd either way. */
  readonly compression: boolean;
  /** A 32-bit number. */
  readonly cacheSize: number;
  readonly cacheIndexAndFilterBlocks: boolean;
  readonly optimize?: 'point-lookup';
  readonly filterPolicy?: string;
  readonly prefixExtractor?: string;
}

export interface NativeOpenOptions {
  readonly createIfMissing: boolean;
  readonly parallelism: number;
  readonly walCompression: boolean;
  /** Every column of the database, `default` included. */
  readonly columns: Readonly<Record<string, NativeColumnOptions>>;
}

/** Made once per column and reused: the binding looks the property up at every call. */
export interface NativeColumnRef {
  readonly column: NativeColumn;
}

export interface NativeReadOptions extends NativeColumnRef {
  readonly fillCache: boolean;
}

export interface NativeIteratorOptions extends NativeReadOptions {
  /** Both encodings are needed: without them the binding reads an uninitialised variable. */
  readonly keyEncoding: 'buffer';
  readonly valueEncoding: 'buffer';
  readonly reverse?: boolean;
  readonly gte?: Uint8Array;
  readonly lt?: Uint8Array;
  /** A 32-bit number. */
  readonly limit?: number;
  /** A call for rows ends behind the one that passes this. */
  readonly highWaterMarkBytes: number;
}

export interface NativeRows {
  /** key, value, key, value, ... */
  readonly rows: readonly Uint8Array[];
  readonly finished: boolean;
}

/** Keys and values are Buffers or Uint8Arrays of the exact length; the binding's own "slice" object reads the wrong range. */
export interface RocksBinding {
  /** A path makes a database; a handle attaches to one that another thread has open. */
  db_init(pathOrHandle: string | bigint): NativeDatabase;
  /** Returns the columns at once when the database is open already (attached by handle), else calls back. */
  db_open(
    database: NativeDatabase,
    options: NativeOpenOptions | Record<string, never>,
    callback: (error: Error | null, columns: Record<string, NativeColumn>) => void,
  ): Record<string, NativeColumn> | undefined;
  db_close(database: NativeDatabase, callback: (error: Error | null) => void): void;
  db_get_handle(database: NativeDatabase): bigint;
  db_get_location(database: NativeDatabase): string;
  db_get_many_sync(database: NativeDatabase, keys: readonly Uint8Array[], options: NativeReadOptions): (Uint8Array | undefined | null)[];
  /** Of the default column only. */
  db_get_property(database: NativeDatabase, name: string): string;
  /** One range tombstone over all keys of the column from `gte` (the first) to below `lt`. */
  db_clear(database: NativeDatabase, options: NativeColumnRef & { readonly gte?: Uint8Array; readonly lt: Uint8Array }): void;
  db_get_latest_sequence(database: NativeDatabase): number;

  /** Stands at the first key (the last, reversed) inside its bounds. */
  iterator_init(database: NativeDatabase, options: NativeIteratorOptions): NativeIterator;
  /** Forward: to the first key at or after the target. Reverse: to the last key at or before it. */
  iterator_seek(iterator: NativeIterator, target: Uint8Array): void;
  iterator_nextv_sync(iterator: NativeIterator, rows: number): NativeRows;
  iterator_close(iterator: NativeIterator): void;

  batch_init(): NativeBatch;
  batch_put(batch: NativeBatch, key: Uint8Array, value: Uint8Array, column: NativeColumnRef): void;
  batch_del(batch: NativeBatch, key: Uint8Array, column: NativeColumnRef): void;
  batch_clear(batch: NativeBatch): void;
  batch_count(batch: NativeBatch): number;
  /** Synchronous; the batch keeps its content until it is cleared. */
  batch_write(database: NativeDatabase, batch: NativeBatch, options: { readonly sync: boolean }): void;
}

export const binding: RocksBinding = createRequire(import.meta.url)('@nxtedition/rocksdb/binding.js');
