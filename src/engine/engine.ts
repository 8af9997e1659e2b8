/**
 * The engine contract: ordered keys in named columns, one atomic batch over all
 * of them, consistent snapshots. Everything above knows this file only; every
 * engine passes the one suite in src/testing/engine-conformance.ts.
 *
 * Calls are synchronous on purpose: the fold is single-threaded and a promise
 * per key would cost more than the key.
 */

/** How a column is read decides how it is tuned. */
export interface ColumnSpec {
  /** Unique among the columns of a store. */
  readonly name: string;
  /**
   * `point`: looked up by whole key, all the time. `archive`: the same, but seldom. `prefix`: scanned inside a fixed
   * prefix. `order`: scanned or walked in key order.
   */
  readonly access: 'point' | 'archive' | 'prefix' | 'order';
  /** For `prefix`: its length in bytes. A scan in such a column stays inside one prefix. */
  readonly prefixBytes?: number;
  /** Share of all written bytes this column receives, roughly; memtables are sized by it. */
  readonly weight: number;
  /** The one column that speed depends on most: where an engine can tell figures of one column only, it is this one. */
  readonly main?: boolean;
}

/** Which rows of a column are read. */
export interface ScanOptions {
  /** First key, inclusive. */
  readonly gte?: Uint8Array;
  /** End key, exclusive. */
  readonly lt?: Uint8Array;
  /** From the last to the first. */
  readonly reverse?: boolean;
  /** Rows at most. */
  readonly limit?: number;
}

/** A key and its value. */
export type Row = readonly [key: Uint8Array, value: Uint8Array];

/** Reading by key and in key order. */
export interface Reader {
  /** The value of a key; undefined: none. */
  get(column: string, key: Uint8Array): Uint8Array | undefined;
  /** Values in the order of the keys, `undefined` where there is none. Keys may be reused by the caller afterwards. */
  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[];
  /** Rows in key order. Each row's bytes belong to the caller. */
  scan(column: string, options?: ScanOptions): Iterable<Row>;
}

/** One moment of the store: all columns named when it was taken, frozen. Release it. */
export interface Snapshot extends Reader {
  /** Gives back what it holds; every later read throws CLOSED. Releasing it again does nothing. */
  release(): void;
}

/** Operations that become visible together or not at all. Bytes are copied at the call: callers may reuse their buffers. */
export interface Batch {
  /** Sets the value of a key. */
  put(column: string, key: Uint8Array, value: Uint8Array): void;
  /** Deletes a key; one that is not there is no change. `was`: the value it has, where whoever deletes it knows that (`asksValues`). */
  del(column: string, key: Uint8Array, was?: Uint8Array): void;
  /** It would have to read what is deleted, and is glad to be told. Absent: it does not care. */
  readonly asksValues?: boolean;
  /** It puts keys in order before it writes them: whoever fills it need not. Absent: it does not. */
  readonly ordersKeys?: boolean;
  /** Operations so far. */
  readonly size: number;
  /** Writes everything and empties the batch for reuse. With `fsync` it is on the disk when this returns. */
  commit(options?: { readonly fsync?: boolean }): void;
  /** Forgets everything and can be used again. */
  clear(): void;
}

/** What an engine tells of itself. */
export interface EngineStats {
  /** The name of the engine. */
  readonly kind: string;
  /** Bytes on disk (memory engine: bytes held). Of a column: of what has left memory. */
  readonly bytes: number;
  /** What the engine says about itself, by name. Of a column also `rows`, exact as long as nothing was deleted or written twice. */
  readonly properties: Readonly<Record<string, string>>;
}

/** Told when a batch that was handed over is written; with an error: it is not, and neither is any that was handed over after it. */
export type Landed = (failure: Error | null) => void;

/**
 * Commits in a thread of their own, while this one works out the next. Whatever is asked of the engine waits until all
 * that was handed over is written, so nobody needs to know of it; who does know reads inside `plan`.
 */
export interface CommitsAhead {
  /** Runs it with lookups by key (`get`, `getMany`) that find what is on its way. Scans, snapshots and all else wait for that. */
  plan<T>(body: () => T): T;
  /**
   * The one batch of this kind, empty. Its commit hands it over and returns; `landed` is called later, in order, in a
   * turn of its own or inside a call of the engine that waits, and reads as all others do. After a failure nothing is
   * written until a batch that was begun later is handed over.
   */
  batch(landed: Landed): Batch;
  /** Returns when nothing is on its way any more. */
  settle(): void;
}

/** An ordered key-value store with named columns, embedded and synchronous: one writer, many readers. */
export interface Engine extends Reader {
  /** Those it was opened with. */
  readonly columns: readonly ColumnSpec[];
  /** The one batch of this engine, empty. There is one writer, so there is one batch. */
  batch(): Batch;
  /** This moment of these columns, frozen. */
  snapshot(columns: readonly string[]): Snapshot;
  /** Null: not now, or not on this machine. Absent: the engine has no such thread. */
  ahead?(): CommitsAhead | null;
  /** Deletes every row of the column at once, in a commit of its own. Snapshots and scans begun before still see them. */
  clear(column: string): void;
  /** Of the whole store, or of one column. */
  stats(column?: string): EngineStats;
  /**
   * Pages of its files that it has still to compare with their checksums, which goes on beside its work, in whichever
   * thread; null: they cannot be read. Absent: it compares none in this way.
   */
  readonly pagesUnchecked?: number | null;
  /** Ends every snapshot and scan. Every later call throws CLOSED, but for closing again. */
  close(): Promise<void>;
}

/** An engine of a program's own. */
export interface EngineFactory {
  /** The store remembers it, and can be opened with no other engine. */
  readonly name: string;
  /**
   * Opens the database in a directory, which is there and belongs to it alone, or makes it. A column it does not have
   * yet is made; one that is not named keeps its rows.
   */
  open(directory: string, columns: readonly ColumnSpec[]): Engine | Promise<Engine>;
}
