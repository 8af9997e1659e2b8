/**
 * Runs prune passes, one at a time. Only the newest height that is asked for is
 * of interest: of those that wait the highest runs next and the others are
 * cancelled; a running pass is never interrupted by a request. A pass that took
 * too long waits again, and goes on where it was.
 */
import { UnspentError } from '../../util/errors.ts';
import { PRUNE_BACKLOG_COUNTED_MAX, PRUNE_HISTORY_MAX } from '../../util/limits.ts';
import { allowedHeight, type ChainConditions, closedGate, type SkipReason } from '../rules/gates.ts';
import { checkHeight } from '../rules/heights.ts';
import type { TxStore } from '../store.ts';
import { Backlog, type BacklogReport, type BacklogState } from './backlog.ts';
import { deleteBlobs, sweepBlobs, type TxBlobs } from './blobs.ts';
import { BlockedParents } from './blocked.ts';
import type { KeptParent } from './chunk.ts';
import { type PassEnd, PruneCounters } from './counters.ts';
import { type MissingParent, type PassResult, type PassWatcher, runPass } from './pass.ts';
import { type PassSettings, PRUNE_DEFAULTS } from './settings.ts';

export interface PrunerOptions {
  readonly store: TxStore;
  readonly settings?: Partial<PassSettings>;
  /** What the chain is doing. Whatever it throws closes the gate. */
  readonly conditions: () => Promise<ChainConditions>;
  /** Heights up to which consumers have persisted the chain. Whatever it throws closes the gate. */
  readonly persistedHeights?: () => Promise<readonly number[]>;
  /** Of the records, where they rest elsewhere. */
  readonly blobs?: TxBlobs | undefined;
  readonly onPruned?: (height: number, deleted: number) => void;
  readonly onBacklog?: (report: BacklogReport) => void;
  /** Parents that unmined records need and that are not there (F12). */
  readonly onMissing?: (missing: readonly MissingParent[]) => void;
  /** Milliseconds. */
  readonly now?: () => number;
}

export interface PassOutcome {
  readonly height: number;
  readonly end: PassEnd;
  /** Why it was skipped. */
  readonly reason: SkipReason | null;
  readonly deleted: number;
  readonly kept: number;
  /** Why it was aborted. */
  readonly error: unknown;
}

/** A height that is to be pruned, and who waits for it. */
interface Job {
  readonly height: number;
  readonly done: Promise<PassOutcome>;
  readonly resolve: (outcome: PassOutcome) => void;
}

export class Pruner {
  readonly counters = new PruneCounters();
  readonly #options: PrunerOptions;
  readonly #settings: PassSettings;
  readonly #blocked = new BlockedParents();
  readonly #backlog: Backlog;
  readonly #history: PassOutcome[] = [];
  readonly #now: () => number;
  #running: Job | null = null;
  /** H' of the newest pass that ran. */
  #allowed = 0;
  #waiting: Job | null = null;
  /** Of all parts of the pass at that height, which may be interrupted several times. */
  #parts = { height: 0, deleted: 0, kept: 0 };

  constructor(options: PrunerOptions) {
    this.#options = options;
    this.#settings = { ...PRUNE_DEFAULTS, ...options.settings };
    this.#now = options.now ?? (() => performance.now());
    this.#backlog = new Backlog(this.#now, options.onBacklog ?? (() => {}));
  }

  get backlogState(): BacklogState {
    return this.#backlog.state;
  }

  get history(): readonly PassOutcome[] {
    return this.#history;
  }

  /** Candidates that were kept, due longest first, with the reason and the child. */
  blocked(limit: number): readonly KeptParent[] {
    return this.#blocked.list(limit);
  }

  /** What is known without asking the store. */
  get current(): Readonly<Record<string, number>> {
    const { requested, completed, lag } = this.#backlog;
    return {
      prune_active: this.#running === null ? 0 : 1,
      prune_height_requested: requested,
      prune_height_completed: completed,
      prune_height_allowed: this.#allowed,
      prune_lag_blocks: lag,
    };
  }

  async gauges(): Promise<Readonly<Record<string, number>>> {
    const { store } = this.#options;
    const { requested } = this.#backlog;
    const { records, bytes } = await store.stats();
    return {
      ...this.current,
      prune_backlog: await store.countDue(requested, PRUNE_BACKLOG_COUNTED_MAX),
      prune_oldest_blocked_age_blocks: this.#blocked.ageAt(requested),
      utxo_records: records,
      utxo_bytes: bytes,
    };
  }

