/**
 * An engine that tells what is asked of it: which keys are read, scanned,
 * written and deleted. It can also fail a commit, once, as a full disk would.
 */
import type { Batch, ColumnSpec, Engine, EngineStats, Row, ScanOptions, Snapshot } from '../../src/engine/engine.ts';
import { toHex } from '../../src/util/bytes.ts';

export interface Seen {
  readonly column: string;
  /** Hex. */
  readonly key: string;
}

export class WatchedEngine implements Engine {
  readonly gets: Seen[] = [];
  readonly scanned: Seen[] = [];
  readonly puts: Seen[] = [];
  readonly dels: Seen[] = [];
  commits = 0;
  /** Thrown by the next commit, which then writes nothing. */
  failure: Error | null = null;
  private readonly inner: Engine;

  constructor(inner: Engine) {
    this.inner = inner;
  }

  get columns(): readonly ColumnSpec[] {
    return this.inner.columns;
  }

  /** Starts counting anew. */
  forget(): void {
    for (const list of [this.gets, this.scanned, this.puts, this.dels]) list.length = 0;
    this.commits = 0;
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    this.gets.push({ column, key: toHex(key) });
    return this.inner.get(column, key);
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    for (const key of keys) this.gets.push({ column, key: toHex(key) });
    return this.inner.getMany(column, keys);
  }

  *scan(column: string, options?: ScanOptions): Generator<Row, void, void> {
    for (const row of this.inner.scan(column, options)) {
      this.scanned.push({ column, key: toHex(row[0]) });
      yield row;
    }
  }

  batch(): Batch {
    return new WatchedBatch(this, this.inner.batch());
  }

  snapshot(columns: readonly string[]): Snapshot {
    return this.inner.snapshot(columns);
  }

  clear(column: string): void {
    this.inner.clear(column);
  }

  stats(column?: string): EngineStats {
    return this.inner.stats(column);
  }

  async close(): Promise<void> {
    await this.inner.close();
  }
}

class WatchedBatch implements Batch {
  private readonly engine: WatchedEngine;
  private readonly inner: Batch;

  constructor(engine: WatchedEngine, inner: Batch) {
    this.engine = engine;
    this.inner = inner;
  }

  get size(): number {
    return this.inner.size;
  }

  put(column: string, key: Uint8Array, value: Uint8Array): void {
    this.engine.puts.push({ column, key: toHex(key) });
    this.inner.put(column, key, value);
  }

  del(column: string, key: Uint8Array): void {
    this.engine.dels.push({ column, key: toHex(key) });
    this.inner.del(column, key);
  }

  commit(options?: { readonly fsync?: boolean }): void {
    const { failure } = this.engine;
    if (failure !== null) {
      this.engine.failure = null;
      throw failure;
    }
    this.engine.commits++;
    this.inner.commit(options);
  }

  clear(): void {
    this.inner.clear();
  }
}
