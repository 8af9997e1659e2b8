/**
 * One reader of events: what it asked for, and what is on its way to it. The
 * buffer is bounded: a reader that falls behind further than that is cut off,
 * and resumes from the last event it got. Nobody waits for it meanwhile, except
 * its own replay.
 */
import { Readable } from 'node:stream';
import type { Announcement } from './announcement.ts';
import { heartbeat } from './announcement.ts';
import type { Subscription } from './subscription.ts';

export interface StreamLimits {
  readonly heartbeatMs: number;
  /** Bytes on their way to one reader. */
  readonly bufferBytesMax: number;
  /** Milliseconds in which a reader that replays must take something. */
  readonly stalledMs: number;
}

/** Bytes past which a replay waits for its reader: enough to keep the socket busy. */
const REPLAY_BYTES = 256 * 1024;

export type StreamEnd = 'left' | 'cut' | 'expired' | 'failed' | 'closed';

export class EventStream {
  readonly subscription: Subscription;
  readonly body: Readable;
  /** The id of a reader who has got everything so far; null while it has not. */
  place: () => string | null = () => null;
  private readonly limits: StreamLimits;
  private readonly heart: NodeJS.Timeout;
  private ending: StreamEnd | null = null;
  private waiting: (() => void) | null = null;
  events = 0;

  constructor(subscription: Subscription, limits: StreamLimits, onEnd: (stream: EventStream, why: StreamEnd) => void) {
    this.subscription = subscription;
    this.limits = limits;
    this.body = new Readable({ read: () => this.taken() });
    // The stream has ended, by the client or by us.
    this.body.on('close', () => {
      clearInterval(this.heart);
      this.ending ??= 'left';
      this.taken();
      onEnd(this, this.ending);
    });
    // A connection that breaks is a reader that left.
    this.body.on('error', () => {});
    this.heart = setInterval(() => this.send(heartbeat(this.place())), limits.heartbeatMs);
    this.heart.unref();
  }

  get ended(): boolean {
    return this.ending !== null;
  }

  /** Sends it if this reader asked for such. */
  offer(announcement: Announcement): void {
    const { subscription } = this;
    if (!subscription.types.has(announcement.type)) return;
    if (announcement.output !== null && !subscription.fits(announcement.output)) return;
    this.tell(announcement.text);
  }

  /** An event, whatever was asked for. */
  tell(text: string): void {
    this.events++;
    this.send(text);
  }

  /** Beside the events: comments, the time after which to come back. */
  send(text: string): void {
    if (this.ended || this.body.destroyed) return;
    this.body.push(text);
    if (this.body.readableLength > this.limits.bufferBytesMax) this.stop('cut');
  }

  /** Resolves when the reader has taken most of what it was sent, or is gone. One that takes nothing for too long is cut. */
  async drained(): Promise<void> {
    while (!this.ended && this.body.readableLength > REPLAY_BYTES) {
      const before = this.body.readableLength;
      const stalled = setTimeout(() => this.taken(), this.limits.stalledMs);
      await new Promise<void>((resolve) => {
        this.waiting = resolve;
      });
      clearTimeout(stalled);
      if (!this.ended && this.body.readableLength >= before) this.stop('cut');
    }
  }

  /** Says its last and ends in order. */
  finish(why: StreamEnd, text: string): void {
    this.send(text);
    if (this.ended) return;
    this.ending = why;
    clearInterval(this.heart);
    this.body.push(null);
  }

  /** At once: what is in the buffer is dropped. */
  private stop(why: StreamEnd): void {
    this.ending = why;
    this.body.destroy();
  }

  private taken(): void {
    this.waiting?.();
    this.waiting = null;
  }
}
