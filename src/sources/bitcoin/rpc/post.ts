/**
 * One HTTP request and its whole answer, over connections that are kept. An
 * answer is bounded in bytes and in silence; whatever goes wrong on the way is
 * SOURCE_UNREACHABLE with a reason.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { UnspentError } from '../../../util/errors.ts';
import { CONNECT_MS } from '../../../util/limits.ts';
import type { RpcAddress } from './address.ts';

const { request: plainRequest } = process.getBuiltinModule('node:http');

export interface PostOptions {
  readonly agent: Agent;
  /** Value of the Authorization header. */
  readonly auth: string;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds of silence. */
  readonly answerMs: number;
  readonly answerBytesMax: number;
}

export interface Posted {
  readonly status: number;
  readonly text: string;
}

/** An answer longer than the limit. A caller that asked for several things at once may ask for fewer. */
export class AnswerTooLong extends UnspentError {
  constructor(name: string, bytesMax: number) {
    super('PROTOCOL', `${name}: an answer of more than ${bytesMax} bytes`, { bytesMax });
  }
}

export async function post(address: RpcAddress, body: string, options: PostOptions): Promise<Posted> {
  for (;;) {
    const exchange = new Exchange(address, body, options);
    try {
      return await exchange.answer;
    } catch (error) {
      // A kept connection that the node closed while it was idle; the next one is another.
      if (!exchange.wasStale) throw error;
    }
  }
}

class Exchange {
  readonly answer: Promise<Posted>;
  private readonly request: ClientRequest;
  private readonly name: string;
  private readonly options: PostOptions;
  private timer: NodeJS.Timeout | undefined;
  private begun = false;
  private cut = false;

  constructor({ name, host, port, tls }: RpcAddress, body: string, options: PostOptions) {
    const { agent, auth } = options;
    this.name = name;
    this.options = options;
    const headers = { authorization: auth, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = tls === null ? plainRequest : tlsRequest;
    this.request = request({ host, port, method: 'POST', path: '/', agent, headers });
    this.answer = this.exchange(body).finally(() => clearTimeout(this.timer));
  }

  /** True when a connection that was kept turned out to be closed before anything came. */
  get wasStale(): boolean {
    return this.request.reusedSocket && this.cut && !this.begun;
  }

  private exchange(body: string): Promise<Posted> {
    const { signal, answerMs } = this.options;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => {
        signal?.removeEventListener('abort', onAbort);
        reject(error);
        this.request.destroy();
      };
      const onAbort = (): void => fail(new UnspentError('INTERRUPTED', `stopped while asking ${this.name}`));
      const late = (): void => fail(this.unreachable(`no answer in ${(this.begun ? answerMs : this.patienceMs) / 1000} s`));
      this.request.on('error', (error: NodeJS.ErrnoException) => {
        this.cut = error.code === 'ECONNRESET' || error.code === 'EPIPE';
        fail(this.unreachable(reasonOf(error), error));
      });
      this.request.on('socket', () => this.wait(late));
      this.request.on('response', (response) => {
        this.begun = true;
        this.collect(response, late).then((posted) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(posted);
        }, fail);
      });
      signal?.addEventListener('abort', onAbort);
      if (signal?.aborted) onAbort();
      else this.request.end(body);
    });
  }

  private patienceMs = CONNECT_MS;

  /** Until there is a connection, and then until there is an answer. */
  private wait(late: () => void): void {
    const { socket } = this.request;
    const begin = (ms: number): void => {
      clearTimeout(this.timer);
      this.patienceMs = ms;
      this.timer = setTimeout(late, ms);
    };
    begin(socket?.connecting ? CONNECT_MS : this.options.answerMs);
    if (socket?.connecting) socket.once('connect', () => begin(this.options.answerMs));
  }

  private async collect(response: IncomingMessage, late: () => void): Promise<Posted> {
    const { answerBytesMax, answerMs } = this.options;
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > answerBytesMax) throw new AnswerTooLong(this.name, answerBytesMax);
        chunks.push(chunk);
        clearTimeout(this.timer);
        this.timer = setTimeout(late, answerMs);
      }
    } catch (error) {
      if (error instanceof UnspentError) throw error;
      throw this.unreachable('the connection ended inside an answer', error);
    }
    return { status: response.statusCode ?? 0, text: Buffer.concat(chunks, bytes).toString('utf8') };
  }

  private unreachable(why: string, cause?: unknown): UnspentError {
    return new UnspentError('SOURCE_UNREACHABLE', `${this.name}: ${why}`, { name: this.name }, cause);
  }
}

/** What OpenSSL says of a certificate. */
const CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_)/;

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNREFUSED') return 'nobody listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'no host of that name';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'the connection was closed';
  if (code === 'EPROTO') return 'what answers there does not speak TLS: write rpc:// if that is safe on the way to it';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `its certificate is for another host (${message})`;
  if (code !== undefined && CERTIFICATE.test(code)) return `its certificate is not trusted (${message}); name it with ?cert=FILE`;
  if (code?.startsWith('HPE_')) return `what answers there does not speak HTTP (${message})`;
  return message || (code ?? 'cannot be reached');
}
