/**
 * When to prune: every few seconds, a bounded number of blocks. While the fold
 * runs at full speed a tick may take twice what was applied since the last one,
 * so that pruning keeps up without ever being a pause one can notice.
 */
import type { Fold } from './fold.ts';
import { type PruneCounts, pruneStep } from './pruned.ts';

export interface PruneSettings {
  readonly batchBlocks: number;
  readonly intervalMs: number;
}

export class PruneSchedule {
  private readonly fold: Fold;
  private readonly settings: PruneSettings;
  private last: number;
  private appliedSince = 0;
  /** Spent outputs and deltas forgotten since this was made. */
  spentKeys = 0;
  deltas = 0;

  constructor(fold: Fold, settings: PruneSettings, now: number) {
    this.fold = fold;
    this.settings = settings;
    this.last = now;
  }

  applied(blocks: number): void {
    this.appliedSince += blocks;
  }

  /** Prunes when it is time. */
  tick(now: number): void {
    if (now - this.last < this.settings.intervalMs) return;
    this.last = now;
    let budget = Math.max(this.settings.batchBlocks, 2 * this.appliedSince);
    this.appliedSince = 0;
    for (let done = false; !done && budget > 0; ) {
      const counts = this.step(Math.min(budget, this.settings.batchBlocks));
      budget -= Math.max(counts.blocks, counts.deltas);
      done = counts.done;
    }
  }

  /** One bounded batch, now. */
  step(blocksMax = this.settings.batchBlocks): PruneCounts {
    const { engine, projections, options, head, watchers } = this.fold;
    const started = performance.now();
    const counts = pruneStep(engine, projections, head?.height ?? 0, options, blocksMax);
    this.spentKeys += counts.spentKeys;
    this.deltas += counts.deltas;
    if (counts.visited > 0) for (const watcher of watchers) watcher.pruned?.(counts, (performance.now() - started) / 1000);
    return counts;
  }
}
