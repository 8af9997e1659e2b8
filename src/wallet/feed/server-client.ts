/**
 * Requests to a server of ours on another machine: answers that are bounded in
 * bytes and in silence, and failures that are typed as the server itself types
 * them. What may be better in a moment is told from what will not be.
 */
import { concatBytes } from '../../util/bytes.ts';
import { ERROR_CODES, type ErrorCode, isUnspentError, UnspentError } from '../../util/errors.ts';
import { EVENT_SILENCE_MS, HTTP_BODY_BYTES_MAX, RECONNECT_MS_MAX, RECONNECT_MS_MIN } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';
import { beginningOf } from '../../util/response-text.ts';
import { readServerSentEvents, type ServerSentEvent } from './server-sent-events.ts';

export interface ServerAddress {
  /** Where it listens, such as `https://node.example:8437`. */
  readonly url: string;
  /** Its `server.token`. */
  readonly token?: string | undefined;
}

/** The server cannot be reached or has no room, or the chain has just turned: the same question may be answered later. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set(['SOURCE_UNREACHABLE', 'BUSY', 'CLOSED', 'INTERRUPTED', 'INDEX_NOT_READY', 'NOT_FOUND']);

export function isTransient(error: unknown): error is UnspentError {
  return isUnspentError(error) && TRANSIENT.has(error.code);
}

/** How a server that was lost is asked again. */
export interface ReconnectOptions {
  /** Milliseconds before it is asked again, the first time and at most. Default 250 to 60,000. */
  readonly reconnectMs?: readonly [least: number, most: number] | undefined;
  /** Told why the server was lost; it is asked again. */
  readonly onLost?: ((error: UnspentError) => void) | undefined;
}

/** Waits longer after every failure, or until the signal comes. */
export async function pauseAfter(
  error: UnspentError,
  failures: number,
  { reconnectMs: [least, most] = [RECONNECT_MS_MIN, RECONNECT_MS_MAX], onLost }: ReconnectOptions,
  signal: AbortSignal,
): Promise<void> {
  onLost?.(error);
  await pause(Math.min(most, least * 2 ** Math.min(failures, 30)), { signal });
}

/** Asks until the server answers. Throws INTERRUPTED on the signal, and what asking again does not mend. */
export async function askUntilAnswered<T>(ask: () => Promise<T>, options: ReconnectOptions, signal: AbortSignal): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      await pauseAfter(error, failures, options, signal);
    }
  }
}

/** Throws PROTOCOL. */
export function parseEventData<T>(data: string): T {
  try {
    return JSON.parse(data) as T;
  } catch (cause) {
    throw new UnspentError('PROTOCOL', 'the server tells an event that is not JSON', {}, cause);
  }
}

/** What a request has besides its path. */
type RequestForm = Pick<RequestInit, 'method' | 'body'> & { readonly headers?: Readonly<Record<string, string>> };

function postOf(body: object): RequestForm {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

export class ServerClient {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;

  /** Throws USAGE when the URL is none. */
  constructor({ url, token }: ServerAddress) {
    // Behind a proxy it may have a path of its own.
    const base = URL.canParse(url) ? new URL(url.endsWith('/') ? url : `${url}/`) : null;
    if (base === null || !/^https?:$/.test(base.protocol)) throw new UnspentError('USAGE', `'${url}' is not the URL of a server`);
    if (base.username !== '' || base.password !== '')
      throw new UnspentError('USAGE', `${base.host} is given a token, not a name and a password in its URL`);
    this.#base = base;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** Of a request with a body, where one is given. */
  async json<T>(path: string, signal: AbortSignal, body?: object): Promise<T> {
    return this.#parse(path, new TextDecoder().decode(await this.bytes(path, HTTP_BODY_BYTES_MAX, signal, body)));
  }

  /** A document a line. */
  async *lines<T>(path: string, signal: AbortSignal, body: object): AsyncGenerator<T, void, undefined> {
    const decoder = new TextDecoder();
    let rest: string[] = [];
    for await (const part of this.#body(path, postOf(body), signal)) {
      const [first, ...others] = decoder.decode(part, { stream: true }).split('\n');
      rest.push(first);
      for (const next of others) {
        const line = rest.join('');
        if (line !== '') yield this.#parse(path, line);
        rest = [next];
      }
    }
  }

  #parse<T>(path: string, text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new UnspentError('PROTOCOL', `${this.#base.host} answers ${path} with something that is not JSON`, {}, cause);
    }
  }

  async bytes(path: string, bytesMax: number, signal: AbortSignal, body?: object): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const part of this.#body(path, body === undefined ? {} : postOf(body), signal)) {
      length += part.length;
      if (length > bytesMax) throw new UnspentError('PROTOCOL', `${this.#base.host} answers ${path} with more than ${bytesMax} bytes`);
      parts.push(part);
    }
    return concatBytes(...parts);
  }

  /** Until the server ends them. `after`: the id of the last one; null: from now on. */
  events(path: string, after: string | null, signal: AbortSignal): AsyncGenerator<ServerSentEvent, void, undefined> {
    return readServerSentEvents(this.#body(path, after === null ? {} : { headers: { 'last-event-id': after } }, signal));
  }

  /** Ends the request when its reader leaves. Throws what the server says is wrong, SOURCE_UNREACHABLE. */
  async *#body(path: string, { headers, ...how }: RequestForm, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const leaving = new AbortController();
    const giveUp = (): void => leaving.abort(new Error(`nothing came for ${EVENT_SILENCE_MS / 1000} s`));
    let silence = setTimeout(giveUp, EVENT_SILENCE_MS);
    try {
      const response = await fetch(new URL(`.${path}`, this.#base), {
        ...how,
        headers: { ...this.#headers, ...headers },
        redirect: 'error',
        signal: AbortSignal.any([signal, leaving.signal]),
      });
      if (!response.ok) throw await failureOf(response);
      for await (const chunk of response.body ?? []) {
        // While the reader is at work, nobody listens.
        clearTimeout(silence);
        yield chunk;
        silence = setTimeout(giveUp, EVENT_SILENCE_MS);
      }
    } catch (error) {
      if (isUnspentError(error)) throw error;
      if (signal.aborted) throw new UnspentError('INTERRUPTED', `stopped while asking ${this.#base.host}`, {}, error);
      throw new UnspentError('SOURCE_UNREACHABLE', `${this.#base.host} does not answer ${path}: ${reasonOf(error)}`, {}, error);
    } finally {
      clearTimeout(silence);
      leaving.abort();
    }
  }
}

/** As the server's problem document types it; plain text is that of the Esplora API. */
async function failureOf(response: Response): Promise<UnspentError> {
  const { status } = response;
  const text = await beginningOf(response, HTTP_BODY_BYTES_MAX);
  const { code, detail } = problemIn(text);
  if (code !== null) return new UnspentError(code, detail, { status });
  const said = `the server answers ${status}: ${text.slice(0, 200)}`;
  return new UnspentError(status === 404 ? 'NOT_FOUND' : status >= 500 ? 'SOURCE_UNREACHABLE' : 'PROTOCOL', said, { status });
}

function problemIn(text: string): { readonly code: ErrorCode | null; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(text) as { readonly code?: unknown; readonly detail?: unknown };
    const isKnown = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
    return { code: isKnown ? (code as ErrorCode) : null, detail: String(detail) };
  } catch {
    return { code: null, detail: '' };
  }
}

/** `fetch` says only that it failed; why is in the cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : cause.name) : String(cause);
}
