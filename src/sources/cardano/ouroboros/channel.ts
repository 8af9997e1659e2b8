/**
 * One mini-protocol on a connection, in one role: whole messages out and in.
 * It is the multiplexer's counter towards the protocols; `Mux.channel` opens it.
 */
import { assert, UnspentError } from '../../../util/errors.ts';
import { Ingress, type Part } from './ingress.ts';
import type { Mux } from './mux.ts';

/** Turns of the event loop in which late bytes may still come, after one that blocked it for longer than the limit. */
const LATE_TURNS_MAX = 100;

interface Waiter {
  /** Takes what it waits for, if it is here; undefined: not yet. */
  readonly take: () => unknown;
  timer: NodeJS.Timeout | null;
  readonly resolve: (taken: never) => void;
  readonly reject: (error: unknown) => void;
}

export class Channel {
  /** @internal */
  readonly ingress = new Ingress();
  /** @internal The protocol field of the segments it sends. */
  readonly sends: number;
  readonly mux: Mux;
  private waiter: Waiter | null = null;

  constructor(mux: Mux, sends: number) {
    this.mux = mux;
    this.sends = sends;
  }

  /** Queues a message; it leaves with whatever else this turn of the event loop brings. */
  send(message: Uint8Array): void {
    this.mux.send(this, message);
  }

  /** A promise when more is queued than the peer takes: wait for it before sending much more. */
  drained(): Promise<void> | undefined {
    return this.mux.drained();
  }

  /** The next message if it is here whole. What came before the end of a connection can still be taken. */
  tryReceive(bytesMax: number): Uint8Array | undefined {
    return this.tryTake(() => this.ingress.take(bytesMax));
  }

  private tryTake<T>(take: () => T): T {
    try {
      const taken = take();
      this.mux.caughtUp();
      return taken;
    } catch (error) {
      if (error instanceof UnspentError) this.mux.fail(error);
      throw error;
    }
  }

  /** The next message. `timeoutMs` null: waits for ever. */
  receive(bytesMax: number, timeoutMs: number | null, what: string): Promise<Uint8Array> {
    return this.whenHere(() => this.ingress.take(bytesMax), timeoutMs, what);
  }

  /** What has come of the next message, at least a byte. Once begun, a message is taken in parts to its end. */
  receivePart(bytesMax: number, timeoutMs: number | null, what: string): Promise<Part> {
    return this.whenHere(() => this.ingress.takePart(bytesMax), timeoutMs, what);
  }

  private whenHere<T>(take: () => T | undefined, timeoutMs: number | null, what: string): Promise<T> {
    assert(this.waiter === null, 'one reader at a time');
    return new Promise((resolve, reject) => {
      const taken = this.tryTake(take);
      if (taken !== undefined) return resolve(taken);
      if (this.mux.failure !== null) return reject(this.mux.failure);
      const waiter: Waiter = { take, timer: null, resolve, reject };
      if (timeoutMs !== null) {
        const limitMs = timeoutMs * this.mux.timeScale;
        waiter.timer = setTimeout(() => this.late(waiter, limitMs, what, LATE_TURNS_MAX), limitMs);
      }
      this.waiter = waiter;
    });
  }

  /** @internal */
  arrived(piece: Uint8Array): void {
    this.ingress.push(piece);
    if (this.waiter === null) return;
    const taken = this.waiter.take();
    if (taken !== undefined) this.release()?.resolve(taken as never);
  }

  /** @internal */
  ended(error: UnspentError): void {
    this.release()?.reject(error);
  }

  private release(): Waiter | null {
    const { waiter } = this;
    this.waiter = null;
    if (waiter !== null && waiter.timer !== null) clearTimeout(waiter.timer);
    return waiter;
  }

  /** Time is up; but if it was us who did not look for so long, the answer may be waiting in the system. */
  private late(waiter: Waiter, limitMs: number, what: string, turns: number): void {
    const { mux } = this;
    const { bytesIn, peer } = mux;
    setImmediate(() => {
      if (this.waiter !== waiter) return;
      if (mux.bytesIn !== bytesIn && turns > 0) this.late(waiter, limitMs, what, turns - 1);
      else
        mux.fail(
          new UnspentError('SOURCE_UNREACHABLE', `${peer} did not answer in ${limitMs / 1000} s (${what})`, { peer, what, limitMs }),
        );
    });
  }
}
