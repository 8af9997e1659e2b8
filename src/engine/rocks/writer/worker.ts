/**
 * The thread that writes, from within: attached to the open database by its
 * handle, it puts and commits one batch after the other, as they come. When one
 * fails, those behind it are not written: they build on it.
 */
import { workerData } from 'node:worker_threads';
import { UnspentError } from '../../../util/errors.ts';
import { type Failure, failureOf } from '../../../util/failure.ts';
import { Scratch } from '../../../util/scratch.ts';
import { WriteCounters } from '../../write-counters.ts';
import { RocksBatch } from '../batch.ts';
import { attachDatabase } from '../database.ts';
import { CONTROL, type SentSlab, THREAD, type WriterOrder, type WriterReport, type WriterThreadData } from './messages.ts';
import { type FilledSlab, OperationOrder } from './operation-order.ts';
import { OperationPlace, readOperation, SLAB_BITS } from './operations.ts';

/** Below this a loop is faster than a view and a call of the platform. */
const LOOP_BYTES_MAX = 512;

const IN_SLAB = (1 << SLAB_BITS) - 1;

/** What the binding is handed a key or a value in: making a view of shared memory for each takes longer than copying it. */
class Handed {
  readonly #short = new Scratch(LOOP_BYTES_MAX);
  readonly #words = new Int32Array(this.#short.bytes.buffer);
  readonly #long = new Scratch(64 * 1024);

  /** A copy of what stands from `from` on, which is a multiple of four; valid until the next one. */
  copy({ bytes, words }: FilledSlab, from: number, to: number): Uint8Array {
    const length = to - from;
    if (length > LOOP_BYTES_MAX) {
      this.#long.need(length);
      this.#long.bytes.set(bytes.subarray(from, to));
      return this.#long.view(length);
    }
    const copied = this.#words;
    for (let i = 0, at = from >> 2; 4 * i < length; i++, at++) copied[i] = words[at];
    return this.#short.view(length);
  }
}

class BatchWriter {
  readonly #batch: RocksBatch;
  readonly #names: readonly string[];
  readonly #slabs = new Map<number, Omit<FilledSlab, 'used'>>();
  readonly #key = new Handed();
  readonly #value = new Handed();
  readonly #order = new OperationOrder();
  readonly #place = new OperationPlace();
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
    const slabs = sent.map((slab): FilledSlab => ({ ...this.#slabOf(slab), used: slab.used }));
    for (const at of this.#order.arrange(slabs, this.#names.length)) {
      const slab = slabs[at >>> SLAB_BITS];
      readOperation(slab.words, at & IN_SLAB, place);
      const key = this.#key.copy(slab, place.keyAt, place.keyEnd);
      const name = this.#names[place.column];
      if (place.isDeletion) batch.del(name, key);
      else batch.put(name, key, this.#value.copy(slab, place.valueAt, place.valueEnd));
    }
    batch.commit({ fsync });
  }

  #slabOf({ id, shared }: SentSlab): Omit<FilledSlab, 'used'> {
    if (shared !== undefined) this.#slabs.set(id, { bytes: new Uint8Array(shared), words: new Int32Array(shared) });
    const slab = this.#slabs.get(id);
    if (slab === undefined) throw new UnspentError('IO', `the thread that writes does not know slab ${id}`);
    return slab;
  }
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
