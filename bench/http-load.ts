/**
 * The client of `bench http`, a process of its own: requests over kept-alive
 * sockets with as little work per request as possible, so that what is measured
 * is the server. Reads one order, a line of JSON, and prints a line of JSON.
 *
 *   closed  `connections` sockets, each asks again as soon as it was answered;
 *           `once`: until each path was asked, if that is before the time is over
 *   rate    `perSecond` requests a second, each due at its own time: a late answer
 *           counts from when it was due, so that a stalled server cannot hide.
 *           Counts from a second line on standard input until that ends
 *   stream  `clients` at once read the whole answer of the one path, once each, or
 *           `requests` times together
 */
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

export type Order =
  | { readonly kind: 'closed'; readonly connections: number; readonly seconds: number; readonly once?: boolean }
  | { readonly kind: 'rate'; readonly connections: number; readonly perSecond: number }
  | { readonly kind: 'stream'; readonly clients: number; readonly requests?: number };

export interface Load {
  readonly port: number;
  readonly paths: readonly string[];
  readonly order: Order;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Answers of 5xx, and connections that broke. */
  readonly errors: number;
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly bytes: number;
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** One kept-alive connection; one question at a time. */
class Line {
  status = 0;
  bytes = 0;
  private readonly socket: Socket;
  private readonly port: number;
  private buffer = '';
  private left = -1;
  private done: (() => void) | null = null;
  private failed: ((error: Error) => void) | null = null;

  constructor(port: number) {
    this.port = port;
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => this.read(text));
    this.socket.on('error', (error) => this.failed?.(error));
    this.socket.on('close', () => this.failed?.(new Error('closed')));
  }

  ask(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.done = resolve;
      this.failed = reject;
      this.socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${this.port}\r\n\r\n`);
    });
  }

  end(): void {
    this.failed = null;
    this.socket.destroy();
  }

  private read(text: string): void {
    this.bytes += text.length;
    if (this.left >= 0) this.left -= text.length;
    else {
      this.buffer += text;
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.status = Number(this.buffer.slice(9, 12));
      const length = /content-length: (\d+)/i.exec(this.buffer.slice(0, end));
      this.left = Number(length?.[1] ?? 0) - (this.buffer.length - end - 4);
      this.buffer = '';
    }
    if (this.left > 0) return;
    this.left = -1;
    this.done?.();
  }
}

class Tally {
  readonly times: number[] = [];
  errors = 0;
  bytes = 0;

  result(seconds: number): LoadResult {
    const sorted = Float64Array.from(this.times).sort();
    const at = (share: number): number => Number((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(2));
    const mean = Number((sorted.reduce((sum, ms) => sum + ms, 0) / Math.max(1, sorted.length)).toFixed(2));
    return { requests: sorted.length, seconds, errors: this.errors, mean, p50: at(0.5), p99: at(0.99), max: at(1), bytes: this.bytes };
  }
}

type Closed = Extract<Order, { readonly kind: 'closed' }>;

async function closed({ port, paths }: Load, { connections, seconds, once = false }: Closed, tally: Tally): Promise<void> {
  const most = once ? paths.length : Number.POSITIVE_INFINITY;
  const end = performance.now() + 1000 * seconds;
  let next = 0;
  const work = async (): Promise<void> => {
    const line = new Line(port);
    while (next < most && performance.now() < end) {
      const started = performance.now();
      await line.ask(paths[next++ % paths.length]);
      tally.times.push(performance.now() - started);
      if (line.status >= 500) tally.errors++;
    }
    tally.bytes += line.bytes;
    line.end();
  };
  // Never asleep: on a virtual machine, waking a sleeping client costs the server more than the answer did.
  let busy = true;
  const spin = (): void => void (busy && setImmediate(spin));
  spin();
  await Promise.all(Array.from({ length: connections }, work));
  busy = false;
}

async function rate({ port, paths }: Load, connections: number, perSecond: number, tally: Tally): Promise<void> {
  const started = performance.now();
  let [next, countFrom, ended] = [0, Number.POSITIVE_INFINITY, false];
  void lines.next().then(({ done }) => {
    if (done !== true) countFrom = performance.now();
    return lines.next().then(() => {
      ended = true;
    });
  });
  const work = async (): Promise<void> => {
    const line = new Line(port);
    for (let mine = next++; !ended; mine = next++) {
      const due = started + (1000 * mine) / perSecond;
      const wait = due - performance.now();
      if (wait > 0.5) await new Promise((resolve) => setTimeout(resolve, wait));
      await line.ask(paths[mine % paths.length]);
      if (due < countFrom) continue;
      tally.times.push(performance.now() - due);
      if (line.status >= 500) tally.errors++;
    }
    tally.bytes += line.bytes;
    line.end();
  };
  await Promise.all(Array.from({ length: connections }, work));
}

function stream(port: number, path: string, tally: Tally): Promise<void> {
  const started = performance.now();
  return new Promise((resolve) => {
    const ended = (good: boolean): void => {
      if (!good) tally.errors++;
      tally.times.push(performance.now() - started);
      resolve();
    };
    const asked = request({ port, host: '127.0.0.1', path, agent: false }, (answer) => {
      answer.on('data', (piece: Uint8Array) => {
        tally.bytes += piece.length;
      });
      answer.on('end', () => ended(answer.statusCode === 200 && answer.complete));
      answer.on('error', () => ended(false));
    });
    asked.on('error', () => ended(false));
    asked.end();
  });
}

async function streams({ port, paths }: Load, clients: number, requests: number, tally: Tally): Promise<void> {
  let left = requests;
  const work = async (): Promise<void> => {
    while (left-- > 0) await stream(port, paths[0], tally);
  };
  await Promise.all(Array.from({ length: clients }, work));
}

if (process.argv[1] === import.meta.filename) {
  const load = JSON.parse((await lines.next()).value ?? '') as Load;
  const { order } = load;
  const tally = new Tally();
  const started = performance.now();
  if (order.kind === 'closed') await closed(load, order, tally);
  else if (order.kind === 'rate') await rate(load, order.connections, order.perSecond, tally);
  else await streams(load, order.clients, order.requests ?? order.clients, tally);
  console.log(JSON.stringify(tally.result((performance.now() - started) / 1000)));
}
