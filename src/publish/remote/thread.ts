/**
 * The thread that asks the database of a copy, from within. It follows the
 * published head, holds moments and fetches rows. It is a thread of its own so
 * that a reader can also wait for rows without giving its own thread away
 * (`link.ts`), and so that what the database sends is decoded beside it.
 */
import { workerData } from 'node:worker_threads';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { failureOf } from '../../util/failure.ts';
import { COPY_POLL_MS, COPY_RETRY_MS, COPY_SIZES_MS } from '../../util/limits.ts';
import type { CopyHead, RemoteSize, RemoteSnapshot, RemoteStore } from './contract.ts';
import { fetchAll } from './fetch.ts';
import type { CopyOrder, CopyReport, CopyThreadData } from './messages.ts';
import { Moments } from './moments.ts';
import { openRemote } from './open.ts';

const { url, port, bell } = workerData as CopyThreadData;
const rings = new Int32Array(bell);

function report(message: CopyReport, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
  Atomics.add(rings, 0, 1);
  Atomics.notify(rings, 0);
}

class CopyThread {
  private readonly store: RemoteStore;
  private readonly moments: Moments;
  private newest: CopyHead | null = null;
  private failure: string | null = null;
  private sizes: Readonly<Record<string, RemoteSize>> = {};
  private sizedAt = Number.NEGATIVE_INFINITY;
  private columns: readonly string[] = [];
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(store: RemoteStore) {
    this.store = store;
    this.moments = new Moments(store, (pin, snapshot) => this.pinned(pin, snapshot));
    store.onMove(() => this.soon(0));
  }

  /** Throws what the first look throws. */
  async begin(): Promise<void> {
    this.newest = await this.moments.look();
    this.tell();
    this.soon(COPY_POLL_MS);
  }

  async fetch({ id, pin, wants }: Extract<CopyOrder, { kind: 'fetch' }>): Promise<void> {
    try {
      const found = await this.fetchAt(pin, wants);
      report(
        { kind: 'found', id, found },
        found.map(({ buffer }) => buffer),
      );
    } catch (error) {
      if (isUnspentError(error, 'COPY_UNREACHABLE')) this.soon(0);
      report({ kind: 'missed', id, failure: failureOf(error) });
    }
  }

  /** Once more where the newest moment was lost on the way, because it can be taken again. */
  private async fetchAt(pin: number, wants: Parameters<typeof fetchAll>[1]): Promise<Uint8Array<ArrayBuffer>[]> {
    try {
      return await fetchAll(this.moments.at(pin), wants);
    } catch (error) {
      if (!isUnspentError(error, 'COPY_UNREACHABLE') || !this.moments.isNewest(pin)) throw error;
      await this.moments.look();
      return await fetchAll(this.moments.at(pin), wants);
    }
  }

  release(pin: number): void {
    // The newest is what the next one is compared with.
    if (!this.moments.isNewest(pin)) this.moments.release(pin);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.moments.close();
    await this.store.close();
  }

  private pinned(pin: number, { head, identity }: RemoteSnapshot): void {
    this.columns = columnsIn(identity);
    report({ kind: 'pinned', pin, head, identity });
  }

  private soon(ms: number): void {
    if (this.isClosed || (this.timer !== null && ms > 0)) return;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), ms);
  }

  private async look(): Promise<void> {
    this.timer = null;
    try {
      this.newest = await this.moments.look();
      this.failure = null;
      if (performance.now() - this.sizedAt > COPY_SIZES_MS) await this.measure();
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
    }
    if (this.isClosed) return;
    this.tell();
    this.soon(this.failure === null ? COPY_POLL_MS : COPY_RETRY_MS);
  }

  private async measure(): Promise<void> {
    this.sizedAt = performance.now();
    this.sizes = Object.fromEntries(await this.store.sizes(this.columns));
  }

  private tell(): void {
    const { newest, failure, sizes, store, moments } = this;
    const state = { name: store.name, failure, newest, statements: store.statements, pins: moments.size, sizes };
    report({ kind: 'state', state });
  }
}

function columnsIn(identity: string): readonly string[] {
  const { columns } = JSON.parse(identity) as { readonly columns?: readonly { readonly name: string }[] };
  if (columns === undefined) throw new UnspentError('COPY_UNREADY', 'the identity of the copy names no columns');
  return columns.map(({ name }) => name);
}

async function run(): Promise<void> {
  const store = await openRemote(url);
  const thread = new CopyThread(store);
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  port.on('message', (order: CopyOrder) => {
    if (order.kind === 'fetch') void thread.fetch(order);
    else if (order.kind === 'release') thread.release(order.pin);
    else close();
  });
  try {
    await thread.begin();
    await closed;
  } finally {
    await thread.close();
  }
}

try {
  await run();
  report({ kind: 'closed' });
} catch (error) {
  report({ kind: 'failed', failure: failureOf(error) });
}
port.close();
