/**
 * The flow of a transaction as a drawing: what it spends at the left, what it
 * makes at the right, each ribbon as thick as its share. For the eye alone: the
 * tables beside it say the same to everybody, and a ribbon under the pointer
 * marks its row there. It is laid out again when its width changes.
 */
import { type Child, h, svg } from './dom.ts';
import { ENDS_MAX, type FlowLayout, flowLayout, type Ribbon } from './flow-layout.ts';
import { count, fittingAmount } from './format.ts';

/** What a ribbon stands for. */
export interface FlowEnd {
  /** Of the row in the tables; empty: it has none. */
  readonly row: string;
  readonly value: bigint | null;
  /** In words: how much, and whose. */
  readonly amount: string;
  readonly owner: string;
  readonly href: string | null;
  readonly tone: 'in' | 'out' | 'unspent' | 'fee';
}

type SideName = 'left' | 'right';
const LABEL_GAP = 9;
const NARROW = 620;
/** As many digits as there is room for beside a narrow drawing. */
const NARROW_CHARS = 11;

/** `says`: the drawing in a sentence. */
export function flowFigure(inputs: readonly FlowEnd[], outputs: readonly FlowEnd[], says: string): HTMLElement {
  const host = h('div', { class: 'flow-host', 'aria-hidden': 'true' });
  const [left, right] = [gathered(inputs), gathered(outputs)];
  let drawn = 0;
  const observer = new ResizeObserver(() => {
    const width = host.clientWidth;
    if (width === 0 || width === drawn) return;
    drawn = width;
    const layout = flowLayout(
      left.map(({ value }) => value),
      right.map(({ value }) => value),
      width,
    );
    host.replaceChildren(drawing(layout, left, right, width));
  });
  observer.observe(host);
  // Until it is laid out it has the height of what comes, so that nothing below moves.
  const reserved = flowLayout(
    left.map(({ value }) => value),
    right.map(({ value }) => value),
    Math.max(320, Math.min(1240, document.documentElement.clientWidth - 40)),
  );
  host.style.minHeight = `${reserved.height}px`;
  host.addEventListener('pointerover', (event) => mark(event.target, true));
  host.addEventListener('pointerout', (event) => mark(event.target, false));
  return h('figure', { class: 'card flow', id: 'flow' }, h('figcaption', {}, h('h2', {}, 'Flow'), h('p', { class: 'note' }, says)), host);
}

/** Ends behind the first hundred are one. */
function gathered(ends: readonly FlowEnd[]): readonly FlowEnd[] {
  if (ends.length <= ENDS_MAX) return ends;
  const rest = ends.slice(ENDS_MAX - 1);
  const value = rest.reduce((sum, end) => sum + (end.value ?? 0n), 0n);
  const words = `and ${count(rest.length)} more`;
  return [...ends.slice(0, ENDS_MAX - 1), { ...rest[0], row: '', value, amount: words, owner: '', href: null }];
}

function drawing(layout: FlowLayout, left: readonly FlowEnd[], right: readonly FlowEnd[], width: number): SVGElement {
  const { height, from, to } = layout;
  return svg(
    'svg',
    { class: 'flow-drawing', viewBox: `0 0 ${width} ${height}`, width, height },
    svg(
      'defs',
      {},
      gradient('flow-in', from, width / 2, 'edge', 'knot'),
      gradient('flow-out', width / 2, to, 'knot', 'spent'),
      gradient('flow-unspent', width / 2, to, 'knot', 'unspent'),
      gradient('flow-fee', width / 2, to, 'knot', 'fee'),
    ),
    layout.left.map((ribbon) => end(ribbon, left[ribbon.index], 'left', from, width < NARROW)),
    layout.right.map((ribbon) => end(ribbon, right[ribbon.index], 'right', to, width < NARROW)),
  );
}

/** In the coordinates of the drawing: a straight ribbon has no box of its own to measure it in. */
function gradient(id: string, x1: number, x2: number, first: string, last: string): SVGElement {
  return svg(
    'linearGradient',
    { id, gradientUnits: 'userSpaceOnUse', x1, x2, y1: 0, y2: 0 },
    svg('stop', { offset: 0, class: `stop-${first}` }),
    svg('stop', { offset: 1, class: `stop-${last}` }),
  );
}

function end(ribbon: Ribbon, { row, amount, owner, href, tone }: FlowEnd, side: SideName, edge: number, isNarrow: boolean): SVGElement {
  const { path, width, y, lines } = ribbon;
  const parts: Child[] = [
    svg('title', {}, `${amount}${owner === '' ? '' : `\n${owner}`}`),
    svg('path', { d: path, 'stroke-width': width, stroke: `url(#flow-${tone})` }),
    side === 'right' && tone !== 'fee' && (lines > 0 || tone === 'unspent') && cap(edge, y, tone === 'unspent', lines > 0 ? 3.4 : 2),
    lines > 0 && words(amount, lines === 2 ? owner : '', side, edge, y, isNarrow),
  ];
  const group = { class: `end ${tone}`, 'data-end': row === '' ? null : row };
  return href === null ? svg('g', group, parts) : svg('a', { ...group, href, tabindex: -1 }, parts);
}

/** A ring for what is still there, a point that leads on for what was spent. */
function cap(x: number, y: number, isUnspent: boolean, radius: number): SVGElement {
  return isUnspent
    ? svg('circle', { class: 'cap', cx: x, cy: y, r: radius })
    : svg('path', { class: 'cap', d: `M${x - 2} ${y - 3.6}l4.4 3.6-4.4 3.6` });
}

function words(amount: string, owner: string, side: SideName, edge: number, y: number, isNarrow: boolean): SVGElement {
  const x = side === 'left' ? edge - LABEL_GAP : edge + LABEL_GAP;
  const anchor = side === 'left' ? 'end' : 'start';
  const isTwo = owner !== '' && !isNarrow;
  return svg(
    'text',
    { x, y: y + 4, 'text-anchor': anchor },
    svg('tspan', { class: 'amount', x, dy: isTwo ? '-0.55em' : 0 }, isNarrow ? fittingAmount(amount, NARROW_CHARS) : amount),
    isTwo && svg('tspan', { class: 'owner', x, dy: '1.3em' }, owner),
  );
}

function mark(target: EventTarget | null, isOn: boolean): void {
  const row = target instanceof Element ? target.closest('[data-end]')?.getAttribute('data-end') : null;
  if (row == null) return;
  document.querySelector(`tr[data-row="${CSS.escape(row)}"]`)?.classList.toggle('marked', isOn);
}
