/**
 * The server's side of the telemetry: the newest status that the fold's
 * thread has sent, and its timings for the metrics.
 */
import type { LiveFeed } from '../context.ts';
import { type LiveStatus, type LiveTiming, type LiveUpdate, NOT_FOLLOWING } from './live.ts';

export class LiveReceiver implements LiveFeed {
  status: LiveStatus;
  private readonly listeners = new Set<(timings: readonly LiveTiming[]) => void>();

  constructor(status: LiveStatus = NOT_FOLLOWING) {
    this.status = status;
  }

  take({ status, timings }: LiveUpdate): void {
    this.status = status;
    if (timings.length > 0) for (const listener of this.listeners) listener(timings);
  }

  onTimings(listener: (timings: readonly LiveTiming[]) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
