/**
 * JSON-RPC over WebSocket. Each message is handed to the HTTP server as a `POST`
 * of its own, with the headers that the connection was opened with: so the same
 * guards, limits and metrics hold for both. Chain synchronisation and a look at
 * the mempool have a state, which belongs to the connection, and are answered here.
 *
 * Messages are answered in their order, those of chain synchronisation and those
 * of the mempool apart from all others: whoever waits for a block can still ask.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { OGMIOS_KEEP_ALIVE_MS, OGMIOS_MESSAGES_MAX, OGMIOS_PIPELINED_MAX } from '../../../util/limits.ts';
import type { ServerState } from '../../http/server-state.ts';
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
    const { statusCode } = await post(app, path, request, PROBE);
    if (statusCode !== 200) return refuse(socket, statusCode);
    sockets.handleUpgrade(request, socket, head, (client) => {
      serve(client, state, async (text) => (await post(app, path, request, text)).payload);
    });
  });
  app.addHook('preClose', async () => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });
}

function post(app: FastifyInstance, url: string, { headers }: IncomingMessage, payload: string) {
  const { host, origin, authorization } = headers;
  const given = Object.fromEntries(Object.entries({ host, origin, authorization }).filter(([, value]) => value !== undefined));
  return app.inject({ method: 'POST', url, headers: { ...given, 'content-type': 'application/json' }, payload });
}

function serve(client: WebSocket, state: ServerState, ask: (text: string) => Promise<string>): void {
  const [sync, monitor] = [new ChainSync(state.context), new MempoolMonitor(state.context)];
  const onRoom = (): void => {
    if (![queries, blocks, looks].some(({ isFull }) => isFull)) client.resume();
  };
  const queries = new AnswerQueue(client, OGMIOS_MESSAGES_MAX, ask, onRoom);
  const answerWith = (methods: RpcMethods) => async (text: string) => (await answerTo(text, methods, state)).text;
  const looks = new AnswerQueue(client, OGMIOS_MESSAGES_MAX, answerWith(monitor.methods), onRoom);
  const blocks = new AnswerQueue(client, OGMIOS_PIPELINED_MAX, answerWith(sync.methods), () => {
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

/** Messages of one kind, answered one after the other. The next is begun when the answer before it is on its way. */
class AnswerQueue {
  private readonly client: WebSocket;
  private readonly max: number;
  private readonly answer: (text: string) => Promise<string>;
  private readonly onAnswered: () => void;
  private readonly waiting: string[] = [];
  private isAnswering = false;

  constructor(client: WebSocket, max: number, answer: (text: string) => Promise<string>, onAnswered: () => void) {
    this.client = client;
    this.max = max;
    this.answer = answer;
    this.onAnswered = onAnswered;
  }

  get isFull(): boolean {
    return this.waiting.length >= this.max;
  }

  push(text: string): void {
    this.waiting.push(text);
    if (!this.isAnswering) void this.run();
  }

  private async run(): Promise<void> {
    this.isAnswering = true;
    while (this.client.readyState === this.client.OPEN) {
      const text = this.waiting.shift();
      if (text === undefined) break;
      await this.send(await this.answer(text));
      this.onAnswered();
    }
    this.isAnswering = false;
  }

  /** Resolves when the client's side of the connection takes it, or the connection is gone. */
  private send(answer: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.client.readyState === this.client.OPEN) this.client.send(answer, () => resolve());
      else resolve();
    });
  }
}

function refuse(socket: Socket, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
