/**
 * How a read that is a plain function waits for rows from elsewhere. It is run
 * as an attempt: where it meets a row that is not here, the attempt notes what
 * is wanted and ends by throwing; when the rows have come, the read is run again
 * from its start. Reads are pure, so that running one again changes nothing but
 * the time it takes, and all that it met before is here by then.
 *
 * A read that takes too many attempts, or rows that are too large, is finished
 * without further ones: the thread then sleeps for each row that is missing. So
 * is all that reads outside an attempt, such as the rest of a stream, which
 * cannot be run again from its start.
 */
import { COPY_ATTEMPT_BYTES_MAX, COPY_ATTEMPTS_MAX } from '../../util/limits.ts';

/** Thrown through a read that is to be run again. None of our errors: whoever turns those into others leaves it alone. One for all. */
const MISSING = new Error('rows of the copy are on their way');

/** Rows that an attempt has met, kept for as long as it is repeated: another reader may push them out of the cache. */
export class Attempt {
  readonly rows = new Map<string, unknown>();
  bytes = 0;
  repeats = 0;
  private wanted: Promise<void> | null = null;

  get isMissing(): boolean {
    return this.wanted !== null;
  }

  /** Ends this run. */
  miss(rows: Promise<void>): never {
    // If the read has caught what was thrown and goes on, the rows that it wants then are wanted as well.
    const before = this.wanted;
    this.wanted = before === null ? rows : Promise.all([before, rows]).then(() => undefined);
    this.wanted.catch(() => undefined);
    throw MISSING;
  }

  keep(name: string, entry: unknown, bytes: number): void {
    this.rows.set(name, entry);
    this.bytes += bytes;
  }

  /** Resolves when the rows are here. */
  async settle(): Promise<void> {
    const { wanted } = this;
    this.wanted = null;
    this.repeats++;
    await wanted;
  }
}

/** Runs one step of the work when it is its turn. */
export type Turn = <T>(step: () => T) => T | Promise<T>;

const atOnce: Turn = (step) => step();

export class Attempts {
  /** Reads that were run, how many times they were run again, and those that were finished while the thread slept. */
  readonly counts = { reads: 0, repeats: 0, given: 0 };
  /** The one that is being run now; null: whoever reads, sleeps. */
  current: Attempt | null = null;

  /** What the body gives; a promise where rows had to be waited for. `turn`: when it may be run again. Throws what the body throws. */
  run<T>(body: () => T, turn: Turn = atOnce): T | Promise<T> {
    // A part of a read that is run again as a whole.
    if (this.current !== null) return body();
    this.counts.reads++;
    const attempt = new Attempt();
    const first = this.once(attempt, body);
    return first.isDone ? first.value : this.repeat(attempt, body, turn);
  }

  private async repeat<T>(attempt: Attempt, body: () => T, turn: Turn): Promise<T> {
    for (;;) {
      await attempt.settle();
      this.counts.repeats++;
      if (attempt.repeats >= COPY_ATTEMPTS_MAX || attempt.bytes > COPY_ATTEMPT_BYTES_MAX) {
        this.counts.given++;
        return await turn(body);
      }
      const next = await turn(() => this.once(attempt, body));
      if (next.isDone) return await next.value;
    }
  }

  private once<T>(attempt: Attempt, body: () => T): { readonly isDone: true; readonly value: T } | { readonly isDone: false } {
    this.current = attempt;
    try {
      const value = body();
      if (!attempt.isMissing) return { isDone: true, value };
      // It has caught what was thrown through it: what it made of that is void.
      if (value instanceof Promise) value.catch(() => undefined);
    } catch (error) {
      if (!attempt.isMissing) throw error;
    } finally {
      this.current = null;
    }
    return { isDone: false };
  }
}
