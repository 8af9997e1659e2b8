/**
 * How a sync is going, for its log: percent, blocks/s, MB/s and time left. Rates
 * are those of the last few seconds, because blocks of different years differ a
 * hundredfold.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { FollowProgress, Until } from '../sources/follow.ts';
import { count, duration, rate } from './format.ts';

const WINDOW_MS = 8000;

interface Sample {
  readonly at: number;
  readonly blocks: number;
  readonly bytes: number;
  readonly height: number;
  readonly slot: number;
}

/** What we walk towards, and in which unit. */
type Goal = { readonly unit: 'height' | 'slot'; readonly place: number };

export class SyncMeter {
  private readonly until: Until;
  private readonly samples: Sample[];

  constructor(until: Until, head: Point | null, now = performance.now()) {
    this.until = until;
    this.samples = [{ at: now, blocks: 0, bytes: 0, height: head?.height ?? 0, slot: head?.slot ?? 0 }];
  }

  line(progress: FollowProgress, head: Point | null, now = performance.now()): string {
    const goal = this.goal(progress);
    this.sample(progress, head, now);
    const [first, last] = [this.samples[0], this.samples[this.samples.length - 1]];
    const seconds = Math.max(0.001, (last.at - first.at) / 1000);
    const parts = [
      `${rate((last.blocks - first.blocks) / seconds)} blocks/s`,
      `${rate((last.bytes - first.bytes) / 1e6 / seconds)} MB/s`,
      `slot ${count(head?.slot ?? 0)}`,
      `height ${count(head?.height ?? 0)}`,
    ];
    if (progress.queued > 0) parts.push(`${count(progress.queued)} waiting`);
    if (goal === undefined) return parts.join('  ');
    const done = goal.place <= 0 ? 1 : Math.min(1, last[goal.unit] / goal.place);
    const speed = (last[goal.unit] - first[goal.unit]) / seconds;
    if (done < 1 && speed > 0) parts.push(`${duration((goal.place - last[goal.unit]) / speed)} left`);
    return `${(Math.floor(1000 * done) / 10).toFixed(1)}%  ${parts.join('  ')}`;
  }

  /** Heights are the better measure, where both ends are known in them. */
  private goal({ tip }: FollowProgress): Goal | undefined {
    const { until } = this;
    if (until.kind === 'slot') return { unit: 'slot', place: Math.min(until.slot, tip?.slot ?? until.slot) };
    if (until.kind === 'height') return { unit: 'height', place: Math.min(until.height, tip?.height ?? until.height) };
    if (tip === undefined) return undefined;
    return tip.height === undefined ? { unit: 'slot', place: tip.slot } : { unit: 'height', place: tip.height };
  }

  private sample({ blocks, bytes }: FollowProgress, head: Point | null, now: number): void {
    this.samples.push({ at: now, blocks, bytes, height: head?.height ?? 0, slot: head?.slot ?? 0 });
    while (this.samples.length > 2 && now - this.samples[0].at > WINDOW_MS) this.samples.shift();
  }
}
