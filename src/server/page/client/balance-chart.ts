/**
 * A balance over time as steps: it stays until a transaction changes it. Drawn
 * as lines of the stylesheet's colours, laid out again when its width changes;
 * the value under the pointer is said in the heading. The table of transactions
 * beside it says the same to everybody.
 */
import { h, svg } from './dom.ts';
import { count, largest, utc } from './format.ts';
import type { OwnerTx } from './owner-history.ts';
import { blockTime, coinsText } from './parts.ts';

interface Step {
  readonly time: number;
  readonly height: number;
  /** From then on. */
  readonly balance: bigint;
}

const HEIGHT = 150;
const PAD = { left: 8, right: 10, top: 18, bottom: 20 } as const;
const PARTS = 1_000_000n;

/** `rows` newest first; `isCut`: there are older ones. */
export function balanceChart(rows: readonly OwnerTx[], now: bigint, isCut: boolean): HTMLElement {
  const steps = stepsOf(rows, now);
  const most = largest([1n, ...steps.map(({ balance }) => balance)]);
  const reading = h('div', { class: 'reading' });
  const host = h('div', { class: 'plot balance-plot', 'aria-hidden': 'true' });
  const said = (step: Step): void => {
    reading.replaceChildren(h('span', {}, 'block ', count(step.height), ', ', blockTime(step.time)), h('b', {}, coinsText(step.balance)));
  };
  const last = steps[steps.length - 1];
  said(last);
  let width = 0;
  new ResizeObserver(() => {
    if (host.clientWidth === 0 || host.clientWidth === width) return;
    width = host.clientWidth;
    host.replaceChildren(drawing(steps, most, width));
  }).observe(host);
  host.addEventListener('pointermove', (event) => {
    const share = (event.offsetX - PAD.left) / Math.max(1, width - PAD.left - PAD.right);
    const time = steps[0].time + share * (last.time - steps[0].time);
    said(steps.findLast((step) => step.time <= time) ?? steps[0]);
  });
  host.addEventListener('pointerleave', () => said(last));
  const title = isCut ? `Balance over the newest ${rows.length} transactions` : 'Balance over time';
  return h('figure', { class: 'card chart', id: 'balance' }, h('header', {}, h('h2', {}, title), reading), host);
}

/** Oldest first, beginning with what there was before the first. */
function stepsOf(rows: readonly OwnerTx[], now: bigint): readonly Step[] {
  const steps: Step[] = [];
  let balance = now;
  for (const { block_time, block, received_amount, spent_amount } of rows) {
    steps.push({ time: block_time, height: block, balance });
    balance += BigInt(spent_amount) - BigInt(received_amount);
  }
  const first = rows[rows.length - 1];
  steps.push({ time: first.block_time, height: first.block, balance: balance < 0n ? 0n : balance });
  return steps.reverse();
}

function drawing(steps: readonly Step[], most: bigint, width: number): SVGElement {
  const [first, last] = [steps[0], steps[steps.length - 1]];
  const span = Math.max(1, last.time - first.time);
  const x = ({ time }: Step): number => PAD.left + ((time - first.time) / span) * (width - PAD.left - PAD.right);
  const y = ({ balance }: Step): number =>
    HEIGHT - PAD.bottom - (Number((balance * PARTS) / most) / Number(PARTS)) * (HEIGHT - PAD.top - PAD.bottom);
  const line = steps.map((step, i) => (i === 0 ? `M${one(x(step))} ${one(y(step))}` : `H${one(x(step))}V${one(y(step))}`)).join('');
  const base = HEIGHT - PAD.bottom;
  const label = (text: string, at: number, down: number, anchor: string): SVGElement =>
    svg('text', { x: at, y: down, 'text-anchor': anchor }, text);
  return svg(
    'svg',
    { class: 'balance-drawing', viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT },
    svg('path', { class: 'grid', d: `M${PAD.left} ${PAD.top}H${width - PAD.right}M${PAD.left} ${base}H${width - PAD.right}` }),
    svg('path', { class: 'area', d: `${line}V${base}H${one(x(first))}Z` }),
    svg('path', { class: 'line', d: line }),
    svg('circle', { cx: one(x(last)), cy: one(y(last)), r: 3.2 }),
    label(coinsText(most), PAD.left, PAD.top - 5, 'start'),
    label(utc(first.time).slice(0, 16), PAD.left, HEIGHT - 5, 'start'),
    label(utc(last.time).slice(0, 16), width - PAD.right, HEIGHT - 5, 'end'),
  );
}

function one(value: number): number {
  return Math.round(10 * value) / 10;
}