  /** Resolves when a pass at that height has ended, or will never run. Throws INVALID_PARAM for height 0. */
  async prune(height: number): Promise<PassOutcome> {
    checkHeight(height);
    if (height === 0) throw new UnspentError('INVALID_PARAM', 'nothing can be pruned at height 0');
    this.#backlog.onRequest(height);
    for (const job of [this.#running, this.#waiting]) if (job?.height === height) return job.done;
    const newest = Math.max(this.#running?.height ?? 0, this.#waiting?.height ?? 0);
    if (height < newest) return this.#record(outcome(height, 'cancelled'));
    if (this.#waiting !== null) this.#end(this.#waiting, outcome(this.#waiting.height, 'cancelled'));
    const job = newJob(height);
    this.#waiting = job;
    if (this.#running === null) void this.#work();
    return job.done;
  }

  async #work(): Promise<void> {
    while (this.#waiting !== null) {
      const job = this.#waiting;
      this.#waiting = null;
      this.#running = job;
      const result = await this.#run(job.height);
      this.#running = null;
      this.counters.ended(result.end);
      if (result.end !== 'timeout') this.#end(job, result);
      else if (this.#later() === null) this.#waiting = job;
      else this.#end(job, outcome(job.height, 'cancelled'));
    }
  }

  /** What was asked for while a pass ran. */
  #later(): Job | null {
    return this.#waiting;
  }

  /** Never throws: what goes wrong is in the outcome. */
  async #run(height: number): Promise<PassOutcome> {
    const began = this.#now();
    try {
      const gate = await this.#openGate(height);
      if (typeof gate === 'string') return this.#skip(outcome(height, 'skipped'), gate);
      const { store } = this.#options;
      this.#allowed = gate.allowed;
      const heights = { requested: height, allowed: gate.allowed, window: store.settings.window };
      const context = { store, settings: this.#settings, heights, counters: this.counters, now: this.#now };
      const pass = await runPass(context, this.#watcher(height));
      if (pass.end === 'completed') await this.#sweep();
      const ms = this.#now() - began;
      this.counters.took('prune_pass_seconds', ms);
      return this.#after(height, pass, ms);
    } catch (error) {
      this.#backlog.onUnfinished();
      return this.#told({ ...outcome(height, 'aborted'), ...this.#partsOf(height), error });
    }
  }

  /** What a pass before this one could not delete, or was killed before it could. */
  async #sweep(): Promise<void> {
    const { blobs } = this.#options;
    if (blobs !== undefined && !this.#settings.dryRun) await sweepBlobs(blobs, this.counters);
  }

  /** What is decided is acted on at once, so that it counts also where the pass ends before its end. */
  #watcher(height: number): PassWatcher {
    const { blobs } = this.#options;
    return {
      onBegin: (isResumed) => {
        if (!isResumed || this.#parts.height !== height) this.#parts = { height, deleted: 0, kept: 0 };
        this.#blocked.begin(isResumed);
      },
      onDecided: async (result) => {
        this.#parts.deleted += result.deleted.length;
        this.#parts.kept += result.kept.length;
        this.#blocked.add(result);
        if (blobs !== undefined && !this.#settings.dryRun) await deleteBlobs(blobs, result.deleted, this.counters);
      },
      closedGate: async () => {
        const gate = await this.#openGate(height);
        return typeof gate === 'string' ? gate : null;
      },
    };
  }

  #partsOf(height: number): { readonly deleted: number; readonly kept: number } {
    const { deleted, kept } = this.#parts.height === height ? this.#parts : { deleted: 0, kept: 0 };
    return { deleted, kept };
  }

  /** The height up to which candidates may go, or the gate that is closed. */
  async #openGate(height: number): Promise<SkipReason | { readonly allowed: number }> {
    const { store, conditions, persistedHeights } = this.#options;
    if (store.settings.retention === 0) return 'disabled';
    const [chain, persisted] = await Promise.all([conditions(), persistedHeights?.() ?? []]).catch(() => [null, []] as const);
    const { lastCompleted } = await store.pruneProgress();
    const { heightMin, skipCatchUp } = this.#settings;
    const closed = closedGate({ height, lastCompleted, heightMin, skipCatchUp }, chain);
    return closed ?? { allowed: allowedHeight(height, persisted, store.settings.retention) };
  }

  #skip(result: PassOutcome, reason: SkipReason): PassOutcome {
    this.counters.skipped(reason);
    this.#backlog.onSkipped();
    return { ...result, reason };
  }

  #after(height: number, pass: PassResult, ms: number): PassOutcome {
    const counts = this.#partsOf(height);
    if (pass.missing.length > 0) this.#options.onMissing?.(pass.missing);
    if (pass.end === 'closed') return this.#skip(this.#told({ ...outcome(height, 'skipped'), ...counts }), pass.reason!);
    if (pass.end === 'completed') {
      this.#blocked.complete();
      this.#backlog.onCompleted(height, ms);
    } else this.#backlog.onUnfinished();
    return this.#told({ ...outcome(height, pass.end), ...counts });
  }

  #told(result: PassOutcome): PassOutcome {
    const hasNews = result.end === 'completed' || result.deleted > 0;
    if (hasNews && result.end !== 'timeout' && !this.#settings.dryRun) this.#options.onPruned?.(result.height, result.deleted);
    return result;
  }

  #end(job: Job, result: PassOutcome): void {
    job.resolve(this.#record(result));
  }

  #record(result: PassOutcome): PassOutcome {
    if (result.end === 'cancelled') this.counters.ended('cancelled');
    this.#history.push(result);
    if (this.#history.length > PRUNE_HISTORY_MAX) this.#history.shift();
    return result;
  }
}

function newJob(height: number): Job {
  const { promise, resolve } = Promise.withResolvers<PassOutcome>();
  return { height, done: promise, resolve };
}

function outcome(height: number, end: PassEnd): PassOutcome {
  return { height, end, reason: null, deleted: 0, kept: 0, error: null };
}
