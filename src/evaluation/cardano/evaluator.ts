/**
 * Runs scripts of transactions in a thread of its own, one transaction after the
 * other: whoever serves goes on meanwhile, and a script that takes too long or
 * breaks the machine costs that thread and no more. The thread is there from the
 * first request on, and goes when nothing has come for a while, with the memory
 * that scripts have made it take.
 */
import { Worker } from 'node:worker_threads';
import { UnspentError } from '../../util/errors.ts';
import { errorOf } from '../../util/failure.ts';
import {
  EVALUATION_HEAP_MIB_MAX,
  EVALUATION_IDLE_MS,
  EVALUATION_MS_MAX,
  EVALUATION_START_MS_MAX,
  EVALUATIONS_MAX,
} from '../../util/limits.ts';
import { type ScriptUnits, scriptFailed } from './outcome.ts';
import type { EvaluationRequest } from './request.ts';
import type { WorkerAnswer } from './worker.ts';

interface Job {
  readonly request: EvaluationRequest;
  /** Nobody waits for it any more. */
  isGone(): boolean;
  resolve(units: readonly ScriptUnits[]): void;
  reject(error: Error): void;
}

export interface EvaluatorOptions {
  /** Milliseconds that the scripts of one transaction may take. */
  readonly msMax?: number;
}

export class Evaluator {
  private readonly msMax: number;
  private readonly waiting: Job[] = [];
  private running: Job | null = null;
  private worker: Worker | null = null;
  /** Ends the thread: while a transaction is evaluated when that takes too long, otherwise when nothing comes. */
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor({ msMax = EVALUATION_MS_MAX }: EvaluatorOptions = {}) {
    this.msMax = msMax;
  }

  /**
   * What each script of the transaction uses. One that waits is given up when `isGone`. Throws SCRIPT_FAILED, UNSUPPORTED
   * where no machine is installed, BUSY, CLOSED.
   */
  evaluate(request: EvaluationRequest, isGone: () => boolean = () => false): Promise<readonly ScriptUnits[]> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) throw new UnspentError('CLOSED', 'the evaluator was closed');
      this.dropGone();
      if (this.waiting.length >= EVALUATIONS_MAX) {
        throw new UnspentError('BUSY', `${this.waiting.length} transactions wait for their evaluation already`, { limit: EVALUATIONS_MAX });
      }
      this.waiting.push({ request, isGone, resolve, reject });
      this.next();
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const closed = new UnspentError('CLOSED', 'the evaluator was closed');
    for (const job of this.waiting.splice(0)) job.reject(closed);
    this.running?.reject(closed);
    this.running = null;
    await this.endThread();
  }

  private dropGone(): void {
    const waiting = this.waiting.splice(0);
    for (const job of waiting) {
      if (job.isGone()) job.reject(new UnspentError('CLOSED', 'whoever asked is gone'));
      else this.waiting.push(job);
    }
  }

  private next(): void {
    this.dropGone();
    const job = this.waiting[0];
    if (this.running !== null || job === undefined) return;
    this.waiting.shift();
    this.running = job;
    this.worker ??= this.startThread();
    this.worker.ref();
    // Starting a thread and loading the machine is not the time of scripts.
    this.limit(EVALUATION_START_MS_MAX);
    this.worker.postMessage(job.request);
  }

  private limit(ms: number): void {
    this.after(ms, () => this.abandon(scriptFailed(null, `they take longer than ${ms / 1000} s`)));
  }

  private startThread(): Worker {
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    const resourceLimits = { maxOldGenerationSizeMb: EVALUATION_HEAP_MIB_MAX };
    const worker = new Worker(new URL(file, import.meta.url), { name: 'unspent evaluation', resourceLimits });
    worker.on('message', (answer: WorkerAnswer) => {
      if (worker === this.worker) this.take(answer);
    });
    worker.on('error', (error) => {
      if (worker === this.worker) this.abandon(scriptFailed(null, `they break the machine: ${error.message}`, error));
    });
    return worker;
  }

  private take(answer: WorkerAnswer): void {
    if ('hasBegun' in answer) {
      this.limit(this.msMax);
      return;
    }
    if ('failure' in answer && answer.isBroken) {
      this.abandon(errorOf(answer.failure));
      return;
    }
    if ('failure' in answer) this.running?.reject(errorOf(answer.failure));
    else this.running?.resolve(answer.units);
    this.running = null;
    this.worker?.unref();
    this.after(EVALUATION_IDLE_MS, () => void this.endThread());
    this.next();
  }

  /** The thread is of no more use; the next request gets another. */
  private abandon(error: Error): void {
    this.running?.reject(error);
    this.running = null;
    void this.endThread();
    this.next();
  }

  private async endThread(): Promise<void> {
    const { worker } = this;
    this.worker = null;
    if (this.timer !== null) clearTimeout(this.timer);
    await worker?.terminate();
  }

  private after(ms: number, act: () => void): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(act, ms).unref();
  }
}
