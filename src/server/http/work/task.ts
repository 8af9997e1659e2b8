/**
 * The work of one request: done at once where it fits into a slice, otherwise
 * in turns with the others (`workload.ts`), and given up when its client is
 * gone. It also knows the bytes of the answer it holds.
 */
import type { UnspentError } from '../../../util/errors.ts';
import { SLICE_MS } from '../../../util/limits.ts';
import type { TaskStep, Workload } from './workload.ts';

/** False: that was enough. */
type Take<Row> = (row: Row) => boolean;

export class Task {
  /** What its steps took so far. */
  spentMs = 0;
  /** What its client asked it to wait: for a block, for an event. */
  waitedMs = 0;
  /** Whether it was let in. */
  isStarted = false;
  /** Whether it counts among the long tasks of which there may be so many. */
  readonly bounded: boolean;
  private readonly workload: Workload;
  private readonly cancelled: () => boolean;
  private heldBytes = 0;
  private isOver = false;

  constructor(workload: Workload, cancelled: () => boolean, bounded: boolean) {
    this.workload = workload;
    this.bounded = bounded;
    this.cancelled = cancelled;
  }

  /** The client is gone: the work can be dropped. */
  get isCancelled(): boolean {
    return this.cancelled();
  }

  /** It has used up a slice, and takes turns from here on. */
  get isLong(): boolean {
    return this.spentMs >= SLICE_MS;
  }

  /** Begins the request itself: now, or when it is its turn; never once its client is gone. */
  start(work: () => void): void {
    this.isStarted = true;
    const run = (): boolean => {
      work();
      return true;
    };
    this.workload.begin({ task: this, bounded: false, run, drop: () => undefined });
  }

  /** Goes through the rows, then gives what `result` says. Without a promise where that fits into this turn. Throws BUSY. */
  inSlices<Row, T>(source: Iterable<Row>, take: Take<Row>, result: () => T): T | Promise<T> {
    const rows = source[Symbol.iterator]();
    const work = new Work(
      this,
      (end) => slice(rows, take, end),
      result,
      () => rows.return?.(),
    );
    this.workload.begin(work);
    return work.outcome();
  }

  /** Does it in one piece, when it is its turn. Throws BUSY. */
  run<T>(body: () => T | Promise<T>): T | Promise<T> {
    return this.inSlices<null, T | Promise<T>>([null], () => true, body) as T | Promise<T>;
  }

  /** Resolves when it has the rest of a round for itself, or its client is gone. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      const run = (): boolean => {
        resolve();
        return true;
      };
      this.workload.queue({ task: this, bounded: false, costMs: SLICE_MS, run, drop: () => resolve() });
    });
  }

  /** One step in a later round, outside the bound on long tasks. `drop`: it will not be run, because its client is gone. */
  later(run: (end: number) => void, drop: () => void): void {
    const once = (end: number): boolean => {
      run(end);
      return true;
    };
    this.workload.queue({ task: this, bounded: false, run: once, drop });
  }

  /** One step at the end of this round, with those of other tasks that came in it. `drop`: it will not be run, because its client is gone. */
  gather(run: () => void, drop: (error: UnspentError) => void): void {
    const once = (): boolean => {
      run();
      return true;
    };
    this.workload.gather({ task: this, bounded: false, run: once, drop });
  }

  /** So many more bytes of its answer are in memory. Throws BUSY when all answers together hold too much. */
  hold(bytes: number): void {
    const { refusal } = this.workload;
    if (refusal !== null) throw refusal;
    this.heldBytes += bytes;
    this.workload.addBytes(bytes);
  }

  /** The work begins anew: of its answer nothing is in memory. */
  restart(): void {
    this.workload.addBytes(-this.heldBytes);
    this.heldBytes = 0;
  }

  /** The work is done; of its answer these bytes are in memory (default: those it said it holds). */
  done(bytes = this.heldBytes): void {
    if (this.isOver) return;
    this.workload.leave(this);
    this.workload.addBytes(bytes - this.heldBytes);
    this.heldBytes = bytes;
  }

  /** Its client has the answer, or is gone: whatever is still said of it holds nothing. */
  end(): void {
    this.done(0);
    this.isOver = true;
  }
}

/** Work in slices, and what comes of it. */
class Work<T> implements TaskStep {
  readonly task: Task;
  readonly bounded: boolean;
  private readonly slice: (end: number) => boolean;
  private readonly result: () => T;
  private readonly close: () => void;
  private made: { readonly value: T } | null = null;
  private failed: { readonly error: unknown } | null = null;
  private settle: { resolve(value: T): void; reject(error: unknown): void } | null = null;

  constructor(task: Task, slice: (end: number) => boolean, result: () => T, close: () => void) {
    this.task = task;
    this.bounded = task.bounded;
    this.slice = slice;
    this.result = result;
    this.close = close;
  }

  run(end: number): boolean {
    try {
      if (!this.slice(end)) return false;
      const value = this.result();
      this.made = { value };
      this.settle?.resolve(value);
    } catch (error) {
      this.fail(error);
    }
    return true;
  }

  drop(error: UnspentError): void {
    this.fail(error);
  }

  /** Asked once, when it has begun. */
  outcome(): T | Promise<T> {
    if (this.made !== null) return this.made.value;
    if (this.failed !== null) throw this.failed.error;
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
  }

  private fail(error: unknown): void {
    this.failed = { error };
    this.close();
    this.settle?.reject(error);
  }
}

/** True: it was the last one. */
function slice<Row>(rows: Iterator<Row>, take: Take<Row>, end: number): boolean {
  do {
    const { done, value } = rows.next();
    if (done === true) return true;
    if (take(value)) continue;
    rows.return?.();
    return true;
  } while (performance.now() < end);
  return false;
}
