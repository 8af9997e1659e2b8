/**
 * A client of a node's JSON-RPC: single calls and batches over HTTP connections
 * that are kept. What the node says no to is an `RpcError` with its code and
 * words; a node that is still loading is waited for; an answer that is none is
 * PROTOCOL.
 */
import type { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import { RPC_ANSWER_BYTES_MAX, RPC_ANSWER_MS, RPC_BATCHES_AHEAD, RPC_LOADING_MS_MAX } from '../../../util/limits.ts';
import { pause } from '../../../util/pause.ts';
import { authorization, parseRpcAddress, type RpcAddress, trusted } from './address.ts';
import { type Posted, post } from './post.ts';

const { Agent: PlainAgent } = process.getBuiltinModule('node:http');

export interface RpcCall {
  readonly method: string;
  readonly params?: readonly unknown[];
}

export interface RpcCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds of silence; some questions take a node minutes. */
  readonly answerMs?: number;
  readonly answerBytesMax?: number;
  /** Milliseconds for which a node that is loading is asked again. */
  readonly loadingMs?: number;
}

/** What the node answered instead of a result. */
export class RpcError extends UnspentError {
  readonly nodeCode: number;
  /** In the node's own words. */
  readonly nodeMessage: string;

  constructor(name: string, method: string, nodeCode: number, nodeMessage: string) {
    super('PROTOCOL', `${name} answers ${method} with '${nodeMessage}' (${nodeCode})`, { method, nodeCode, nodeMessage });
    this.nodeCode = nodeCode;
    this.nodeMessage = nodeMessage;
  }
}

const LOADING = -28;
const LOADING_PAUSE_MS = 250;
const WORDS_MAX = 200;

export class RpcClient {
  /** The address without the password. */
  readonly name: string;
  private readonly address: RpcAddress;
  /** Made with the first question, which reads the certificate. */
  private agent: Agent | null = null;
  private auth: string | null = null;

  /** Connects when it is first asked something. Throws USAGE. */
  constructor(url: string, network: BitcoinNetwork) {
    this.address = parseRpcAddress(url, network);
    this.name = this.address.name;
  }

  /** The result. Throws RpcError, SOURCE_UNREACHABLE, PROTOCOL. */
  async call(method: string, params: readonly unknown[] = [], options: RpcCallOptions = {}): Promise<unknown> {
    const [answer] = await this.whenLoaded(options, async () => {
      const reply = await this.send({ jsonrpc: '2.0', id: 0, method, params }, options);
      return [this.read(reply, method)];
    });
    if (answer instanceof RpcError) throw answer;
    return answer;
  }

  /** The results in the order of the calls; where the node said no to one, its RpcError. */
  batch(calls: readonly RpcCall[], options: RpcCallOptions = {}): Promise<unknown[]> {
    if (calls.length === 0) return Promise.resolve([]);
    const body = calls.map(({ method, params = [] }, id) => ({ jsonrpc: '2.0', id, method, params }));
    return this.whenLoaded(options, async () => this.sorted(calls, await this.send(body, options)));
  }

  /** Ends the connections; a later call makes new ones. */
  close(): void {
    this.agent?.destroy();
    this.agent = null;
  }

  /** Asks again while the node says that it is loading. */
  private async whenLoaded({ signal, loadingMs = RPC_LOADING_MS_MAX }: RpcCallOptions, ask: () => Promise<unknown[]>): Promise<unknown[]> {
    for (const deadline = Date.now() + loadingMs; ; ) {
      const answers = await ask();
      const loading = answers.find((answer): answer is RpcError => answer instanceof RpcError && answer.nodeCode === LOADING);
      if (loading === undefined) return answers;
      if (Date.now() >= deadline) throw this.unreachable(`it is still loading: ${loading.nodeMessage}`);
      await pause(LOADING_PAUSE_MS, { signal });
      if (signal?.aborted) throw new UnspentError('INTERRUPTED', `stopped while ${this.name} was loading`);
    }
  }

