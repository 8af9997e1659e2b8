/**
 * What a store writes to its engine, batch by batch, to be written to a bare
 * engine later: the floor under the store. Only commits are kept, as bytes one
 * behind the other.
 */
import type { Batch, Engine } from '../src/engine/engine.ts';
import { ByteReader, ByteWriter } from '../src/util/byte-writer.ts';
import { Scratch } from '../src/util/scratch.ts';

const PUT = 0;
const DELETE = 1;
/** Keys are shorter, and so are values but for large transactions, which the benchmark does not have. */
const KEY_BYTES = 256;
const VALUE_BYTES = 64 * 1024;

export class EngineTape {
  readonly #columns: readonly string[];
  readonly #commits: Uint8Array[] = [];
  operations = 0;
  bytes = 0;

  constructor(engine: Engine) {
    this.#columns = engine.columns.map(({ name }) => name);
  }

  get length(): number {
    return this.#commits.length;
  }

  /** The engine; what is committed through it is kept here. */
  recording(engine: Engine): Engine {
    const writer = new ByteWriter();
    const note = (kind: number, column: string, key: Uint8Array, value: Uint8Array): void => {
      for (const number of [kind, this.#columns.indexOf(column), key.length, value.length]) writer.varint(number);
      writer.run(key);
      writer.run(value);
      this.operations++;
      this.bytes += key.length + value.length;
    };
    const recordingBatch = (batch: Batch): Batch => ({
      put: (column, key, value) => {
        note(PUT, column, key, value);
        batch.put(column, key, value);
      },
      del: (column, key) => {
        note(DELETE, column, key, new Uint8Array());
        batch.del(column, key);
      },
      get size() {
        return batch.size;
      },
      commit: (options) => {
        batch.commit(options);
        this.#commits.push(writer.view().slice());
        writer.reset();
      },
      clear: () => {
        batch.clear();
        writer.reset();
      },
    });
    return new Proxy(engine, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (name === 'batch') return () => recordingBatch(target.batch());
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** The commits from one to before another, to a bare engine. */
  replay(engine: Engine, from: number, to: number): void {
    const [key, value] = [new Scratch(KEY_BYTES), new Scratch(VALUE_BYTES)];
    const batch = engine.batch();
    for (const commit of this.#commits.slice(from, to)) {
      const reader = new ByteReader(commit, 'a commit on the tape');
      while (!reader.isAtEnd) {
        const [kind, column, keyLength, valueLength] = [reader.varint(), reader.varint(), reader.varint(), reader.varint()];
        key.bytes.set(reader.run(keyLength));
        value.bytes.set(reader.run(valueLength));
        if (kind === PUT) batch.put(this.#columns[column], key.view(keyLength), value.view(valueLength));
        else batch.del(this.#columns[column], key.view(keyLength));
      }
      batch.commit();
    }
  }
}
