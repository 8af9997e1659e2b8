/**
 * A call, beyond what its service sees of it: what was made for it is in memory
 * until its client has taken it. A client that takes nothing of an answer for
 * long loses it.
 */
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2';
import { type ContextValues, createContextKey, createContextValues, type HandlerContext } from '@connectrpc/connect';
import type { Task } from '../../../http/work/task.ts';

/** What a service says of the call it answers. */
export type CallContext = Pick<HandlerContext, 'signal' | 'values'>;

export class Call {
  private readonly stream: ServerHttp2Stream;
  private readonly stalledMs: number;

  constructor(stream: ServerHttp2Stream, stalledMs: number) {
    this.stream = stream;
    this.stalledMs = stalledMs;
  }

  /** The answer is made, and leaves: what the task holds is held until the stream is over. */
  send(task: Task): void {
    const { stream } = this;
    if (stream.destroyed) {
      task.end();
      return;
    }
    stream.once('close', () => task.end());
    // Bytes that move begin it anew. An error of its own would be told to nobody.
    stream.setTimeout(this.stalledMs, () => stream.destroy());
  }
}

const CALL = createContextKey<Call | null>(null);

/** What a request brings along for its service. */
export function valuesOf({ stream }: Pick<Http2ServerRequest, 'stream'>, stalledMs: number): ContextValues {
  return createContextValues().set(CALL, new Call(stream, stalledMs));
}

/** Null: it came by no stream of HTTP/2. */
export function callOf({ values }: CallContext): Call | null {
  return values.get(CALL);
}
