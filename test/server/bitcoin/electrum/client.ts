/**
 * The smallest client there can be: lines over a socket, answers by id, and
 * everything else kept for the test to look at.
 */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly method?: string;
  readonly params?: readonly unknown[];
}

export class LineClient {
  readonly socket: Socket;
  /** Messages in the order they came; a batch is one. */
  readonly received: (Reply | Reply[])[] = [];
  readonly closed: Promise<void>;
  isClosed = false;
  private text = '';
  private last = 0;
  private readonly waiting = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => this.take(chunk));
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true;
        this.wake();
        resolve();
      });
    });
  }

  /** `version`: what it begins with; null: nothing. */
  static async open(port: number | undefined, version: unknown = '1.4'): Promise<LineClient> {
    const socket = connect({ port: port!, host: '127.0.0.1' });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const client = new LineClient(socket);
    if (version !== null) await client.ask('server.version', 'test', version);
    return client;
  }

  sendLine(text: string): void {
    this.socket.write(`${text}\n`);
  }

  /** The whole answer, good or bad. */
  async reply(method: string, params: unknown): Promise<Reply> {
    const id = ++this.last;
    this.sendLine(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return (await this.until((message) => !Array.isArray(message) && message.id === id && message.method === undefined)) as Reply;
  }

  async ask<T = unknown>(method: string, ...params: unknown[]): Promise<T> {
    const { result, error } = await this.reply(method, params);
    assert.equal(error, undefined, `${method}: ${JSON.stringify(error)}`);
    return result as T;
  }

  /** The code it is refused with. */
  async refusal(method: string, ...params: unknown[]): Promise<number> {
    const { error } = await this.reply(method, params);
    return error?.code ?? assert.fail(`${method} was answered`);
  }

  /** The first message of that kind, come or to come. */
  async until(wanted: (message: Reply | Reply[]) => boolean): Promise<Reply | Reply[]> {
    for (;;) {
      const found = this.received.find(wanted);
      if (found !== undefined) return found;
      if (this.isClosed) return assert.fail('the connection was closed');
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  /** Notifications of a method, so far. */
  notified(method: string): readonly (readonly unknown[])[] {
    return this.received.flatMap((message) => (!Array.isArray(message) && message.method === method ? [message.params!] : []));
  }

  close(): Promise<void> {
    this.socket.destroy();
    return this.closed;
  }

  private take(chunk: string): void {
    const lines = (this.text + chunk).split('\n');
    this.text = lines.pop()!;
    for (const line of lines) this.received.push(JSON.parse(line) as Reply);
    this.wake();
  }

  private wake(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}
