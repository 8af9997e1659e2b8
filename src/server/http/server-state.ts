/**
 * What the routes of every wire shape share: the context, how many streams are
 * open, and whether anything has shown the store to be damaged.
 */
import type { Readable } from 'node:stream';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { HTTP_STREAM_MS_MAX } from '../../util/limits.ts';
import type { LogLine } from '../../util/log.ts';
import type { ServerContext } from '../context.ts';
import type { FailureListener } from './problem.ts';

export class ServerState {
  readonly context: ServerContext;
  /** Told what fails in a route. */
  readonly trouble: FailureListener = {
    onFailure: (error, { method, routeOptions }) => this.onFailure(error, `${method} ${routeOptions.url ?? ''}`),
  };
  readonly log: LogLine;
  #streams = 0;
  #damage: string | null = null;
  readonly #told = new WeakSet<Error>();

  constructor(context: ServerContext, log: LogLine) {
    this.context = context;
    this.log = log;
  }

  /** What is damaged, once something was found to be; null: nothing known. */
  get damage(): string | null {
    return this.#damage;
  }

  get streams(): number {
    return this.#streams;
  }

  /** Counts the stream among the open ones until it is over. Throws BUSY, and the stream is over. */
  stream(body: Readable): Readable {
    const { streamsMax } = this.context.config.server;
    if (this.#streams >= streamsMax) {
      body.destroy();
      throw new UnspentError('BUSY', `${streamsMax} answers are being streamed already`, { limit: streamsMax });
    }
    this.#streams++;
    const end = setTimeout(() => body.destroy(), HTTP_STREAM_MS_MAX).unref();
    body.once('close', () => {
      clearTimeout(end);
      this.#streams--;
    });
    // The answer has begun: all that is left is to cut it off, and to say so here.
    return body.on('error', (error) => this.onFailure(error, 'a streamed answer'));
  }

  /** A failure of ours: in the log once, and remembered when it says the store is damaged. */
  onFailure(error: Error, what: string): void {
    if (this.#told.has(error)) return;
    this.#told.add(error);
    if (isUnspentError(error, 'STORE_DAMAGED')) this.#damage ??= error.message;
    const code = isUnspentError(error) ? `${error.code}: ` : '';
    this.log(`${what}: ${code}${error.stack ?? error.message}`);
  }
}
