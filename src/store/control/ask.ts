/**
 * The other end of the control socket: has a command run by the process that has
 * the store open, and passes on what it writes. To end this process, or to abort
 * the signal, is to cancel the command over there.
 */
import { connect, type Socket } from 'node:net';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { errorOf } from '../../util/failure.ts';
import { CONTROL_GREETING_MS } from '../../util/limits.ts';
import { VERSION } from '../../util/version.ts';
import type { LiveSample } from '../live/sample.ts';
import { asGreeting, asOutput, asSample, type CommandRequest, type Greeting, LineReader, lineOf } from './protocol.ts';
import { findSocket } from './socket-place.ts';

export interface AskStreams {
  out(text: string): void;
  err(text: string): void;
}

/** The process that has a store open, with a connection to it that must be used or closed. */
export class StoreHolder {
  readonly greeting: Greeting;
  private readonly connection: Connection;

  constructor(greeting: Greeting, connection: Connection) {
    this.greeting = greeting;
    this.connection = connection;
  }

  /** In the words of a message: who it is, and where it can be asked otherwise. */
  get description(): string {
    const { process: id, holder, since, url } = this.greeting;
    return `process ${id} (${holder}, since ${since}) has the store open${url === null ? '' : ` and serves it at ${url}`}`;
  }

  /** Runs a command there; resolves with its exit code. Throws what the holder says it cannot do, and CLOSED where it ends before the command does. */
  async run(request: Omit<CommandRequest, 'unspent'>, streams: AskStreams, signal: AbortSignal): Promise<number> {
    const { connection } = this;
    this.checkVersion();
    const cancel = (): void => connection.finish();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      connection.send(lineOf({ unspent: VERSION, ...request }));
      if (signal.aborted) cancel();
      for (;;) {
        const message = await connection.next();
        if (message === null)
          throw new UnspentError(
            'CLOSED',
            `process ${this.greeting.process}, which had the store open, ended before the command did; run it again`,
          );
        const output = asOutput(message);
        if ('out' in output) streams.out(output.out);
        else if ('err' in output) streams.err(output.err);
        else if ('exit' in output) return output.exit;
        else throw errorOf(output.failure);
      }
    } finally {
      signal.removeEventListener('abort', cancel);
      connection.close();
    }
  }

  /** Hands on samples of what the store does; resolves when the holder closes the store, or the signal comes. */
  async watch(watchMs: number, take: (sample: LiveSample) => void, signal: AbortSignal): Promise<void> {
    const { connection } = this;
    this.checkVersion();
    const cancel = (): void => connection.close();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      connection.send(lineOf({ unspent: VERSION, watchMs }));
      for (let message = await connection.next(); message !== null && !signal.aborted; message = await connection.next())
        take(asSample(message));
    } catch (error) {
      if (!signal.aborted && !isUnspentError(error, 'CLOSED')) throw error;
    } finally {
      signal.removeEventListener('abort', cancel);
      connection.close();
    }
  }

  close(): void {
    this.connection.close();
  }

  private checkVersion(): void {
    const { unspent, process: id } = this.greeting;
    if (unspent === VERSION) return;
    this.connection.close();
    throw new UnspentError(
      'STORE_LOCKED',
      `${this.description}; it is unspent ${unspent}, and this is ${VERSION}: the two do not understand each other`,
      { process: id },
    );
  }
}

/** Null: nobody listens at the store, which may still be open in a process that does not. Throws PROTOCOL, BUSY. */
export async function findHolder(data: string): Promise<StoreHolder | null> {
  const path = findSocket(data);
  if (path === null) return null;
  const connection = new Connection(connect({ path, allowHalfOpen: true }));
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    connection.close();
  }, CONTROL_GREETING_MS);
  try {
    const message = await connection.next();
    if (isLate)
      throw new UnspentError('BUSY', `the process that has the store in ${data} open has not answered for ${CONTROL_GREETING_MS / 1000} s`);
    // The socket of a process that was killed, or that is ending.
    return message === null ? null : new StoreHolder(asGreeting(message), connection);
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

/** Messages in the order they come; null once there are no more. */
class Connection {
  private readonly socket: Socket;
  private readonly messages: AsyncIterator<unknown, undefined>;

  constructor(socket: Socket) {
    this.socket = socket;
    this.messages = messagesOf(socket);
  }

  send(line: string): void {
    this.socket.write(line);
  }

  /** No more will be sent: what is to come is still read. */
  finish(): void {
    this.socket.end();
  }

  async next(): Promise<unknown> {
    const { done, value } = await this.messages.next();
    return done === true ? null : value;
  }

  close(): void {
    this.socket.destroy();
  }
}

async function* messagesOf(socket: Socket): AsyncGenerator<unknown, undefined> {
  const lines = new LineReader();
  try {
    for await (const bytes of socket as AsyncIterable<Buffer>) yield* lines.take(bytes);
  } catch (error) {
    // Nobody listens, or the other side is gone: either way there is no more to read.
    if (!isConnectionError(error)) throw error;
  }
  return undefined;
}

function isConnectionError(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'EACCES', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code ?? '');
}
