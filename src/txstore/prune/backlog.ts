/**
 * Whether pruning keeps up with the chain.
 *
 *   ok       it does
 *   at_risk  a pass takes nearly as long as a block, over the last ten of both
 *   behind   more than six heights were requested since the last completed one, or three passes in a row did not
 *            finish. While a gate is closed the heights do not count: nobody expects a pass then
 *
 * A new process begins in `ok`, as if the height before its first request were
 * completed.
 */
import { PRUNE_REPORT_MS } from '../../util/limits.ts';

export type BacklogState = 'ok' | 'at_risk' | 'behind';

export interface BacklogReport {
  readonly kind: 'enter' | 'repeat' | 'recover';
  readonly state: BacklogState;
  readonly lag: number;
}

/** Passes and block intervals that a mean is made of. */
const MEASURES = 10;
const BUSY_RATIO = 0.8;
const LAG_BLOCKS_MAX = 6;
const UNFINISHED_MAX = 3;

export class Backlog {
  readonly #now: () => number;
  readonly #report: (report: BacklogReport) => void;
  readonly #passMs: number[] = [];
  readonly #intervalMs: number[] = [];
  #requested: number | null = null;
  #completed = 0;
  #requestedAt = 0;
  #unfinished = 0;
  #isSkipping = false;
  #reported: BacklogState = 'ok';
  #reportedAt = 0;

  constructor(now: () => number, report: (report: BacklogReport) => void) {
    this.#now = now;
    this.#report = report;
  }

  get requested(): number {
    return this.#requested ?? 0;
  }

  get completed(): number {
    return this.#completed;
  }

  get lag(): number {
    return Math.max(0, this.requested - this.#completed);
  }

  get state(): BacklogState {
    if (this.#unfinished >= UNFINISHED_MAX) return 'behind';
    if (this.lag > LAG_BLOCKS_MAX && !this.#isSkipping) return 'behind';
    const isMeasured = this.#passMs.length >= MEASURES && this.#intervalMs.length >= MEASURES;
    return isMeasured && mean(this.#passMs) >= BUSY_RATIO * mean(this.#intervalMs) ? 'at_risk' : 'ok';
  }

  onRequest(height: number): void {
    if (this.#requested === null) this.#completed = height - 1;
    else if (height > this.#requested) remember(this.#intervalMs, (this.#now() - this.#requestedAt) / (height - this.#requested));
    if (this.#requested === null || height > this.#requested) this.#requestedAt = this.#now();
    this.#requested = Math.max(this.requested, height);
    this.#tell();
  }

  onCompleted(height: number, ms: number): void {
    this.#completed = Math.max(this.#completed, height);
    this.#isSkipping = false;
    this.#unfinished = 0;
    remember(this.#passMs, ms);
    this.#tell();
  }

  onSkipped(): void {
    this.#isSkipping = true;
    this.#tell();
  }

  onUnfinished(): void {
    this.#isSkipping = false;
    this.#unfinished++;
    this.#tell();
  }

  #tell(): void {
    const { state, lag } = this;
    const now = this.#now();
    const isRepeat = state === this.#reported;
    if (isRepeat && (state === 'ok' || now - this.#reportedAt < PRUNE_REPORT_MS)) return;
    this.#reported = state;
    this.#reportedAt = now;
    this.#report({ kind: state === 'ok' ? 'recover' : isRepeat ? 'repeat' : 'enter', state, lag });
  }
}

function remember(values: number[], value: number): void {
  values.push(value);
  if (values.length > MEASURES) values.shift();
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
