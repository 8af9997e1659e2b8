/**
 * The engine in memory, for tests: the same contract, nothing on disk. Columns
 * are a map and a sorted list of keys (as latin1 text, whose order is byte
 * order). A commit that touches a column while a snapshot or a scan reads it
 * works on a copy.
 */
import { assert, UnspentError } from '../util/errors.ts';
import type { Batch, ColumnSpec, Engine, EngineStats, Row, ScanOptions, Snapshot } from './engine.ts';
import { type ScanRange, scanRange } from './scan-range.ts';

interface Content {
  readonly values: Map<string, Uint8Array>;
  /** Ascending. */
  readonly keys: string[];
  /** Snapshots that are not released and scans that have not ended: while there are any, it must not change. */
  readers: number;
}

interface Column {
  readonly spec: ColumnSpec;
  content: Content;
}

type Operation = readonly [column: Column, key: string, value: Uint8Array | undefined];

export function openMemory(columns: readonly ColumnSpec[]): Engine {
  return new Memory(columns);
}

class Memory implements Engine {
  readonly columns: readonly ColumnSpec[];
  readonly #columns: Map<string, Column>;
  readonly #batch: MemoryBatch;
  #open = true;

  constructor(columns: readonly ColumnSpec[]) {
    this.columns = columns;
    this.#columns = new Map(columns.map((spec) => [spec.name, { spec, content: { values: new Map(), keys: [], readers: 0 } }]));
    this.#batch = new MemoryBatch(this);
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return read(this.column(column).content, key);
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const { content } = this.column(column);
    return keys.map((key) => read(content, key));
  }

  scan(name: string, options?: ScanOptions): Iterable<Row> {
    const column = this.column(name);
    return rowsOf(
      () => column.content,
      scanRange(column.spec, options),
      () => this.assertOpen(),
    );
  }

  batch(): Batch {
    this.assertOpen();
    this.#batch.clear();
    return this.#batch;
  }

  snapshot(names: readonly string[]): Snapshot {
    this.assertOpen();
    return new MemorySnapshot(this, new Map(names.map((name) => [name, this.column(name)])));
  }

  clear(name: string): void {
    this.column(name).content = { values: new Map(), keys: [], readers: 0 };
  }

  stats(name?: string): EngineStats {
    this.assertOpen();
    const columns = name === undefined ? [...this.#columns.values()] : [this.column(name)];
    let [bytes, rows] = [0, 0];
    for (const { content } of columns) {
      rows += content.keys.length;
      for (const [key, value] of content.values) bytes += key.length + value.length;
    }
    return { kind: 'memory', bytes, properties: { rows: `${rows}` } };
  }

  async close(): Promise<void> {
    this.#open = false;
    this.#columns.clear();
    this.#batch.clear();
  }

  assertOpen(): void {
    if (!this.#open) throw new UnspentError('CLOSED', 'the store is closed (memory)');
  }

  column(name: string): Column {
    this.assertOpen();
    const column = this.#columns.get(name);
    assert(column !== undefined, `there is a column '${name}'`);
    return column;
  }
}

class MemorySnapshot implements Snapshot {
  readonly #engine: Memory;
  readonly #columns: ReadonlyMap<string, Column>;
  #released = false;

  constructor(engine: Memory, columns: ReadonlyMap<string, Column>) {
    this.#engine = engine;
    this.#columns = new Map([...columns].map(([name, { spec, content }]) => [name, { spec, content }]));
    for (const { content } of this.#columns.values()) content.readers++;
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return read(this.#column(column).content, key);
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const { content } = this.#column(column);
    return keys.map((key) => read(content, key));
  }

  scan(name: string, options?: ScanOptions): Iterable<Row> {
    const { spec, content } = this.#column(name);
    return rowsOf(
      () => content,
      scanRange(spec, options),
      () => this.#assertUsable(),
    );
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    for (const { content } of this.#columns.values()) content.readers--;
  }

  #column(name: string): Column {
    this.#assertUsable();
    const column = this.#columns.get(name);
    assert(column !== undefined, `column '${name}' is in the snapshot`);
    return column;
  }

  #assertUsable(): void {
    this.#engine.assertOpen();
    if (this.#released) throw new UnspentError('CLOSED', 'the snapshot was released');
  }
}

class MemoryBatch implements Batch {
  readonly #engine: Memory;
  #operations: Operation[] = [];

  constructor(engine: Memory) {
    this.#engine = engine;
  }

  put(name: string, key: Uint8Array, value: Uint8Array): void {
    const column = this.#engine.column(name);
    assert(key.length >= (column.spec.prefixBytes ?? 0), `a key of '${name}' is as long as its prefix`);
    this.#operations.push([column, textOf(key), copyOf(value)]);
  }

  del(name: string, key: Uint8Array): void {
    this.#operations.push([this.#engine.column(name), textOf(key), undefined]);
  }

  get size(): number {
    return this.#operations.length;
  }

  commit(): void {
    this.#engine.assertOpen();
    for (const [column, key, value] of this.#operations) {
      const content = own(column);
      if (value === undefined) remove(content, key);
      else insert(content, key, value);
    }
    this.#operations = [];
  }

  clear(): void {
    this.#operations = [];
  }
}

function own(column: Column): Content {
  const { values, keys, readers } = column.content;
  if (readers > 0) column.content = { values: new Map(values), keys: keys.slice(), readers: 0 };
  return column.content;
}

function insert({ values, keys }: Content, key: string, value: Uint8Array): void {
  if (!values.has(key)) keys.splice(placeOf(keys, key), 0, key);
  values.set(key, value);
}

function remove({ values, keys }: Content, key: string): void {
  if (values.delete(key)) keys.splice(placeOf(keys, key), 1);
}

function read(content: Content, key: Uint8Array): Uint8Array | undefined {
  const value = content.values.get(textOf(key));
  return value && copyOf(value);
}

function* rowsOf(contentNow: () => Content, range: ScanRange, assertUsable: () => void): Generator<Row, void, void> {
  assertUsable();
  if (range.empty) return;
  const content = contentNow();
  const { values, keys } = content;
  const start = range.gte === undefined ? 0 : placeOf(keys, textOf(range.gte));
  const end = range.lt === undefined ? keys.length : placeOf(keys, textOf(range.lt));
  const rows = Math.min(range.limit, end - start);
  content.readers++;
  try {
    for (let row = 0; row < rows; row++) {
      assertUsable();
      const key = keys[range.reverse ? end - 1 - row : start + row];
      yield [bytesOf(key), copyOf(values.get(key)!)];
    }
  } finally {
    content.readers--;
  }
}

/** Where the key is, or would be. */
function placeOf(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

type Latin1Of = (this: Uint8Array, start: number, end: number) => string;
/** Of a Buffer, and as good for other bytes, without a view of them first. */
const { latin1Slice } = Buffer.prototype as unknown as { readonly latin1Slice: Latin1Of };

function textOf(bytes: Uint8Array): string {
  return latin1Slice.call(bytes, 0, bytes.length);
}

function bytesOf(text: string): Uint8Array {
  if (text.length > OWN_BYTES_MAX) return new Uint8Array(Buffer.from(text, 'latin1'));
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** V8 asks the system for the memory of every larger array, at many times the price. */
const OWN_BYTES_MAX = 64;

/** Larger ones are made in the memory that Node's small Buffers share. */
function copyOf(bytes: Uint8Array): Uint8Array {
  if (bytes.length <= OWN_BYTES_MAX) return new Uint8Array(bytes);
  const { buffer, byteOffset, length } = Buffer.from(bytes);
  return new Uint8Array(buffer, byteOffset, length);
}
