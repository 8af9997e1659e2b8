/**
 * Transactions that took each other's place, drawn: newest on top, a dot for
 * each in the colour of what became of it, and an arrow from each to the one that
 * took its place. An arrow that goes down is of one that was confirmed after all.
 * The rows beside the drawing say the same in words.
 */
import { h, svg } from './dom.ts';
import { shortHash } from './format.ts';
import { amountText } from './parts.ts';
import { fateOf, fateTag, txName } from './wallet-parts.ts';
import type { WalletGroup, WalletTx } from './wallet-shapes.ts';

/** Pixels; the stylesheet gives each row as much. */
const ROW = 46;
const GUTTER = 46;
const DOT_X = 38;
const DOT_RADIUS = 5;
const ARROW = 5;
/** How far an arc bends: more for each row that it passes, and never out of the gutter. One that goes down stays inside of those that go up. */
const BEND = { first: 22, more: 7, most: 46, down: 11 };

export function replacementDrawing({ transactions, replacements, is_cut }: WalletGroup, shown: WalletTx): HTMLElement {
  const rows = transactions.toReversed();
  const place = new Map(rows.map(({ txid }, i) => [txid, i]));
  const arcs = replacements.flatMap(({ replaced, replacement }) => {
    const [from, to] = [place.get(replaced), place.get(replacement)];
    return from === undefined || to === undefined ? [] : [arc(from, to)];
  });
  const dots = rows.map((tx, i) => svg('circle', { cx: DOT_X, cy: middle(i), r: DOT_RADIUS, 'data-tone': fateOf(tx).tone }));
  const size = { width: GUTTER, height: ROW * rows.length, viewBox: `0 0 ${GUTTER} ${ROW * rows.length}` };
  return h(
    'figure',
    { class: 'replaced' },
    h('figcaption', {}, caption(replacements, shown), is_cut && ' There are more than are shown here.'),
    h(
      'div',
      {},
      svg('svg', { ...size, 'aria-hidden': 'true' }, arcs, dots),
      h(
        'ol',
        {},
        rows.map((tx) => row(tx)),
      ),
    ),
  );
}

function row(tx: WalletTx): HTMLElement {
  const by = tx.replaced_by[0];
  return h(
    'li',
    { 'data-tx': tx.txid },
    h('span', { class: 'line1' }, txName(tx), fateTag(tx)),
    h(
      'span',
      { class: 'line2' },
      tx.fee !== null && h('span', {}, 'fee ', amountText(tx.fee)),
      by !== undefined && h('span', { title: by }, `replaced by ${shortHash(by)}`),
    ),
  );
}

function caption(replacements: WalletGroup['replacements'], { txid, block }: WalletTx): string {
  const victims = new Set(replacements.filter(({ replacement }) => replacement === txid).map(({ replaced }) => replaced));
  const wasReplaced = replacements.some(({ replaced }) => replaced === txid);
  if (wasReplaced && block !== null) return 'It was replaced, and confirmed after all.';
  if (victims.size > 1) return `It took the place of ${victims.size} others.`;
  return replacements.length > 1 ? `Replaced ${replacements.length} times; this one is the last.` : 'It took the place of another.';
}

function middle(row: number): number {
  return ROW * row + ROW / 2;
}

/** From the dot of a row to that of another, with a point at its end. */
function arc(from: number, to: number): SVGElement {
  const isDown = to > from;
  const [y1, y2] = isDown ? [middle(from) + 3, middle(to) - 3] : [middle(from) + 1, middle(to) - 1];
  const bend = isDown ? BEND.down : Math.min(BEND.most, BEND.first + BEND.more * (from - to));
  const end = DOT_X - DOT_RADIUS - 1;
  const line = `M${end} ${y1}C${end - bend} ${y1} ${end - bend} ${y2} ${end - ARROW} ${y2}`;
  const point = `M${end - ARROW} ${y2 - ARROW + 1}L${end} ${y2}L${end - ARROW} ${y2 + ARROW - 1}z`;
  return svg('g', { class: isDown ? 'down' : 'up' }, svg('path', { class: 'arc', d: line }), svg('path', { class: 'point', d: point }));
}
