/**
 * JSON-RPC over WebSocket. Each message is handed to the HTTP server as a `POST`
 * of its own, with the headers that the connection was opened with: so the same
 * guards, limits and metrics hold for both. Chain synchronisation and a look at
 * the mempool have a state, which belongs to the connection, and are answered here.
 *
 * Messages are answered in their order, those of chain synchronisation and those
 * of the mempool apart from all others: whoever waits for a block can still ask.
 * The work for a connection ends with it, an answer counts among the bytes held
 * until its client has taken it, and a client that takes nothing is cut off.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import {
  HTTP_STALLED_MS,
  OGMIOS_KEEP_ALIVE_MS,
  OGMIOS_MESSAGES_MAX,
  OGMIOS_PIPELINED_MAX,
  OGMIOS_WAITING_CHARS,
} from '../../../util/limits.ts';
import { injectFor } from '../../http/inject.ts';
import { hostsIn } from '../../http/safety.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { Task } from '../../http/work/task.ts';
import type { Workload } from '../../http/work/workload.ts';
import { ChainSync } from './chain-sync.ts';
import { MempoolMonitor } from './mempool-monitor.ts';
import { answerTo, methodOf, type RpcMethods } from './rpc.ts';

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Asks for what everybody may know: whether this client may ask at all is what the guards say. */
const PROBE = JSON.stringify({ jsonrpc: '2.0', method: 'queryNetwork/startTime' });
/** RFC 6455, 7.4.1: the server cannot do what it was asked for. */
const CLOSE_UNABLE = 1011;

export function serveWebSockets(app: FastifyInstance, path: string, messageBytesMax: number, state: ServerState): void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: messageBytesMax, perMessageDeflate: false });
  app.server.on('upgrade', async (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // The connection may break at any moment; then there is nobody to tell.
    socket.on('error', () => socket.destroy());
    // Whoever waits for a block sends nothing: that it is still there is for the operating system to find out.
    socket.setKeepAlive(true, OGMIOS_KEEP_ALIVE_MS);
    const asked = (request.url ?? '').split('?')[0].replace(/\/+$/, '');
    if (asked !== path) return refuse(socket, 404);
    // Only one of them would be looked at by the guards.
    if (hostsIn(request) > 1) return refuse(socket, 400);
    if (!app.connections.upgrade(socket)) return refuse(socket, 503);
    const isGone = (): boolean => socket.destroyed;
    const post = (payload: string) => injectFor(isGone, app, { method: 'POST', url: path, headers: headersFor(request), payload });
    // A server that is closing answers nothing any more.
    const status = await post(PROBE).then(
      ({ statusCode }) => statusCode,
      () => 503,
    );
    if (status !== 200) return refuse(socket, status);
    sockets.handleUpgrade(request, socket, head, (client) => {
      const peer = new Peer(client, socket, state.context.workload, stalledMsOf(app));
      serve(peer, state, async (text) => (await post(text)).payload);
    });
  });
  app.addHook('preClose', async () => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });
}

/** As of any other answer: how long its reader may take nothing. */
function stalledMsOf({ server: { timeout } }: FastifyInstance): number {
  return Math.min(timeout || HTTP_STALLED_MS, HTTP_STALLED_MS);
}

