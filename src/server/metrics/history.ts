/**
 * The last quarter of an hour, a sample a second, in memory: what the page draws
 * before the first event, and what Prometheus is too coarse for.
 */
import Type, { type Static } from 'typebox';
import { HISTORY_SAMPLES_MAX, HISTORY_TIMINGS_MAX } from '../../util/limits.ts';
import type { ServerContext } from '../context.ts';
import type { LiveTiming } from '../thread/live.ts';
import { lagBlocks } from './health.ts';

const orNull = (schema: Type.TSchema) => Type.Union([schema, Type.Null()]);
const milliseconds = (description: string) => Type.Number({ minimum: 0, description });

export const Sample = Type.Object(
  {
    time: Type.Integer({ description: 'Unix seconds.' }),
    height: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Of our newest block.' }),
    lag_blocks: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], { description: 'Behind the source; null where it does not say.' }),
    blocks_per_second: Type.Number({ minimum: 0, description: 'Applied in this second.' }),
    apply_ms: orNull(milliseconds('A block took this long to apply, on average; null: none was.')),
    rollback_ms: orNull(milliseconds('The longest rollback in this second; null: none.')),
    prune_ms: orNull(milliseconds('The longest batch of pruning in this second; null: none.')),
    requests_per_second: Type.Number({ minimum: 0, description: 'Answered in this second.' }),
    p99_ms: orNull(milliseconds('99 of 100 requests in this second took no longer; null: there were none.')),
  },
  { additionalProperties: false },
);
export type Sample = Omit<Static<typeof Sample>, `${string}_ms`> & {
  readonly [name in 'apply_ms' | 'rollback_ms' | 'prune_ms' | 'p99_ms']: number | null;
};

const SAMPLE_MS = 1000;

export class History {
  private readonly context: ServerContext;
  /** Oldest first. */
  readonly samples: Sample[] = [];
  private readonly timer: NodeJS.Timeout;
  private blocksBefore: number;
  private at = performance.now();
  private applied = { seconds: 0, blocks: 0 };
  private longest: { rollback: number | null; prune: number | null } = { rollback: null, prune: null };
  private requests = 0;
  /** Milliseconds of the requests of this second: the first so many. */
  private took: number[] = [];

  constructor(context: ServerContext, onFailure: (error: Error) => void, everyMs = SAMPLE_MS) {
    this.context = context;
    this.blocksBefore = context.live.status.blocks;
    this.timer = setInterval(() => {
      try {
        this.take();
      } catch (error) {
        onFailure(error as Error);
      }
    }, everyMs);
    this.timer.unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  timing({ what, seconds, blocks }: LiveTiming): void {
    if (what === 'apply') {
      this.applied.seconds += seconds;
      this.applied.blocks += blocks;
    } else if (what !== 'fill') this.longest[what] = Math.max(this.longest[what] ?? 0, 1000 * seconds);
  }

  answered(milliseconds: number): void {
    this.requests++;
    if (this.took.length < HISTORY_TIMINGS_MAX) this.took.push(milliseconds);
  }

  private take(): void {
    const now = performance.now();
    const seconds = (now - this.at) / 1000;
    const { live } = this.context;
    const { blocks } = live.status;
    const head = this.head();
    const { applied, longest } = this;
    this.samples.push({
      time: Math.round(Date.now() / 1000),
      height: head?.height ?? null,
      lag_blocks: lagBlocks(head, live.status),
      blocks_per_second: round((blocks - this.blocksBefore) / seconds),
      apply_ms: applied.blocks === 0 ? null : round((1000 * applied.seconds) / applied.blocks),
      rollback_ms: longest.rollback === null ? null : round(longest.rollback),
      prune_ms: longest.prune === null ? null : round(longest.prune),
      requests_per_second: round(this.requests / seconds),
      p99_ms: this.took.length === 0 ? null : round(percentile(this.took, 0.99)),
    });
    if (this.samples.length > HISTORY_SAMPLES_MAX) this.samples.shift();
    this.at = now;
    this.blocksBefore = blocks;
    this.applied = { seconds: 0, blocks: 0 };
    this.longest = { rollback: null, prune: null };
    this.requests = 0;
    this.took = [];
  }

  private head(): { readonly height: number; readonly slot: number; readonly hash: Uint8Array } | null {
    const lease = this.context.reads.lease();
    try {
      return lease.query.head;
    } finally {
      lease.release();
    }
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

/** A microsecond is as exact as anybody reads it. */
function round(value: number): number {
  return Math.round(1000 * value) / 1000;
}
