/**
 * The model and another store, which are told the same and must answer alike:
 * the same result, or a refusal with the same code. The model is also what
 * random lives look at.
 */
import { MemoryTxStore } from '../../../src/txstore/memory/index.ts';
import type { TxRecord } from '../../../src/txstore/records.ts';
import type { TxStore, TxStoreSettings } from '../../../src/txstore/store.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import type { OpenedTxStore, OpenTxStore } from './world.ts';

export type Answer<T> = { readonly result: T } | { readonly refused: string };

/** Of a record that differs, in the message of a failure: a wide one has many outputs that are alike. */
const RECORD_TEXT_MAX = 2000;

export class TxStorePair {
  readonly model: MemoryTxStore;
  readonly #opened: OpenedTxStore | null;
  /** Calls so far. */
  calls = 0;

  private constructor(model: MemoryTxStore, opened: OpenedTxStore | null) {
    this.model = model;
    this.#opened = opened;
  }

  /** `open` null: the model alone. */
  static async open(settings: TxStoreSettings, open: OpenTxStore | null): Promise<TxStorePair> {
    const limit = { depthMax: settings.window };
    return new TxStorePair(new MemoryTxStore(settings, limit), (await open?.(settings, limit)) ?? null);
  }

  async tell<T>(call: (store: TxStore) => Promise<T>): Promise<Answer<T>> {
    this.calls++;
    const wanted = await answerOf(call, this.model);
    if (this.#opened === null) return wanted;
    const found = await answerOf(call, this.#opened.store);
    if (text(found) !== text(wanted)) throw new Error(`answers ${text(found)}, the model ${text(wanted)}`);
    return wanted;
  }

  /** As `tell`; a refusal is a failure. */
  async must<T>(what: string, call: (store: TxStore) => Promise<T>): Promise<T> {
    const answer = await this.tell(call);
    if ('refused' in answer) throw new Error(`${what} is refused: ${answer.refused}`);
    return answer.result;
  }

  /** What the model says, and then the store; the model alone if there is none. They may differ. */
  async each<T>(call: (store: TxStore) => Promise<T>): Promise<readonly T[]> {
    this.calls++;
    const answers = [await call(this.model)];
    if (this.#opened !== null) answers.push(await call(this.#opened.store));
    return answers;
  }

  /** Both have the same records, and the indexes fit them (P5). */
  async compare(): Promise<void> {
    if (this.#opened === null) return;
    await this.#opened.checkIndexes();
    const [found, wanted] = [await this.#opened.records(), this.model.records()];
    if (text(found.map(comparable)) === text(wanted.map(comparable))) return;
    const differing = wanted.findIndex((record, n) => text(comparable(record)) !== text(found[n] && comparable(found[n])));
    const [is, should] = [found[differing], wanted[differing]].map((record) => text(record)?.slice(0, RECORD_TEXT_MAX));
    throw new Error(`record ${differing} is ${is}, in the model ${should}`);
  }

  async close(): Promise<void> {
    await this.#opened?.close();
  }
}

async function answerOf<T>(call: (store: TxStore) => Promise<T>, store: TxStore): Promise<Answer<T>> {
  try {
    return { result: await call(store) };
  } catch (error) {
    if (isUnspentError(error)) return { refused: error.code };
    throw error;
  }
}

/** Without the version, which counts changes in each store's own way; its fields in one order. */
function comparable({ version: _, ...record }: TxRecord): unknown {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part instanceof Uint8Array ? toHex(part) : typeof part === 'bigint' ? String(part) : part,
  );
}