function headersFor({ headers: { host, origin, authorization } }: IncomingMessage): Record<string, string> {
  const given = Object.entries({ host, origin, authorization }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return { ...Object.fromEntries(given), 'content-type': 'application/json' };
}

function serve(peer: Peer, state: ServerState, ask: (text: string) => Promise<string>): void {
  const { client } = peer;
  const [sync, monitor] = [new ChainSync(state.context), new MempoolMonitor(state.context)];
  const onRoom = (): void => {
    if (peer.isReading && ![queries, blocks, looks].some(({ isFull }) => isFull)) client.resume();
  };
  const queries = new AnswerQueue(peer, OGMIOS_MESSAGES_MAX, ask, onRoom);
  const answerWith = (methods: RpcMethods) => (text: string) => peer.work((task) => answerTo(text, methods, state, task));
  const looks = new AnswerQueue(peer, OGMIOS_MESSAGES_MAX, answerWith(monitor.methods), onRoom);
  const blocks = new AnswerQueue(peer, OGMIOS_PIPELINED_MAX, answerWith(sync.methods), () => {
    if (sync.isBroken) client.close(CLOSE_UNABLE, 'the next block cannot be given: the last answer says why');
    onRoom();
  });
  client.on('message', (data) => {
    const text = data.toString();
    const method = methodOf(text) ?? '';
    const queue = sync.methods.has(method) ? blocks : monitor.methods.has(method) ? looks : queries;
    queue.push(text);
    if (queue.isFull) client.pause();
  });
  client.on('close', () => {
    sync.close();
    monitor.close();
  });
  client.on('error', () => client.terminate());
}

/** The client of one WebSocket: work for it, and answers on their way to it. */
class Peer {
  readonly client: WebSocket;
  private readonly socket: Socket;
  private readonly workload: Workload;
  private readonly stalledMs: number;
  /** Answers it has not taken yet. */
  private sending = 0;

  constructor(client: WebSocket, socket: Socket, workload: Workload, stalledMs: number) {
    this.client = client;
    this.socket = socket;
    this.workload = workload;
    this.stalledMs = stalledMs;
    // Set while an answer is under way: the system has moved no byte of it for as long.
    socket.on('timeout', () => client.terminate());
  }

  get isOpen(): boolean {
    return this.client.readyState === this.client.OPEN;
  }

  /** Whether it has taken all that was sent. */
  get isReading(): boolean {
    return this.sending === 0;
  }

  /** Never refused: a connection asks for one thing of a kind at a time, and the number of connections is bounded. */
  async work(answer: (task: Task) => Promise<{ readonly text: string }>): Promise<string> {
    const task = this.workload.ownTask(() => !this.isOpen);
    try {
      return (await answer(task)).text;
    } finally {
      task.end();
    }
  }

  /** Resolves when the client's side of the connection takes it, or the connection is gone. */
  send(answer: string): Promise<void> {
    if (!this.isOpen) return Promise.resolve();
    const held = this.workload.ownTask(() => false);
    held.done(answer.length);
    this.sending++;
    this.socket.setTimeout(this.stalledMs);
    return new Promise((resolve) => {
      this.client.send(answer, () => {
        held.end();
        if (--this.sending === 0) this.socket.setTimeout(0);
        resolve();
      });
      // Else one that goes on asking would count as one that takes something.
      if (this.client.bufferedAmount > 0) this.client.pause();
    });
  }
}

/** Messages of one kind, answered one after the other. The next is begun when the answer before it is on its way. */
class AnswerQueue {
  private readonly peer: Peer;
  private readonly max: number;
  private readonly answer: (text: string) => Promise<string>;
  private readonly onAnswered: () => void;
  private readonly waiting: string[] = [];
  private waitingChars = 0;
  private isAnswering = false;

  constructor(peer: Peer, max: number, answer: (text: string) => Promise<string>, onAnswered: () => void) {
    this.peer = peer;
    this.max = max;
    this.answer = answer;
    this.onAnswered = onAnswered;
  }

  get isFull(): boolean {
    return this.waiting.length >= this.max || this.waitingChars >= OGMIOS_WAITING_CHARS;
  }

  push(text: string): void {
    this.waiting.push(text);
    this.waitingChars += text.length;
    if (!this.isAnswering) void this.run();
  }

  private async run(): Promise<void> {
    this.isAnswering = true;
    while (this.peer.isOpen) {
      const text = this.waiting.shift();
      if (text === undefined) break;
      this.waitingChars -= text.length;
      const answer = await this.answer(text).catch(() => null);
      if (answer === null) {
        // Not even an error can be told, because the server is closing. Nobody waits for this loop, so it must not fail.
        this.peer.client.terminate();
        break;
      }
      await this.peer.send(answer);
      this.onAnswered();
    }
    this.isAnswering = false;
  }
}

/** Whoever keeps its half open would otherwise keep its place among the connections, too: nobody looks after it any more. */
function refuse(socket: Socket, status: number): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
