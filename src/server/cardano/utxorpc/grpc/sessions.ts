/**
 * The connections of UTxO RPC. One on which nothing was asked for long is closed;
 * when there are as many as there may be, the one that has been idle for longest
 * makes room for the next, and while none is idle, the next is turned away.
 */
import type { Http2Server, ServerHttp2Session } from 'node:http2';

export class GrpcSessions {
  private readonly max: number;
  private readonly idleMs: number;
  private readonly sessions = new Set<ServerHttp2Session>();
  /** Those without a call, the longest idle first. */
  private readonly idle = new Set<ServerHttp2Session>();

  constructor(max: number, idleMs: number) {
    this.max = max;
    this.idleMs = idleMs;
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
      stream.on('close', () => {
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
