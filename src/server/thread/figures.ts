/**
 * What one server thread of several counts by itself (requests, connections,
 * streams), so that whichever is asked can tell of all of them. Plain data: it
 * is sent from thread to thread.
 */
import type { Sample } from '../metrics/history.ts';

export interface ThreadFigures {
  /** Of metrics that each thread counts for itself. */
  readonly metrics: readonly object[];
  /** Oldest first, one for each second. */
  readonly samples: readonly Sample[];
}

export const NO_FIGURES: ThreadFigures = { metrics: [], samples: [] };

/** Asks the other threads, and answers them. */
export class FigureExchange {
  private readonly send: (number: number) => void;
  /** Questions that are not answered yet, by their numbers. */
  private readonly asked = new Map<number, (figures: readonly ThreadFigures[]) => void>();
  private last = 0;
  private tell: (() => Promise<ThreadFigures>) | null = null;

  /** `send`: asks the others, and names the number that comes with their answer. */
  constructor(send: (number: number) => void) {
    this.send = send;
  }

  others(): Promise<readonly ThreadFigures[]> {
    return new Promise((resolve) => {
      this.asked.set(++this.last, resolve);
      this.send(this.last);
    });
  }

  answered(number: number, figures: readonly ThreadFigures[]): void {
    this.asked.get(number)?.(figures);
    this.asked.delete(number);
  }

  /** Who knows the figures of this thread. */
  toldBy(tell: () => Promise<ThreadFigures>): void {
    this.tell = tell;
  }

  /** Whoever asks would rather have the figures of the others alone than none. */
  async own(): Promise<ThreadFigures> {
    try {
      return (await this.tell?.()) ?? NO_FIGURES;
    } catch {
      return NO_FIGURES;
    }
  }
}