  private async send(body: unknown, options: RpcCallOptions): Promise<unknown> {
    const text = JSON.stringify(body);
    const before = this.auth;
    this.auth ??= await authorization(this.address);
    this.agent ??= await newAgent(this.address);
    const { agent } = this;
    let posted = await this.post(text, agent, options);
    if (posted.status === 401 && before !== null && this.address.access.kind === 'cookie') {
      // A node that was started again has another cookie.
      this.auth = await authorization(this.address);
      if (this.auth !== before) posted = await this.post(text, agent, options);
    }
    return this.parse(posted);
  }

  private post(text: string, agent: Agent, options: RpcCallOptions): Promise<Posted> {
    const { signal, answerMs = RPC_ANSWER_MS, answerBytesMax = RPC_ANSWER_BYTES_MAX } = options;
    return post(this.address, text, { agent, auth: this.auth ?? '', signal, answerMs, answerBytesMax });
  }

  /** An error comes with status 500, 404 or 400 and is JSON all the same. */
  private parse({ status, text }: Posted): unknown {
    if (status === 401) throw this.unauthorized();
    if (status === 403) throw this.unreachable('the node does not let us: see its rpcallowip and rpcwhitelist', { refused: true });
    if (status === 503) throw this.unreachable(`the node is too busy: ${words(text)}`);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.nonsense(`HTTP status ${status} and ${text === '' ? 'nothing' : `'${words(text)}'`}: is that a node's RPC?`, error);
    }
  }

  private sorted(calls: readonly RpcCall[], reply: unknown): unknown[] {
    if (!Array.isArray(reply)) {
      const whole = this.read(reply, 'a batch');
      throw whole instanceof RpcError ? whole : this.nonsense('a single result to a batch');
    }
    if (reply.length !== calls.length) throw this.nonsense(`${reply.length} results to ${calls.length} calls`);
    const answers = new Array<unknown>(calls.length);
    const seen = new Set<number>();
    for (const item of reply) {
      const id: unknown = item?.id;
      if (typeof id !== 'number' || calls[id] === undefined || seen.has(id)) throw this.nonsense('a result to a call that was not made');
      seen.add(id);
      answers[id] = this.read(item, calls[id].method);
    }
    return answers;
  }

  private read(item: unknown, method: string): unknown {
    if (typeof item !== 'object' || item === null || !('result' in item || 'error' in item)) throw this.nonsense(`no result of ${method}`);
    const { result, error } = item as { result?: unknown; error?: { code?: unknown; message?: unknown } | null };
    if (error === undefined || error === null) return result;
    if (typeof error.code !== 'number') throw this.nonsense(`an error of ${method} without a code`);
    return new RpcError(this.name, method, error.code, words(String(error.message ?? '')));
  }

  private unauthorized(): UnspentError {
    const { access } = this.address;
    // Read again next time: the file may be new by then.
    this.auth = null;
    if (access.kind === 'cookie') return this.unreachable(`the node does not take the cookie in ${access.path}: is it of this node?`);
    const message = 'the node does not take that user and password: use its rpcuser and rpcpassword, or ?cookie=PATH';
    return this.unreachable(message, { refused: true });
  }

  private unreachable(why: string, meta: Record<string, unknown> = {}): UnspentError {
    return new UnspentError('SOURCE_UNREACHABLE', `${this.name}: ${why}`, { name: this.name, ...meta });
  }

  private nonsense(what: string, cause?: unknown): UnspentError {
    return new UnspentError('PROTOCOL', `${this.name} answers with ${what}`, { name: this.name }, cause);
  }
}

async function newAgent(address: RpcAddress): Promise<Agent> {
  // One connection more than there are batches on their way, so that small questions do not wait for blocks.
  const options = { keepAlive: true, maxSockets: RPC_BATCHES_AHEAD + 1 };
  if (address.tls === null) return new PlainAgent(options);
  const ca = await trusted(address);
  return new TlsAgent(ca === undefined ? options : { ...options, ca });
}

/** A stranger's text, short and on one line. */
function words(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > WORDS_MAX ? `${line.slice(0, WORDS_MAX)}...` : line;
}
