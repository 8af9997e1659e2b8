/**
 * The copy, seen from the thread that answers requests. Rows can be fetched in
 * two ways: awaited, together with what others want in the same turn, or at once,
 * while this thread sleeps. The second is for code that cannot stop in its middle
 * (`attempts.ts` says which is used when); it is why another thread asks.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { UnspentError } from '../../util/errors.ts';
import { errorOf } from '../../util/failure.ts';
import { COPY_WAIT_MS } from '../../util/limits.ts';
import type { CopyHead } from './contract.ts';
import type { CopyOrder, CopyReport, CopyState, CopyThreadData, Want } from './messages.ts';

export type Found = Uint8Array<ArrayBuffer>;

export interface PinnedCopy {
  readonly pin: number;
  readonly head: CopyHead;
  /** The identity document. */
  readonly identity: string;
}

export interface LinkListener {
  onPinned(pinned: PinnedCopy): void;
  onState(state: CopyState): void;
  /** The thread has ended by itself. */
  onFailure(error: Error): void;
}

/** Both are called as soon as the answer is heard of, also while this thread waits for something else in its sleep. */
export interface Asked {
  found(found: Found): void;
  missed(error: Error): void;
}

interface Wanted extends Asked {
  readonly want: Want;
}

export class CopyLink {
  /** Messages with wants, and those for which this thread slept. */
  fetches = 0;
  sleeps = 0;
  private readonly port: MessagePort;
  private readonly worker: Worker;
  private readonly rings = new Int32Array(new SharedArrayBuffer(4));
  private readonly listener: LinkListener;
  private readonly asked = new Map<number, readonly Wanted[]>();
  private readonly gathered = new Map<number, Wanted[]>();
  private readonly ended: Promise<void>;
  private last = 0;
  private isClosed = false;

  constructor(url: string, listener: LinkListener) {
    this.listener = listener;
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    // The same file as it stands beside this one: a source in a checkout, compiled in a package.
    const file = import.meta.url.endsWith('.ts') ? './thread.ts' : './thread.js';
    const data: CopyThreadData = { url, port: port2, bell: this.rings.buffer as SharedArrayBuffer };
    this.worker = new Worker(new URL(file, import.meta.url), { workerData: data, transferList: [port2], name: 'unspent copy' });
    this.ended = new Promise((resolve) => this.worker.once('exit', () => resolve()));
    this.worker.once('error', (error) => this.fail(error instanceof Error ? error : new Error(String(error))));
    this.port.on('message', (message: CopyReport) => this.take(message));
  }

  /** Together with what else is wanted of that moment before the turn is over. It is told COPY_UNREACHABLE, COPY_MOVED, CLOSED. */
  fetch(pin: number, want: Want, { found, missed }: Asked): void {
    const wanted = { want, found, missed };
    const others = this.gathered.get(pin);
    if (others !== undefined) others.push(wanted);
    else {
      this.gathered.set(pin, [wanted]);
      setImmediate(() => this.send(pin));
    }
  }

  /** This thread does nothing else until what it waits for is there, or the database was given up. */
  sleepUntil(pin: number, isThere: () => boolean): void {
    this.send(pin);
    this.sleeps++;
    const deadline = performance.now() + COPY_WAIT_MS;
    while (!isThere()) this.receive(deadline);
  }

  release(pin: number): void {
    if (!this.isClosed) this.order({ kind: 'release', pin });
  }

  async close(): Promise<void> {
    if (!this.isClosed) {
      this.isClosed = true;
      this.order({ kind: 'close' });
    }
    await this.ended;
    this.port.close();
    this.failAll(closed());
  }

  private send(pin: number): void {
    const wanted = this.gathered.get(pin);
    if (wanted === undefined) return;
    this.gathered.delete(pin);
    if (this.isClosed) {
      for (const each of wanted) each.missed(closed());
      return;
    }
    const id = ++this.last;
    this.fetches++;
    this.asked.set(id, wanted);
    this.order({ kind: 'fetch', id, pin, wants: wanted.map(({ want }) => want) });
  }

  /** The next message, or sleep until there is one. What comes for others on the way is theirs when this thread is free. */
  private receive(deadline: number): void {
    const heard = Atomics.load(this.rings, 0);
    const received = receiveMessageOnPort(this.port) as { readonly message: CopyReport } | undefined;
    if (received !== undefined) {
      this.take(received.message);
      return;
    }
    const left = deadline - performance.now();
    if (left > 0) Atomics.wait(this.rings, 0, heard, left);
    else this.failAll(new UnspentError('COPY_UNREACHABLE', `the database of the copy did not answer in ${COPY_WAIT_MS} ms`));
  }

  private take(message: CopyReport): void {
    if (message.kind === 'found') {
      const { found } = message;
      for (const [i, wanted] of this.settle(message.id).entries()) wanted.found(found[i]);
    } else if (message.kind === 'missed') {
      const error = errorOf(message.failure);
      for (const wanted of this.settle(message.id)) wanted.missed(error);
    } else if (message.kind === 'pinned') queueMicrotask(() => this.listener.onPinned(message));
    else if (message.kind === 'state') queueMicrotask(() => this.listener.onState(message.state));
    else if (message.kind === 'failed') this.fail(errorOf(message.failure));
  }

  private settle(id: number): readonly Wanted[] {
    const wanted = this.asked.get(id) ?? [];
    this.asked.delete(id);
    return wanted;
  }

  private fail(error: Error): void {
    this.failAll(error);
    queueMicrotask(() => this.listener.onFailure(error));
  }

  private failAll(error: Error): void {
    const all = [...this.asked.values()].flat();
    this.asked.clear();
    for (const wanted of all) wanted.missed(error);
  }

  private order(order: CopyOrder): void {
    this.port.postMessage(order);
  }
}

function closed(): UnspentError {
  return new UnspentError('CLOSED', 'the copy is closed');
}
