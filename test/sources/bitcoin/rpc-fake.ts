/**
 * A node's RPC that is a script: a chain that tests set as they like, a mempool
 * likewise, and faults on the way of any answer.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { decodeTx, formatId } from '../../../src/ledgers/bitcoin/index.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { newChain } from './blk-folder.ts';
import { hashOf } from './pump.ts';

export interface FakeCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Throw one for an answer that is an error. */
export class FakeError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Fault = (calls: readonly FakeCall[], response: ServerResponse) => boolean | undefined;

export class FakeNode {
  chain: Uint8Array[] = newChain(10);
  /** Blocks it no longer gives, by hash. */
  readonly withheld = new Set<string>();
  readonly mempool = new Map<string, Uint8Array>();
  readonly submitted: Uint8Array[] = [];
  /** True when it has answered itself, or does not want to. */
  fault: Fault = () => false;
  /** Overrides the answer of a method. */
  readonly answers = new Map<string, (params: readonly unknown[]) => unknown>();
  password = 'u:p%40ss';
  /** Calls of each request. */
  readonly requests: (readonly FakeCall[])[] = [];
  private readonly sockets = new Set<Socket>();
  connections = 0;
  /** Over TLS, as PEM. */
  private readonly tls: { readonly cert: Buffer; readonly key: Buffer } | null;
  private server: Server;
  port = 0;

  constructor(tls: { readonly cert: Buffer; readonly key: Buffer } | null = null) {
    this.tls = tls;
    this.server = this.newServer();
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  /** As if the machine had gone: every connection ends at once. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.dropAll();
    await closed;
    this.server = this.newServer();
  }

  dropAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  get url(): string {
    return this.name.replace('//', '//u:p%2540ss@');
  }

  get name(): string {
    return `${this.tls === null ? 'rpc' : 'rpcs'}://127.0.0.1:${this.port}`;
  }

  /** What was asked for most at once. */
  largest(method: string): number {
    return Math.max(0, ...this.requests.map((calls) => calls.filter((call) => call.method === method).length));
  }

  addTx(raw: Uint8Array): string {
    const id = formatId(decodeTx(raw, true).id);
    this.mempool.set(id, raw);
    return id;
  }

  private newServer(): Server {
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.answer(request, response);
    const server = this.tls === null ? createServer(answer) : createTlsServer(this.tls, answer);
    server.on('connection', (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    return server;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    if (request.headers.authorization !== `Basic ${Buffer.from(this.password).toString('base64')}`) {
      response.writeHead(401).end();
      return;
    }
    const body = JSON.parse(text);
    const calls: FakeCall[] = Array.isArray(body) ? body : [body];
    this.requests.push(calls);
    if (this.fault(calls, response)) return;
    const replies = calls.map((call) => this.reply(call));
    const failed = !Array.isArray(body) && replies[0].error !== null;
    response.writeHead(failed ? 500 : 200, { 'content-type': 'application/json' });
    // Answers need not come in the order of the questions.
    response.end(JSON.stringify(Array.isArray(body) ? replies.reverse() : replies[0]));
  }

  private reply({ id, method, params }: FakeCall): { id: number; result: unknown; error: unknown } {
    try {
      return { id, result: (this.answers.get(method) ?? this.methods[method])(params), error: null };
    } catch (error) {
      if (!(error instanceof FakeError)) throw error;
      return { id, result: null, error: { code: error.code, message: error.message } };
    }
  }

  private readonly methods: Record<string, (params: readonly unknown[]) => unknown> = {
    getnetworkinfo: () => ({ version: 210201 }),
    getblockchaininfo: () => ({ blocks: this.chain.length - 1, bestblockhash: hashOf(this.chain[this.chain.length - 1]) }),
    getbestblockhash: () => hashOf(this.chain[this.chain.length - 1]),
    getblockhash: ([height]) => {
      const block = this.chain[height as number];
      if (block === undefined) throw new FakeError(-8, 'Block height out of range');
      return hashOf(block);
    },
    getblock: ([hash]) => {
      const block = this.chain.find((raw) => hashOf(raw) === hash);
      if (block === undefined || this.withheld.has(hash as string)) throw new FakeError(-5, 'Block not found');
      return Buffer.from(block).toString('hex');
    },
    getrawmempool: () => [...this.mempool.keys()],
    getrawtransaction: ([id]) => {
      const raw = this.mempool.get(id as string);
      if (raw === undefined) throw new FakeError(-5, 'No such mempool or blockchain transaction');
      return toHex(raw);
    },
    sendrawtransaction: ([hex]) => {
      const raw = fromHex(hex as string);
      this.submitted.push(raw);
      return this.addTx(raw);
    },
  };
}

/** For a node that lacks a method, in btcd's words: `answers.set(NAME, noMethod)`. */
export function noMethod(): never {
  throw new FakeError(-1, 'Command unimplemented');
}
