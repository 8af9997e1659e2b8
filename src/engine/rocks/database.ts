/**
 * An open RocksDB and everything that holds on to it. The binding checks
 * nothing: a call after close, or closing under an open iterator, kills the
 * process. So every call passes here or asks `assertOpen` first, and close
 * takes the iterators away before the database.
 */
import { assert, UnspentError } from '../../util/errors.ts';
import { prefixEnd } from '../../util/key-range.ts';
import { SCAN_BYTES } from '../../util/limits.ts';
import type { ColumnSpec, Row } from '../engine.ts';
import {
  binding,
  type NativeColumn,
  type NativeColumnRef,
  type NativeDatabase,
  type NativeIterator,
  type NativeIteratorOptions,
  type NativeReadOptions,
  type NativeRows,
} from './binding.ts';
import { storeError } from './errors.ts';
import { nativeName } from './native-name.ts';

/** A column with its option objects, made once: the binding reads them at every call. */
export interface RocksColumn {
  readonly spec: ColumnSpec;
  readonly write: NativeColumnRef;
  readonly read: NativeReadOptions;
}

/** No key is longer. */
const KEY_BYTES_MAX = 1024;

/** A place after every key that starts with the prefix, and itself inside the prefix. */
export function lastPlace(prefix: Uint8Array): Uint8Array {
  return prefixEnd(prefix, KEY_BYTES_MAX);
}

export function rowAt(chunk: NativeRows, at: number): Row {
  return [chunk.rows[at], chunk.rows[at + 1]];
}

export class RocksDatabase {
  readonly directory: string;
  readonly native: NativeDatabase;
  readonly #columns: Map<string, RocksColumn>;
  readonly #iterators = new Set<NativeIterator>();
  #open = true;

  constructor(directory: string, native: NativeDatabase, specs: readonly ColumnSpec[], columns: Readonly<Record<string, NativeColumn>>) {
    this.directory = directory;
    this.native = native;
    this.#columns = new Map(
      specs.map((spec) => {
        const column = columns[nativeName(spec)];
        assert(column !== undefined, `column '${spec.name}' is open`);
        return [spec.name, { spec, write: { column }, read: { column, fillCache: true } }];
      }),
    );
  }

  get isOpen(): boolean {
    return this.#open;
  }

  assertOpen(): void {
    if (!this.#open) throw new UnspentError('CLOSED', `the store is closed (${this.directory})`, { directory: this.directory });
  }

  column(name: string): RocksColumn {
    const column = this.#columns.get(name);
    if (column !== undefined) return column;
    this.assertOpen();
    throw new Error(`assertion failed: there is no column '${name}'`);
  }

  /** Option objects of every column by name, for the batch. */
  writeOptions(): Map<string, NativeColumnRef> {
    return new Map([...this.#columns].map(([name, column]) => [name, column.write]));
  }

  getMany(column: RocksColumn, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.assertOpen();
    if (keys.length === 0) return [];
    const values = this.run(() => binding.db_get_many_sync(this.native, keys, column.read));
    return values.includes(null) ? this.#getRest(column, keys, values) : (values as (Uint8Array | undefined)[]);
  }

  /** One native call gives up after 2 GiB of values and says null for the rest; each call returns one at the least. */
  #getRest(
    column: RocksColumn,
    keys: readonly Uint8Array[],
    values: readonly (Uint8Array | undefined | null)[],
  ): (Uint8Array | undefined)[] {
    const rest = this.getMany(
      column,
      keys.filter((_, i) => values[i] === null),
    );
    let next = 0;
    return values.map((value) => (value === null ? rest[next++] : value));
  }

  /** Grows with every committed operation: equal numbers mean equal stores. */
  sequence(): number {
    this.assertOpen();
    return binding.db_get_latest_sequence(this.native);
  }

  openIterator(
    column: RocksColumn,
    options: Omit<NativeIteratorOptions, keyof NativeReadOptions | 'keyEncoding' | 'valueEncoding' | 'highWaterMarkBytes'>,
  ) {
    this.assertOpen();
    // Blocks read by a scan are kept: index and filter blocks live in that cache too.
    const native = { ...options, ...column.read, keyEncoding: 'buffer', valueEncoding: 'buffer', highWaterMarkBytes: SCAN_BYTES } as const;
    const iterator = this.run(() => binding.iterator_init(this.native, native));
    this.#iterators.add(iterator);
    return iterator;
  }

  /** May be called again, and after close. */
  closeIterator(iterator: NativeIterator): void {
    if (this.#iterators.delete(iterator)) binding.iterator_close(iterator);
  }

  nextRows(iterator: NativeIterator, rows: number): NativeRows {
    this.assertOpen();
    return this.run(() => binding.iterator_nextv_sync(iterator, rows));
  }

  run<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      throw storeError(error, this.directory);
    }
  }

  /** From here on every call throws CLOSED. The native database is closed by its owner only. */
  letGo(): void {
    this.#open = false;
    for (const iterator of [...this.#iterators]) this.closeIterator(iterator);
    this.#columns.clear();
  }
}

/** The database that another thread of this process has open under this handle. */
export function attachDatabase(handle: bigint, specs: readonly ColumnSpec[]): RocksDatabase {
  const native = binding.db_init(handle);
  const columns = binding.db_open(native, {}, () => {});
  if (columns === undefined) throw new UnspentError('CLOSED', 'the store to attach to is closed');
  return new RocksDatabase(binding.db_get_location(native), native, specs, columns);
}
