/**
 * How the requests of all connections, over HTTP and Electrum alike, share one
 * thread. What a request does is cut into steps. A request that has not used up
 * one slice yet goes first; longer ones take turns, and all of them together
 * get one slice in each round of the event loop. So a new request waits for one
 * slice of long work however many long requests there are, and how many there
 * are, and how many bytes of answers they hold, is bounded: BUSY beyond.
 */
import { assert, UnspentError } from '../../../util/errors.ts';
import { ANSWER_BYTES_MAX, LONG_TASKS_MAX, SLICE_MS } from '../../../util/limits.ts';
import { Task } from './task.ts';

/** A part of a task that waits for its turn. */
export interface TaskStep {
  readonly task: Task;
  /** False: the number of long tasks does not bound it, because something else does. */
  readonly bounded: boolean;
  /** What it is charged at least, where its work goes on behind the step. */
  readonly costMs?: number;
  /** Works until `end` at most (`performance.now()`); false: there is more to do. */
  run(end: number): boolean;
  /** It will not be run again: its client is gone, or there is no room for it. */
  drop(error: UnspentError): void;
}

export interface WorkloadLimits {
  readonly longTasksMax: number;
  readonly answerBytesMax: number;
}

export class Workload {
  private readonly limits: WorkloadLimits;
  /** Steps of tasks that have not used up their first slice. */
  private readonly short: TaskStep[] = [];
  private readonly long: TaskStep[] = [];
  /** Steps that came in this round and are run together at its end. */
  private readonly gathered: TaskStep[] = [];
  /** Tasks that are long and not done. */
  private readonly longTasks = new Set<Task>();
  private answerBytes = 0;
  /** Spent in this round of the event loop on steps that were run as they came. */
  private spentMs = 0;
  private round: NodeJS.Immediate | null = null;
  /** The task whose step is being run, and until when it may. */
  private running: { readonly task: Task; readonly end: number } | null = null;
  /** Rounds in which steps were run, and steps: for tests that count work. */
  rounds = 0;
  steps = 0;

  /** Default: the limits of the process; a number: one of so many threads has its share of them. */
  constructor(limits: WorkloadLimits | number = 1) {
    this.limits = typeof limits === 'number' ? shareOfLimits(limits) : limits;
  }

  /** `isCancelled`: whether the client is gone. Asked before each step. */
  task(isCancelled: () => boolean): Task {
    return new Task(this, isCancelled, true);
  }

  /** Work of the server itself, which is never refused; the caller must keep it small. */
  ownTask(isCancelled: () => boolean): Task {
    return new Task(this, isCancelled, false);
  }

  /** Tasks that may be long at a time. */
  get longTasksMax(): number {
    return this.limits.longTasksMax;
  }

  /** Steps that wait for their turn. */
  get waiting(): number {
    return this.gathered.length + this.short.length + this.long.length;
  }

  get bytes(): number {
    return this.answerBytes;
  }

  /** Null: there is room for another answer. BUSY: those that are being made or sent hold as many bytes as they may. */
  get refusal(): UnspentError | null {
    const { answerBytesMax } = this.limits;
    if (this.answerBytes < answerBytesMax) return null;
    return new UnspentError('BUSY', `answers on their way hold ${answerBytesMax} bytes already`, { limit: answerBytesMax });
  }

  /** What a task holds has changed by so much. */
  addBytes(bytes: number): void {
    this.answerBytes += bytes;
    assert(this.answerBytes >= 0, 'bytes are given back once');
  }

  /** The task is done: another one may be long. */
  leave(task: Task): void {
    this.longTasks.delete(task);
  }

  /** Runs a step at once if this round has time for it; what is left of it waits for its turn. */
  begin(step: TaskStep): void {
    if (this.running?.task === step.task) {
      // A part of the step that is being run, and of its slice.
      if (step.run(this.running.end)) return;
      step.task.spentMs += SLICE_MS;
      this.queue(step);
    } else if (step.task.isLong || this.short.length > 0 || this.spentMs >= SLICE_MS) this.queue(step);
    else {
      this.spentMs += this.run(step, performance.now() + SLICE_MS);
      this.schedule();
    }
  }

  /** It waits for its turn. */
  queue(step: TaskStep): void {
    const { task } = step;
    const { longTasksMax } = this.limits;
    if (!task.isLong) this.short.push(step);
    else if (this.admits(step)) this.long.push(step);
    else step.drop(new UnspentError('BUSY', `${longTasksMax} long requests are being worked on already`, { limit: longTasksMax }));
    this.schedule();
  }

  /** It is run at the end of this round, before all that waits for its turn, and nothing that comes until then waits for it. */
  gather(step: TaskStep): void {
    this.gathered.push(step);
    this.schedule();
  }

  private admits({ task, bounded }: TaskStep): boolean {
    if (!bounded || this.longTasks.has(task)) return true;
    if (this.longTasks.size >= this.limits.longTasksMax) return false;
    this.longTasks.add(task);
    return true;
  }

  private schedule(): void {
    this.round ??= setImmediate(() => {
      this.round = null;
      this.rounds++;
      this.runQueued(this.gathered);
      this.runQueued(this.short);
      this.runQueued(this.long);
      this.spentMs = 0;
      if (this.waiting > 0) this.schedule();
    });
  }

  /** One slice of these, the first of them first. */
  private runQueued(steps: TaskStep[]): void {
    const end = performance.now() + SLICE_MS;
    // Those that come back are for the next round.
    for (let left = steps.length, used = 0; left > 0 && used < SLICE_MS; left--) {
      const step = steps.shift();
      if (step === undefined) return;
      used += this.run(step, end);
    }
  }

  /** Milliseconds that it took. */
  private run(step: TaskStep, end: number): number {
    const { task } = step;
    if (task.isCancelled) {
      step.drop(new UnspentError('BUSY', 'the client is gone'));
      return 0;
    }
    const start = performance.now();
    const outer = this.running;
    this.running = { task, end };
    this.steps++;
    const done = step.run(end);
    this.running = outer;
    const tookMs = performance.now() - start;
    task.spentMs += tookMs;
    if (!done) this.queue(step);
    return Math.max(tookMs, step.costMs ?? 0);
  }
}

function shareOfLimits(threads: number): WorkloadLimits {
  return { longTasksMax: Math.max(1, Math.floor(LONG_TASKS_MAX / threads)), answerBytesMax: Math.floor(ANSWER_BYTES_MAX / threads) };
}
