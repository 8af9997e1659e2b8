/**
 * The thread that writes, from within: attached to the open database by its
 * handle, it puts and commits one batch after the other, as they come. When one
 * fails, those behind it are not written: they build on it.
 */
import { workerData } from 'node:worker_threads';
import { copyBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type Failure, failureOf } from '../../../util/failure.ts';
import { Scratch } from '../../../util/scratch.ts';
import { WriteCounters } from '../../write-counters.ts';
import { RocksBatch } from '../batch.ts';
import { attachDatabase } from '../database.ts';
import { CONTROL, type SentSlab, THREAD, type WriterOrder, type WriterReport, type WriterThreadData } from './messages.ts';
import { OperationOrder } from './operation-order.ts';
import { type OperationPlace, readOperation, SLAB_BITS } from './operations.ts';

/** Below this a loop is faster than a view and a call of the platform. */
const LOOP_BYTES_MAX = 256;

const IN_SLAB = (1 << SLAB_BITS) - 1;

class BatchWriter {
  readonly #batch: RocksBatch;
  readonly #names: readonly string[];
  readonly #slabs = new Map<number, Uint8Array>();
  readonly #key = new Scratch(1024);
  readonly #value = new Scratch(64 * 1024);
  readonly #order = new OperationOrder();
  readonly #place: OperationPlace = { column: 0, isDeletion: false, keyAt: 0, valueAt: 0, end: 0 };
  /** Batches of this one and those before it are not written any more. */
  #failedGeneration = -1;

  constructor(batch: RocksBatch, names: readonly string[]) {
    this.#batch = batch;
    this.#names = names;
  }

  /** Why it could not be written; null: it is. */
  take(sent: readonly SentSlab[], fsync: boolean, generation: number): Failure | null {
    if (generation <= this.#failedGeneration) return failureOf(new UnspentError('IO', 'the batch before it was not written'));
    try {
      this.#write(sent, fsync);
      return null;
    } catch (error) {
      this.#failedGeneration = generation;
      return failureOf(error);
    }
  }

  forget(ids: readonly number[]): void {
    for (const id of ids) this.#slabs.delete(id);
  }

  #write(sent: readonly SentSlab[], fsync: boolean): void {
    const batch = this.#batch;
    batch.clear();
    const place = this.#place;
    const slabs = sent.map((slab) => ({ bytes: this.#bytesOf(slab), used: slab.used }));
    for (const at of this.#order.arrange(slabs, this.#names.length)) {
      const { bytes } = slabs[at >>> SLAB_BITS];
      readOperation(bytes, at & IN_SLAB, place);
      const key = copied(this.#key, bytes, place.keyAt, place.valueAt);
      const name = this.#names[place.column];
      if (place.isDeletion) batch.del(name, key);
      else batch.put(name, key, copied(this.#value, bytes, place.valueAt, place.end));
    }
    batch.commit({ fsync });
  }

  #bytesOf({ id, shared }: SentSlab): Uint8Array {
    if (shared !== undefined) this.#slabs.set(id, new Uint8Array(shared));
    const bytes = this.#slabs.get(id);
    if (bytes === undefined) throw new UnspentError('IO', `the thread that writes does not know slab ${id}`);
    return bytes;
  }
}

function copied(scratch: Scratch, bytes: Uint8Array, from: number, to: number): Uint8Array {
  const length = to - from;
  scratch.need(length);
  if (length <= LOOP_BYTES_MAX) copyBytes(bytes, from, scratch.bytes, 0, length);
  else scratch.bytes.set(bytes.subarray(from, to));
  return scratch.view(length);
}

const { handle, columns, control, port } = workerData as WriterThreadData;
const numbers = new Int32Array(control);

function tell(state: number): void {
  Atomics.store(numbers, CONTROL.state, state);
  Atomics.notify(numbers, CONTROL.state);
}

process.once('exit', () => {
  tell(THREAD.ended);
  Atomics.notify(numbers, CONTROL.landed);
});
// Nothing is loaded here but what it takes to write: the thread is to be ready soon after it is wanted.
const names = columns.map(({ name }) => name);
const database = attachDatabase(handle.database, columns);
const batch = new RocksBatch(database, new WriteCounters(names, handle.counters), () => {});
const writer = new BatchWriter(batch, names);

function obey(order: WriterOrder): void {
  if (order.kind === 'write') {
    const failure = writer.take(order.slabs, order.fsync, order.generation);
    port.postMessage({ failure } satisfies WriterReport);
    Atomics.add(numbers, CONTROL.landed, 1);
    Atomics.notify(numbers, CONTROL.landed);
  } else if (order.kind === 'forget') writer.forget(order.ids);
  else {
    batch.letGo();
    database.letGo();
    port.close();
  }
}

port.on('message', obey);
tell(THREAD.ready);
