/**
 * The connections of UTxO RPC. One on which nothing was asked for long is closed,
 * and a call whose request does not come to its end is; when there are as many as
 * there may be, the one that has been idle for longest makes room for the next,
 * and while none is idle, the next is turned away.
 */
import { constants, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

/** How long a client may take nothing of an answer, a connection may have no call, and a request may take to come. Milliseconds. */
export interface CallTimeouts {
  readonly stalledMs: number;
  readonly idleMs: number;
  readonly requestMs: number;
}

export class GrpcSessions {
  private readonly max: number;
  private readonly idleMs: number;
  private readonly requestMs: number;
  private readonly sessions = new Set<ServerHttp2Session>();
  /** Those without a call, the longest idle first. */
  private readonly idle = new Set<ServerHttp2Session>();

  constructor(max: number, { idleMs, requestMs }: CallTimeouts) {
    this.max = max;
    this.idleMs = idleMs;
    this.requestMs = requestMs;
  }

  watch(server: Http2Server): void {
    server.on('session', (session) => this.open(session));
    // A connection that breaks, or speaks something else, is its client's affair.
    server.on('sessionError', () => undefined);
  }

  close(): void {
    for (const session of this.sessions) session.destroy();
  }

  private open(session: ServerHttp2Session): void {
    if (this.sessions.size >= this.max && !this.closeIdle()) {
      session.destroy();
      return;
    }
    let streams = 0;
    this.sessions.add(session);
    this.idle.add(session);
    session.on('close', () => this.forget(session));
    session.on('stream', (stream) => {
      streams++;
      this.idle.delete(session);
      const late = setTimeout(() => endUnlessAsked(stream), this.requestMs).unref();
      stream.on('close', () => {
        clearTimeout(late);
        streams--;
        if (streams === 0 && this.sessions.has(session)) this.idle.add(session);
      });
    });
    session.setTimeout(this.idleMs, () => {
      if (streams === 0) session.close();
    });
  }

  /** The one that has been idle for longest; false: none is. */
  private closeIdle(): boolean {
    for (const session of this.idle) {
      // Counted out at once: that the system has closed it is known later.
      this.forget(session);
      session.destroy();
      return true;
    }
    return false;
  }

  private forget(session: ServerHttp2Session): void {
    this.sessions.delete(session);
    this.idle.delete(session);
  }
}

/** While its client has not said all that it asks, nobody works on it: it only keeps its connection from being idle. */
function endUnlessAsked(stream: ServerHttp2Stream): void {
  if (stream.state.state === constants.NGHTTP2_STREAM_STATE_OPEN) stream.destroy();
}
