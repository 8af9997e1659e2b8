/**
 * The thread that writes, seen from the thread of the fold. Batches go there as
 * flat bytes in shared memory, a few at a time, and land in their order; until
 * they have, lookups by key find them in an overlay, and everything else waits
 * (`CommitsAhead`).
 *
 * A failure is told to every batch that was on its way. The one that is being
 * filled meanwhile builds on them, so it cannot be handed over any more.
 */
import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { assert, UnspentError } from '../../../util/errors.ts';
import { errorOf } from '../../../util/failure.ts';
import { WRITER_AHEAD_BYTES_MAX, WRITER_AHEAD_MAX, WRITER_MS_MAX, WRITER_START_MS_MAX } from '../../../util/limits.ts';
import type { Batch, ColumnSpec, CommitsAhead, Landed } from '../../engine.ts';
import type { RocksHandle } from '../rocks.ts';
import { KeyTable } from './key-table.ts';
import { CONTROL, type SentSlab, THREAD, type WriterOrder, type WriterReport, type WriterThreadData } from './messages.ts';
import { type OperationSlab, Operations, SlabPool } from './operations.ts';

/** A batch that was handed over. */
interface Flight {
  readonly operations: Operations;
  readonly generation: number;
  readonly landed: Landed;
  /** By column, as they are asked for. */
  readonly tables: (KeyTable | undefined)[];
}

type Lookup = (keys: readonly Uint8Array[]) => (Uint8Array | undefined)[];

/** How long one wait for the other thread lasts before it is looked whether it still runs. */
const WAIT_MS = 1000;

/** Whether a thread of its own is worth having. */
export function hasSecondCore(): boolean {
  return availableParallelism() >= 2;
}

export class RocksWriter implements CommitsAhead {
  readonly #places: ReadonlyMap<string, number>;
  readonly #control = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * CONTROL.numbers));
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #pool = new SlabPool();
  /** Oldest first. */
  readonly #flights: Flight[] = [];
  #bytes = 0;
  #slabs = 0;
  /** Batches whose end was heard of. */
  #landed = 0;
  /** Grows with each failure: what was begun before it is not written. */
  #generation = 0;
  /** Of the batch that is being filled. */
  #filling: Operations | null = null;
  /** One has failed: how it and those behind it are told. */
  #failed: (() => void)[] | null = null;
  #isPlanning = false;
  #hasEnded = false;
  /** Resolves when the thread is gone. */
  readonly #ended: Promise<unknown>;

