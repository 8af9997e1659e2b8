/**
 * A chart of the last minutes: uPlot with our colours, the readings in its
 * heading (the newest, or those under the cursor), one cursor over all charts.
 * Colours are read from the stylesheet again when the theme changes.
 */
import { h, update } from './dom.ts';
import { isolated, withGaps } from './gaps.ts';

export interface Line {
  readonly label: string;
  /** Name of a colour variable of the stylesheet. */
  readonly ink: string;
  readonly text: (value: number) => string;
  /** Has a scale of its own, on the right. */
  readonly right?: boolean;
  /** Happens now and then: dots, and the reading is the last one. */
  readonly dots?: boolean;
  /** The scale reaches at least up to here. */
  readonly least?: number;
}

/** Seconds, then one row of values for each line; null: nothing was measured. */
export type Series = readonly (readonly (number | null)[])[];
type Drawn = readonly (readonly (number | null | undefined)[])[];

const HEIGHT = 142;
const CURSOR_GROUP = 'time';
const FONT = '11px system-ui, sans-serif';
const FILL_ALPHA = '22';
const DOT = 5;
/** Of a value that no line leads to. */
const ALONE = 3;
const MINUTE = 60;
/** Counts have no halves. */
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7];

export class Chart {
  readonly element: HTMLElement;
  private readonly lines: readonly Line[];
  private readonly reading = h('div', { class: 'reading' });
  private readonly plotHost = h('div', { class: 'plot', 'aria-hidden': 'true' });
  private readonly title: string;
  private plot: uPlot | null = null;
  private series: Drawn = [];

  constructor(title: string, lines: readonly Line[]) {
    this.title = title;
    this.lines = lines;
    this.element = h('figure', { class: 'card chart' }, h('header', {}, h('h2', {}, title), this.reading), this.plotHost);
    new ResizeObserver(() => this.fit()).observe(this.plotHost);
  }

  show(series: Series): void {
    this.series = withGaps(series);
    this.plot?.setData(this.series as unknown as uPlot.AlignedData);
    if (this.plot === null) this.fit();
    this.read();
  }

  /** The theme has changed: canvases know nothing of stylesheets. */
  redraw(): void {
    this.plot?.destroy();
    this.plot = null;
    this.fit();
  }

  private fit(): void {
    const width = this.plotHost.clientWidth - 12;
    if (width <= 0 || this.series.length === 0) return;
    if (this.plot === null) {
      this.plot = new uPlot(this.options(width), this.series as unknown as uPlot.AlignedData, this.plotHost);
      // Text for those who cannot see the lines is in the heading.
      this.plot.root.setAttribute('data-chart', this.title);
    } else if (this.plot.width !== width) this.plot.setSize({ width, height: HEIGHT });
  }

  private read(): void {
    const at = this.plot?.cursor.idx ?? null;
    const readings = this.lines.map(({ label, ink, text, dots }, i) => {
      const values = this.series[i + 1] ?? [];
      const newest = dots ? values.findLast((value) => value != null) : values.at(-1);
      const value = at === null ? newest : values[at];
      const mark = h('i', {});
      mark.style.setProperty('--ink', `var(${ink})`);
      return h(
        'span',
        {},
        this.lines.length > 1 && mark,
        this.lines.length > 1 && `${label} `,
        h('b', {}, value == null ? '–' : text(value)),
      );
    });
    const time = at === null ? undefined : this.series[0]?.[at];
    update(this.reading, time != null && h('span', {}, utcTime(time, 1)), readings);
  }

  private options(width: number): uPlot.Options {
    const [muted, edge] = [colour('--muted'), colour('--edge')];
    const axis = { stroke: muted, font: FONT, grid: { stroke: edge, width: 1 }, ticks: { show: false }, gap: 4 };
    const scaleText = (line: Line | undefined) => (_: uPlot, values: number[]) => values.map((value) => line?.text(value) ?? '');
    const right = this.lines.find((line) => line.right);
    return {
      width,
      height: HEIGHT,
      // Half of a time on the axis goes beyond the last value.
      padding: [10, right === undefined ? 26 : 0, 0, 0],
      legend: { show: false },
      cursor: { sync: { key: CURSOR_GROUP }, y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        y: {
          range: (_, __, most) => [
            0,
            top(
              most,
              this.lines.filter((line) => !line.right),
            ),
          ],
        },
        right: {
          range: (_, __, most) => [
            0,
            top(
              most,
              this.lines.filter((line) => line.right),
            ),
          ],
        },
      },
      axes: [
        {
          ...axis,
          size: 24,
          space: 64,
          grid: { show: false },
          values: (_, values, __, ___, step) => values.map((value) => utcTime(value, step)),
        },
        {
          ...axis,
          size: 52,
          space: 30,
          ...(this.lines[0].least === undefined ? {} : { incrs: WHOLE_STEPS }),
          values: scaleText(this.lines.find((line) => !line.right)),
        },
        ...(right === undefined
          ? []
          : [{ ...axis, scale: 'right', side: 1 as const, size: 62, space: 30, grid: { show: false }, values: scaleText(right) }]),
      ],
      series: [{}, ...this.lines.map((line) => this.strokeOf(line))],
      hooks: { setCursor: [() => this.read()] },
    };
  }

  private strokeOf({ ink, right, dots }: Line): uPlot.Series {
    const stroke = colour(ink);
    if (dots) return { stroke, paths: () => null, points: { show: true, size: DOT, fill: stroke, width: 0 }, scale: 'y' };
    const soft = this.lines.length === 1 ? { fill: stroke + FILL_ALPHA } : {};
    const alone = (_: uPlot, line: number): number[] => isolated(this.series[line] ?? []);
    const points = { show: false, filter: alone, size: ALONE, fill: stroke, width: 0 };
    return { stroke, width: 1.5, points, spanGaps: false, scale: right ? 'right' : 'y', ...soft };
  }
}

/** Scales begin at zero: what looks small is small. */
function top(most: number | null, lines: readonly Line[]): number {
  return Math.max(lines[0]?.least ?? 1, 1.12 * (most ?? 0));
}

function utcTime(seconds: number, step: number): string {
  return new Date(1000 * seconds).toISOString().slice(11, step < MINUTE ? 19 : 16);
}

/** A variable of the stylesheet as `#rrggbb`: what it is now, light or dark. */
function colour(name: string): string {
  const probe = h('span', {});
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const parts = getComputedStyle(probe).color.match(/\d+/g) ?? ['0', '0', '0'];
  probe.remove();
  return `#${parts
    .slice(0, 3)
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')}`;
}
