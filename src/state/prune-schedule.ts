/**
 * When to prune: every few seconds, whether blocks come or not. One tick is
 * bounded by milliseconds, each of its batches by blocks and rows, so that no
 * block and no reader on this thread waits for long. While something is left
 * the next tick comes after one turn of the event loop, so that pruning keeps up
 * with a fold at full speed.
 */
import { PRUNE_ROWS_MAX, PRUNE_TICK_MS } from '../util/limits.ts';
import { pause } from '../util/pause.ts';
import { nextTurn } from '../util/time-slice.ts';
import type { Fold } from './fold.ts';
import { type PruneCounts, pruneStep } from './pruned.ts';

export interface PruneSettings {
  readonly batchBlocks: number;
  readonly intervalMs: number;
  /** The newest block that a copy has, which keeps what is forgotten here; its hash. Null: there is none. */
  readonly published?: () => Uint8Array | null;
}

export class PruneSchedule {
  private readonly fold: Fold;
  private readonly settings: PruneSettings;
  /** A clock in milliseconds that never goes back; tests pass their own. */
  private readonly now: () => number;
  /** Spent outputs and deltas forgotten since this was made. */
  spentKeys = 0;
  deltas = 0;

  constructor(fold: Fold, settings: PruneSettings, now: () => number = () => performance.now()) {
    this.fold = fold;
    this.settings = settings;
    this.now = now;
  }

  /** Prunes until the signal comes. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.tick()) await nextTurn();
      else await pause(this.settings.intervalMs, { signal, ref: false });
    }
  }

  /** Batches until nothing is left to forget or the time of a tick is over. True: nothing is left. */
  tick(): boolean {
    const until = this.now() + PRUNE_TICK_MS;
    do {
      if (this.step().done) return true;
    } while (this.now() < until);
    return false;
  }

  /** One bounded batch, now. */
  step(blocksMax = this.settings.batchBlocks): PruneCounts {
    const { engine, projections, options, head, watchers, ledger } = this.fold;
    const started = performance.now();
    const copy = { published: this.settings.published?.() ?? null, ledger };
    const counts = pruneStep(engine, projections, head?.height ?? 0, options, blocksMax, PRUNE_ROWS_MAX, copy);
    this.spentKeys += counts.spentKeys;
    this.deltas += counts.deltas;
    if (counts.visited > 0) for (const watcher of watchers) watcher.pruned?.(counts, (performance.now() - started) / 1000);
    return counts;
  }
}
