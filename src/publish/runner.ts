/**
 * Keeps a copy at the newest block for as long as it is told to: claims it, waits
 * while another publisher leads, begins anew where changes cannot be told, and
 * after any failure of the database asks the copy where it is before going on.
 */
import { readHead } from '../state/head.ts';
import type { PublishReport } from '../store/publishing.ts';
import { toHex } from '../util/bytes.ts';
import { isUnspentError, type UnspentError } from '../util/errors.ts';
import { Latch } from '../util/latch.ts';
import { PUBLISH_CALM_BLOCKS, PUBLISH_FAILED_MS, PUBLISH_HEARTBEAT_MS, PUBLISH_POLL_MS } from '../util/limits.ts';
import { pause } from '../util/pause.ts';
import type { PublishedStore } from './published-store.ts';
import { Publisher } from './publisher.ts';
import type { CopyTarget, PublishedHead } from './target.ts';

export interface RunnerOptions {
  /** False: it ends when the copy is where the store is. */
  readonly follow: boolean;
  readonly onReport?: ((report: PublishReport) => void) | undefined;
}

export class PublishRunner {
  private readonly store: PublishedStore;
  private readonly target: CopyTarget;
  private readonly options: RunnerOptions;
  private readonly move = new Latch();
  private last: PublishReport;
  /** Before the next attempt. */
  private pauseMs = PUBLISH_POLL_MS;

  constructor(store: PublishedStore, target: CopyTarget, options: RunnerOptions) {
    this.store = store;
    this.target = target;
    this.options = options;
    this.last = { ...NOTHING, target: target.name, form: target.form };
  }

  /** How far behind the copy is may change while nothing is published. */
  get report(): PublishReport {
    return { ...this.last, lag: this.lagOf(this.last) };
  }

  /** The store has committed something. */
  moved(): void {
    this.move.set();
  }

  /** Ends when the signal comes, or where it does not follow, when the copy is where the store is. Throws what cannot be mended by waiting. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.move.set();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        try {
          await this.lead(signal);
          if (!this.options.follow) return;
        } catch (error) {
          if (signal.aborted) return;
          if (!this.isPassing(error)) throw error;
          this.say({ state: isUnspentError(error, 'FENCED') ? 'waiting' : 'unreachable', lastError: error.message });
          await pause(this.pauseMs, { signal });
          if (isUnspentError(error, 'DATABASE_FAILED')) this.pauseMs = Math.min(2 * this.pauseMs, PUBLISH_FAILED_MS);
        }
      }
    } catch (error) {
      this.say({ state: 'stopped', lastError: (error as Error).message });
      throw error;
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  /**
   * What another attempt may find mended. A database that is full, or that takes no writes because its name leads to a
   * standby, is mended by people: who follows waits for them.
   */
  private isPassing(error: unknown): error is UnspentError {
    if (isUnspentError(error, 'FENCED') || isUnspentError(error, 'DATABASE_BUSY')) return true;
    return this.options.follow && isUnspentError(error, 'DATABASE_FAILED');
  }

  /** From a claim to the first failure. */
  private async lead(signal: AbortSignal): Promise<void> {
    const claim = await this.target.claim(signal, () => this.say({ state: 'waiting', lastError: null }));
    this.pauseMs = PUBLISH_POLL_MS;
    const lost = new AbortController();
    const publisher = new Publisher(this.store, this.target, claim, {
      signal: AbortSignal.any([signal, lost.signal]),
      onPublished: (head, changes, seconds) => this.published(head, publisher, changes.length, seconds),
      onLoaded: () => this.say({ state: 'loading', ...countsOf(this.before, publisher) }),
    });
    const beat = setInterval(
      () => void this.target.renew().catch((error) => isUnspentError(error, 'FENCED') && lost.abort(error)),
      PUBLISH_HEARTBEAT_MS,
    );
    try {
      this.say({ state: 'publishing', lastError: null, ...headOf(claim.head), kept: null });
      for (;;) {
        this.move.take();
        await this.round(publisher, signal);
        this.say({
          state: 'publishing',
          ...headOf(publisher.published),
          ...countsOf(this.before, publisher),
          kept: publisher.kept === null ? null : toHex(publisher.kept),
        });
        if (signal.aborted || !this.options.follow) return;
        await Promise.race([this.move.wait(), pause(PUBLISH_HEARTBEAT_MS, { signal, ref: false })]);
        lost.signal.throwIfAborted();
        if (signal.aborted) return;
      }
    } finally {
      clearInterval(beat);
      publisher.close();
      this.before = countsOf(this.before, publisher);
    }
  }

  /** Counts of the publishers before. */
  private before: Counts = NO_COUNTS;

  private async round(publisher: Publisher, signal: AbortSignal): Promise<void> {
    try {
      await publisher.advance();
    } catch (error) {
      if (!isUnspentError(error, 'EXPIRED')) throw error;
      if (this.options.follow) await this.calm(signal);
      if (signal.aborted) return;
      this.say({ state: 'loading' });
      await publisher.sendSnapshot();
    }
  }

  /** Waits until the store does not run ahead any more: a snapshot of a store that is catching up would be behind before it is sent. */
  private async calm(signal: AbortSignal): Promise<void> {
    const height = (): number => readHead(this.store.engine)?.height ?? -1;
    for (let before = height(); !signal.aborted; ) {
      await pause(PUBLISH_HEARTBEAT_MS, { signal });
      const now = height();
      if (now - before <= PUBLISH_CALM_BLOCKS && now >= 0) return;
      before = now;
      this.say({ state: 'catching-up' });
    }
  }

  private published(head: PublishedHead, publisher: Publisher, _changes: number, seconds: number): void {
    const { commits, commitSecondsSum } = this.last;
    this.say({
      ...headOf(head),
      ...countsOf(this.before, publisher),
      commitSeconds: seconds,
      commits: commits + 1,
      commitSecondsSum: commitSecondsSum + seconds,
    });
  }

  private lagOf({ height }: Pick<PublishedHead, 'height'>): number {
    return Math.max(0, (readHead(this.store.engine)?.height ?? -1) - (height ?? -1));
  }

  private say(change: Partial<PublishReport>): void {
    this.last = { ...this.last, ...change };
    this.options.onReport?.(this.report);
  }
}

type Counts = Pick<PublishReport, 'blocks' | 'undone' | 'rows' | 'bytes' | 'snapshots'>;

const NO_COUNTS: Counts = { blocks: 0, undone: 0, rows: 0, bytes: 0, snapshots: 0 };

const NOTHING: Omit<PublishReport, 'target' | 'form'> = {
  state: 'connecting',
  epoch: 0,
  seq: 0,
  height: null,
  lag: 0,
  ...NO_COUNTS,
  commitSeconds: 0,
  commits: 0,
  commitSecondsSum: 0,
  lastError: null,
  kept: null,
};

function countsOf(before: Counts, { counts }: Publisher): Counts {
  return {
    blocks: before.blocks + counts.blocks,
    undone: before.undone + counts.undone,
    rows: before.rows + counts.rows,
    bytes: before.bytes + counts.bytes,
    snapshots: before.snapshots + counts.snapshots,
  };
}

function headOf({ seq, epoch, height }: PublishedHead): Pick<PublishReport, 'seq' | 'epoch' | 'height'> {
  return { seq, epoch, height };
}