  constructor(handle: RocksHandle, columns: readonly ColumnSpec[]) {
    this.#places = new Map(columns.map(({ name }, at) => [name, at]));
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const workerData: WriterThreadData = { handle, columns, control: this.#control.buffer as SharedArrayBuffer, port: port2 };
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    this.#worker = new Worker(new URL(file, import.meta.url), { workerData, transferList: [port2], name: 'unspent writer' });
    // It lives as long as the engine is used, and keeps no process alive.
    this.#worker.unref();
    this.#ended = new Promise((resolve) => {
      this.#worker.once('exit', resolve);
    });
    // Whatever it was, those whose batches were on their way are told.
    this.#worker.on('error', () => this.#end());
    this.#worker.once('exit', () => this.#end());
    this.#port.on('message', (report: WriterReport) => this.#land(report));
    this.#port.unref();
  }

  get isReady(): boolean {
    return Atomics.load(this.#control, CONTROL.state) === THREAD.ready;
  }

  /** Waits until it runs. One that cannot be started may be unable to say so. */
  start(): void {
    if (Atomics.load(this.#control, CONTROL.state) === THREAD.starting)
      Atomics.wait(this.#control, CONTROL.state, THREAD.starting, WRITER_START_MS_MAX);
  }

  /** Nothing is on its way. */
  get isIdle(): boolean {
    return this.#flights.length === 0;
  }

  /** Whether lookups are to be answered by `getMany`. */
  get isPlanning(): boolean {
    return this.#isPlanning;
  }

  plan<T>(body: () => T): T {
    const before = this.#isPlanning;
    this.#isPlanning = true;
    try {
      return body();
    } finally {
      this.#isPlanning = before;
    }
  }

  batch(landed: Landed): Batch {
    // What was begun and not handed over is forgotten.
    if (this.#filling !== null) this.#free(this.#filling.slabs);
    const operations = new Operations(this.#places.size, this.#pool);
    this.#filling = operations;
    const generation = this.#generation;
    return new AheadBatch(operations, this.#places, (fsync) => this.#hand({ operations, generation, landed, tables: [] }, fsync));
  }

  /** Values of what is on its way, and `stored` of the rest. */
  getMany(column: string, keys: readonly Uint8Array[], stored: Lookup): (Uint8Array | undefined)[] {
    const tables = this.#tablesOf(this.#places.get(column) ?? -1);
    if (tables.length === 0) return stored(keys);
    const values: (Uint8Array | undefined)[] = new Array(keys.length);
    const rest: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      let found: Uint8Array | null | undefined;
      for (let at = 0; at < tables.length && found === undefined; at++) found = tables[at].find(keys[i]);
      if (found === undefined) rest.push(i);
      else values[i] = found ?? undefined;
    }
    if (rest.length === keys.length) return stored(keys);
    if (rest.length === 0) return values;
    const read = stored(rest.map((i) => keys[i]));
    for (let j = 0; j < rest.length; j++) values[rest[j]] = read[j];
    return values;
  }

  /** Newest first. */
  #tablesOf(column: number): KeyTable[] {
    const tables: KeyTable[] = [];
    for (let i = this.#flights.length - 1; i >= 0; i--) {
      const { operations, tables: made } = this.#flights[i];
      if (operations.counts[column] === 0) continue;
      made[column] ??= new KeyTable(operations, column);
      tables.push(made[column]);
    }
    return tables;
  }

  settle(): void {
    while (this.#flights.length > 0) this.#awaitOldest();
  }

  /** Gives back the memory that is kept for batches. */
  rest(): void {
    if (this.#flights.length === 0 && this.#filling === null) this.#forget(this.#pool.empty());
  }

  /** When it resolves, nothing over there uses the database any more. */
  async close(): Promise<void> {
    this.settle();
    this.#worker.ref();
    if (!this.#hasEnded) this.#send({ kind: 'close' });
    await this.#ended;
    this.#port.close();
  }

  #hand(flight: Flight, fsync: boolean): void {
    const { operations, generation } = flight;
    assert(operations === this.#filling, 'the batch that was begun last is handed over, once');
    this.#filling = null;
    while (this.#isFull(operations.bytes)) this.#awaitOldest();
    if (generation !== this.#generation || this.#hasEnded) {
      this.#free(operations.slabs);
      throw new UnspentError('IO', 'the batch cannot be written: one before it was not');
    }
    this.#flights.push(flight);
    this.#bytes += operations.bytes;
    this.#send({ kind: 'write', slabs: operations.slabs.map((slab) => this.#sent(slab)), fsync, generation });
  }

  /** There is no room for so many bytes more. What is larger than the room goes alone. */
  #isFull(bytes: number): boolean {
    const { length } = this.#flights;
    return length > 0 && (length >= WRITER_AHEAD_MAX || this.#bytes + bytes > WRITER_AHEAD_BYTES_MAX);
  }

  #sent(slab: OperationSlab): SentSlab {
    if (slab.id !== 0) return { id: slab.id, used: slab.used };
    slab.id = ++this.#slabs;
    return { id: slab.id, used: slab.used, shared: slab.shared };
  }

  #send(order: WriterOrder): void {
    this.#port.postMessage(order);
  }

  /** Nobody reads these any more. */
  #free(slabs: readonly OperationSlab[]): void {
    this.#forget(this.#pool.give(slabs));
  }

  #forget(slabs: readonly OperationSlab[]): void {
    const ids = slabs.flatMap(({ id }) => (id === 0 ? [] : [id]));
    if (ids.length > 0 && !this.#hasEnded) this.#send({ kind: 'forget', ids });
  }

  #awaitOldest(): void {
    this.#waitWhile(CONTROL.landed, this.#landed);
    this.#hear();
    if (this.#isGone) this.#end();
  }

  #hear(): void {
    for (let news = receiveMessageOnPort(this.#port); news !== undefined; news = receiveMessageOnPort(this.#port))
      this.#land(news.message as WriterReport);
  }

  get #isGone(): boolean {
    return this.#hasEnded || Atomics.load(this.#control, CONTROL.state) === THREAD.ended;
  }

  #waitWhile(place: number, value: number): void {
    const until = performance.now() + WRITER_MS_MAX;
    while (Atomics.load(this.#control, place) === value && !this.#isGone) {
      if (performance.now() > until) throw new UnspentError('IO', `the thread that writes has not answered for ${WRITER_MS_MAX / 1000} s`);
      Atomics.wait(this.#control, place, value, WAIT_MS);
    }
  }

  #land({ failure }: WriterReport): void {
    const flight = this.#flights.shift();
    assert(flight !== undefined, 'what lands was handed over');
    this.#landed++;
    this.#bytes -= flight.operations.bytes;
    this.#free(flight.operations.slabs);
    if (failure === null) this.#tell(() => flight.landed(null));
    else this.#fail(flight, errorOf(failure));
  }

  /** Whoever is told, in the middle of a plan too, reads as all others do. */
  #tell(told: () => void): void {
    const before = this.#isPlanning;
    this.#isPlanning = false;
    try {
      told();
    } finally {
      this.#isPlanning = before;
    }
  }

  /** Those behind it fail, too. They are told when all have: nobody may read what they would have written. */
  #fail(flight: Flight, error: Error): void {
    if (this.#failed !== null) {
      this.#failed.push(() => flight.landed(error));
      return;
    }
    this.#generation++;
    const failed = [() => flight.landed(error)];
    this.#failed = failed;
    try {
      this.settle();
    } finally {
      this.#failed = null;
    }
    for (const told of failed) this.#tell(told);
  }

  /** The thread is gone: what was on its way and not told of may be written or not, and nothing comes after it. */
  #end(): void {
    this.#hear();
    this.#hasEnded = true;
    while (this.#flights.length > 0) this.#land({ failure: { code: 'IO', message: 'the thread that writes has ended', meta: {} } });
  }
}

class AheadBatch implements Batch {
  readonly ordersKeys = true;
  readonly #operations: Operations;
  readonly #places: ReadonlyMap<string, number>;
  readonly #hand: (fsync: boolean) => void;

  constructor(operations: Operations, places: ReadonlyMap<string, number>, hand: (fsync: boolean) => void) {
    this.#operations = operations;
    this.#places = places;
    this.#hand = hand;
  }

  put(column: string, key: Uint8Array, value: Uint8Array): void {
    this.#operations.put(this.#placeOf(column), key, value);
  }

  del(column: string, key: Uint8Array): void {
    this.#operations.del(this.#placeOf(column), key);
  }

  get size(): number {
    return this.#operations.size;
  }

  commit(options?: { readonly fsync?: boolean }): void {
    this.#hand(options?.fsync === true);
  }

  clear(): void {
    this.#operations.clear();
  }

  #placeOf(column: string): number {
    const place = this.#places.get(column);
    assert(place !== undefined, `there is a column '${column}'`);
    return place;
  }
}
