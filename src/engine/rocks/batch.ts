/**
 * The batch of RocksDB: one native batch that is filled, written and filled
 * again for ever, and the counts of what each commit adds to a column.
 */
import type { Batch } from '../engine.ts';
import type { WriteCounters } from '../write-counters.ts';
import { binding, type NativeColumnRef } from './binding.ts';
import type { RocksDatabase } from './database.ts';
import { storeError } from './errors.ts';

/** What the binding is given with each operation, and how many there were since the batch was empty. */
interface BatchColumn extends NativeColumnRef {
  puts: number;
  deletions: number;
}

export class RocksBatch implements Batch {
  readonly #database: RocksDatabase;
  readonly #native = binding.batch_init();
  readonly #counters: WriteCounters;
  readonly #columns: Map<string, BatchColumn>;
  readonly #settle: () => void;

  /** `settle` returns when what was handed to another thread before is written. */
  constructor(database: RocksDatabase, counters: WriteCounters, settle: () => void) {
    this.#database = database;
    this.#settle = settle;
    this.#counters = counters;
    this.#columns = new Map([...database.writeOptions()].map(([name, { column }]) => [name, { column, puts: 0, deletions: 0 }]));
  }

  // Called for every key the fold writes: a map lookup, a count and the native call, nothing else.
  put(column: string, key: Uint8Array, value: Uint8Array): void {
    const target = this.#columns.get(column) ?? this.#unknown(column);
    target.puts++;
    binding.batch_put(this.#native, key, value, target);
  }

  del(column: string, key: Uint8Array): void {
    const target = this.#columns.get(column) ?? this.#unknown(column);
    target.deletions++;
    binding.batch_del(this.#native, key, target);
  }

  get size(): number {
    return binding.batch_count(this.#native);
  }

  commit(options?: { readonly fsync?: boolean }): void {
    this.#database.assertOpen();
    this.#settle();
    try {
      binding.batch_write(this.#database.native, this.#native, options?.fsync === true ? SYNC : NO_SYNC);
      this.#count();
    } catch (error) {
      throw storeError(error, this.#database.directory);
    } finally {
      this.clear();
    }
  }

  clear(): void {
    binding.batch_clear(this.#native);
    for (const target of this.#columns.values()) target.puts = target.deletions = 0;
  }

  #count(): void {
    const sequence = () => this.#database.sequence();
    for (const [name, { puts, deletions }] of this.#columns) {
      if (puts + deletions > 0) this.#counters.add(name, puts - deletions, puts + deletions, sequence);
    }
  }

  /** Column handles die with the database; without them no put can reach one. */
  letGo(): void {
    this.#columns.clear();
    binding.batch_clear(this.#native);
  }

  #unknown(column: string): never {
    this.#database.assertOpen();
    throw new Error(`assertion failed: there is no column '${column}'`);
  }
}

const SYNC = { sync: true } as const;
const NO_SYNC = { sync: false } as const;
