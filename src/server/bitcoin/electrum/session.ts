/**
 * One client: its messages in the order they came, one at a time, with a turn
 * for everybody else between two of them. From a client that does not take its
 * answers nothing more is read, and one that lets too much pile up is cut off.
 * Whatever goes wrong in here ends this session at most.
 */

import { ELECTRUM_BATCH_BYTES_MAX, ELECTRUM_QUEUE_MAX, ELECTRUM_UNREAD_BYTES, ELECTRUM_UNREAD_BYTES_MAX } from '../../../util/limits.ts';
import { nextTurn } from '../../../util/time-slice.ts';
import type { Task } from '../../http/work/task.ts';
import type { Backend } from './backend.ts';
import type { MethodCaller, Methods } from './method.ts';
import { readParams } from './params.ts';
import { type Call, errorText, type Message, notificationText, RPC, RpcError, readMessage, resultText, rpcErrorOf } from './rpc.ts';
import { isAtLeast, negotiate, OLDEST, type Version } from './version.ts';
import type { Receiver, Wire } from './wire.ts';

/** Bytes of messages that wait, past which nothing more is read. */
const QUEUE_CHARS = 64 * 1024;

export class Session implements MethodCaller, Receiver {
  version: Version = OLDEST;
  readonly scripts = new Set<string>();
  /** One for all messages that are answered in one go: who keeps the server busy takes turns. */
  task: Task;
  /** When it last said something. */
  heardMs = performance.now();
  /** Since when it has not taken what was sent; null: it has. */
  stalledMs: number | null = null;
  private readonly wire: Wire;
  private readonly backend: Backend;
  private readonly methods: Methods;
  private readonly onClosed: (session: Session) => void;
  private negotiated = false;
  private hasAsked = false;
  private readonly queue: string[] = [];
  private queuedChars = 0;
  private working = false;
  private over = false;
  private wakeSender: (() => void) | null = null;

  constructor(wire: Wire, backend: Backend, methods: Methods, onClosed: (session: Session) => void) {
    this.wire = wire;
    this.backend = backend;
    this.task = this.newTask();
    this.methods = methods;
    this.onClosed = onClosed;
  }

  take(text: string): void {
    if (this.over) return;
    this.heardMs = performance.now();
    this.queue.push(text);
    this.queuedChars += text.length;
    if (this.isFull) this.wire.pause();
    if (!this.working) void this.work();
  }

  tooLong(): void {
    this.refuse(new RpcError(RPC.invalid, 'the message is too long'));
  }

  closed(): void {
    this.over = true;
    this.wakeSender?.();
    this.onClosed(this);
  }

  /** Says why, and ends it. */
  refuse(error: RpcError): void {
    if (this.over) return;
    this.send(errorText(null, error));
    this.end();
  }

  end(): void {
    this.over = true;
    this.queue.length = 0;
    this.wire.end();
  }

  destroy(): void {
    this.over = true;
    this.wire.destroy();
  }

  negotiate(asked: unknown): Version {
    if (this.negotiated) throw new RpcError(RPC.badRequest, 'server.version was sent before');
    this.version = negotiate(asked, this.hasAsked);
    this.negotiated = true;
    return this.version;
  }

  notify(method: string, params: readonly unknown[]): void {
    if (this.over) return;
    if (this.wire.pendingBytes > ELECTRUM_UNREAD_BYTES_MAX) this.destroy();
    else this.send(notificationText(method, params));
  }

  private get isFull(): boolean {
    return this.queue.length >= ELECTRUM_QUEUE_MAX || this.queuedChars >= QUEUE_CHARS;
  }

  private async work(): Promise<void> {
    this.working = true;
    this.task = this.newTask();
    try {
      for (let text = this.queue.shift(); text !== undefined && !this.over; text = this.queue.shift()) {
        this.queuedChars -= text.length;
        await this.answer(text);
        await this.taken();
        this.task.done(0);
        await nextTurn();
        if (!this.isFull && !this.over) this.wire.resume();
      }
    } catch (error) {
      this.backend.failed(error, 'session');
      this.destroy();
    } finally {
      this.task.done(0);
      this.working = false;
    }
  }

  private async answer(text: string): Promise<void> {
    let message: Message;
    try {
      message = readMessage(text);
    } catch (error) {
      return this.sendError(error as RpcError);
    }
    const { batch, calls } = message;
    const answers: string[] = [];
    let bytes = 0;
    let fatal = false;
    for (const call of calls) {
      const [answer, ends] = bytes > ELECTRUM_BATCH_BYTES_MAX ? tooMuch(call) : await this.call(call);
      if (answer !== null) bytes += answers.push(answer) && answer.length;
      fatal ||= ends;
      if (this.over) return;
    }
    if (answers.length > 0) this.send(batch ? `[${answers.join(',')}]` : answers[0]);
    if (fatal) this.end();
  }

  private sendError(error: RpcError): void {
    this.send(errorText(null, error));
    if (error.fatal) this.end();
  }

  /** The answer (null: nobody waits for it), and whether the session ends with it. */
  private async call(call: Message['calls'][number]): Promise<[string | null, boolean]> {
    if ('error' in call) return [errorText(call.id, call.error), false];
    try {
      const result = await this.task.run(() => this.run(call));
      if (call.id === undefined) return [null, false];
      const answer = resultText(call.id, result ?? null);
      this.task.hold(answer.length);
      return [answer, false];
    } catch (failure) {
      const error = this.errorOf(failure, call.method);
      return [call.id === undefined ? null : errorText(call.id, error), error.fatal];
    }
  }

  private run(call: Call): unknown {
    const method = Object.hasOwn(this.methods, call.method) ? this.methods[call.method] : undefined;
    if (call.method !== 'server.version') this.hasAsked = true;
    const { since = OLDEST, until } = method ?? {};
    if (method === undefined || !isAtLeast(this.version, since) || (until !== undefined && !isAtLeast(until, this.version))) {
      throw new RpcError(RPC.noMethod, `unknown method '${call.method.slice(0, 80)}' in version ${this.version}`);
    }
    return method.run(readParams(method, call), this);
  }

  private newTask(): Task {
    return this.backend.context.workload.task(() => this.over);
  }

  private errorOf(failure: unknown, method: string): RpcError {
    const known = rpcErrorOf(failure);
    if (known !== null) return known;
    this.backend.failed(failure, method);
    return new RpcError(RPC.internal, 'internal error');
  }

  private send(text: string): void {
    this.stalledMs ??= performance.now();
    this.wire.send(text, () => {
      this.stalledMs = this.wire.pendingBytes === 0 ? null : performance.now();
      if (this.wire.pendingBytes <= ELECTRUM_UNREAD_BYTES) this.wakeSender?.();
    });
  }

  /** Resolves when the client has taken most of what was sent, or is gone. */
  private async taken(): Promise<void> {
    while (this.wire.pendingBytes > ELECTRUM_UNREAD_BYTES && !this.over) {
      await new Promise<void>((resolve) => {
        this.wakeSender = resolve;
      });
    }
    this.wakeSender = null;
  }
}

function tooMuch({ id }: Message['calls'][number]): [string | null, boolean] {
  const error = new RpcError(RPC.badRequest, 'the answers of the batch before this one are too long');
  return [id === undefined ? null : errorText(id, error), false];
}
