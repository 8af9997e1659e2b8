/**
 * What prune passes count, under the names that the metrics have. A pass adds;
 * whoever shows the figures takes a copy.
 */
import type { SkipReason } from '../rules/gates.ts';
import type { KeepReason } from '../rules/verdict.ts';

export type PassEnd = 'completed' | 'timeout' | 'aborted' | 'skipped' | 'cancelled';

/** Counters without a label. */
const PLAIN = [
  'prune_candidates_total',
  'prune_deleted_total',
  'prune_children_verified_total',
  'prune_child_batches_total',
  'prune_child_batch_errors_total',
  'prune_tombstones_written_total',
  'prune_parent_missing_total',
  'prune_blob_deleted_total',
  'prune_blob_errors_total',
  'prune_retries_total',
] as const;
export type PruneCounter = (typeof PLAIN)[number];
export type PruneDuration = 'prune_pass_seconds' | 'prune_chunk_seconds' | 'prune_child_batch_seconds';

/** Upper bounds of the classes of durations, in seconds: a read of a batch takes some milliseconds, a pass up to ten minutes. */
const BOUNDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600] as const;

export interface DurationCounts {
  count: number;
  sum: number;
  /** How many took at most as long as each of the bounds. */
  readonly atMost: Map<number, number>;
}

export class PruneCounters {
  readonly #counts = new Map<string, number>(PLAIN.map((name) => [name, 0]));
  readonly #durations = new Map<PruneDuration, DurationCounts>();

  add(counter: PruneCounter, count = 1): void {
    this.#add(counter, count);
  }

  ended(result: PassEnd): void {
    this.#add(`prune_passes_total{result="${result}"}`, 1);
  }

  skipped(reason: SkipReason): void {
    this.#add(`prune_skipped_total{reason="${reason}"}`, 1);
  }

  kept(reason: KeepReason): void {
    this.#add(`prune_kept_total{reason="${reason}"}`, 1);
  }

  took(what: PruneDuration, ms: number): void {
    const counts = this.#durations.get(what) ?? { count: 0, sum: 0, atMost: new Map(BOUNDS.map((bound) => [bound, 0])) };
    counts.count++;
    counts.sum += ms / 1000;
    for (const bound of BOUNDS) if (ms / 1000 <= bound) counts.atMost.set(bound, (counts.atMost.get(bound) ?? 0) + 1);
    this.#durations.set(what, counts);
  }

  /** 0 for what never happened. */
  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  counts(): ReadonlyMap<string, number> {
    return new Map(this.#counts);
  }

  durations(): ReadonlyMap<PruneDuration, Readonly<DurationCounts>> {
    return new Map(this.#durations);
  }

  #add(name: string, count: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }
}
