/**
 * The four charts: is it keeping up, how fast, what does each step cost, how
 * are its readers served. They show the last fifteen minutes, second by second.
 */
import { Chart, type Series } from './charts.ts';
import { h } from './dom.ts';
import { count, milliseconds, rate } from './format.ts';
import type { Sample } from './shapes.ts';

/** Blocks come one by one: the mean of this many seconds tells a pace from a block. */
const SMOOTH_SECONDS = 10;

const perSecond = (value: number): string => `${rate(value)}/s`;

export class Trends {
  readonly element: HTMLElement;
  private readonly charts: readonly (readonly [Chart, readonly (keyof Sample)[]])[] = [
    [new Chart('Lag', [{ label: 'blocks behind', ink: '--warn', text: (value) => count(Math.round(value)), least: 4 }]), ['lag_blocks']],
    [new Chart('Blocks per second', [{ label: 'blocks', ink: '--accent', text: rate }]), ['blocks_per_second']],
    [
      new Chart('Time per step', [
        { label: 'apply', ink: '--accent', text: milliseconds },
        { label: 'rollback', ink: '--bad', text: milliseconds, dots: true },
        { label: 'prune', ink: '--info', text: milliseconds, dots: true },
      ]),
      ['apply_ms', 'rollback_ms', 'prune_ms'],
    ],
    [
      new Chart('Requests', [
        { label: 'requests', ink: '--info', text: perSecond },
        { label: 'p99', ink: '--warn', text: milliseconds, right: true },
      ]),
      ['requests_per_second', 'p99_ms'],
    ],
  ];

  constructor() {
    this.element = h(
      'section',
      { class: 'charts', 'aria-label': 'The last fifteen minutes' },
      ...this.charts.map(([chart]) => chart.element),
    );
  }

  show(samples: readonly Sample[]): void {
    const times = samples.map(({ time }) => time);
    for (const [chart, names] of this.charts) {
      const series: Series = [
        times,
        ...names.map((name) => (name === 'blocks_per_second' ? smooth(samples) : samples.map((sample) => sample[name]))),
      ];
      chart.show(series);
    }
  }

  redraw(): void {
    for (const [chart] of this.charts) chart.redraw();
  }
}

function smooth(samples: readonly Sample[]): number[] {
  let sum = 0;
  return samples.map((sample, i) => {
    sum += sample.blocks_per_second - (samples[i - SMOOTH_SECONDS]?.blocks_per_second ?? 0);
    return Math.max(0, sum) / Math.min(i + 1, SMOOTH_SECONDS);
  });
}
