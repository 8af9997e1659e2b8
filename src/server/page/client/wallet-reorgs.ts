/**
 * What reorganisations did to a wallet, before and after: which of its
 * transactions lost their block, and where each is now. A small picture of the
 * fork stands before each; a fork that touched nothing of the wallet is a line.
 */
import { type Child, h, svg, update } from './dom.ts';
import { count, counted, shortHash } from './format.ts';
import { blockLink, linkTo } from './parts.ts';
import { changeText, fateOf, heights, MoreButton, txName } from './wallet-parts.ts';
import type { WalletReorg, WalletReorgTx } from './wallet-shapes.ts';

/** Blocks of a branch in the picture; the rest is left out. */
const BLOCKS_DRAWN = 5;

export class ReorgList {
  readonly element: HTMLElement;
  private readonly list = h('div', { class: 'reorgs' });
  private readonly empty = h('p', { class: 'empty' }, 'None since the wallet was made: no block that it saw was ever undone.');
  private readonly more: MoreButton;

  constructor(onMore: () => void) {
    this.more = new MoreButton(onMore);
    const title = h('h2', { id: 'reorgs-title' }, 'Reorganisations');
    this.element = h('section', { class: 'card', 'aria-labelledby': 'reorgs-title' }, title, this.empty, this.list, this.more.element);
  }

  show(reorgs: readonly WalletReorg[], hasMore: boolean): void {
    this.empty.hidden = reorgs.length > 0;
    update(this.list, reorgs.map(reorgArticle));
    this.more.show(hasMore);
  }
}

function reorgArticle(reorg: WalletReorg): HTMLElement {
  const { from, to, depth, transactions, is_cut } = reorg;
  const undone = `${counted(depth, 'block')} undone: ${heights(to + 1, from)}`;
  const none = `Nothing of this wallet was in ${depth === 1 ? 'it' : 'them'}.`;
  return h(
    'article',
    { 'data-reorg': reorg.sequence },
    h(
      'header',
      {},
      forkPicture(reorg),
      h('div', {}, h('h3', {}, undone), h('p', { class: 'note' }, transactions.length === 0 ? none : summary(transactions))),
    ),
    transactions.length > 0 && beforeAndAfter(reorg),
    is_cut && h('p', { class: 'note' }, `More than these ${count(transactions.length)} were touched.`),
  );
}

/** `1 came back, 1 was replaced, 1 orphaned with 1 child`. */
function summary(transactions: readonly WalletReorgTx[]): string {
  const of = (isSo: (tx: WalletReorgTx) => boolean): number => transactions.filter(isSo).length;
  const parts: readonly (readonly [number, string])[] = [
    [of(({ now }) => now?.block != null), 'in a block again'],
    [of(({ now }) => now !== null && now.block === null && (now.status === 'published' || now.status === 'pending')), 'waiting'],
    [of(({ now }) => now?.status === 'replaced'), 'replaced'],
    [of(({ now }) => now?.status === 'orphaned'), 'orphaned'],
    [of(({ now }) => now?.status === 'failed'), 'failed'],
    [of(({ now }) => now === null), 'forgotten'],
  ];
  const told = parts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  return `${counted(transactions.length, 'transaction')} of this wallet: ${told.join(', ')} now.`;
}

function beforeAndAfter({ to, transactions }: WalletReorg): HTMLElement {
  const head = ['Before', '', 'Now'].map((name) => (name === '' ? h('td', {}) : h('th', { scope: 'col' }, name)));
  const rows = inOrder(transactions).map((tx) =>
    h(
      'tr',
      { 'data-tx': tx.txid, class: tx.lost_block === null ? 'child' : null },
      h(
        'td',
        { class: 'before' },
        beforeText(tx),
        h('div', {}, tx.now === null ? linkTo('tx', tx.txid) : [txName(tx.now), changeText(tx.now)]),
      ),
      h('td', { class: 'way', 'data-tone': toneOf(tx) }, arrow()),
      h('td', { class: 'after', 'data-tone': toneOf(tx) }, h('b', {}, nowTitle(tx)), h('div', { class: 'note' }, nowDetail(tx))),
    ),
  );
  const common =
    to < 0 ? 'The chains have no block in common.' : ['Up to ', h('span', {}, 'block ', blockLink(to)), ' both chains are the same.'];
  return h(
    'div',
    {},
    h('table', { class: 'before-after' }, h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows)),
    h('p', { class: 'note common' }, common),
  );
}

/** What fell with a transaction stands behind it. */
function inOrder(transactions: readonly WalletReorgTx[]): WalletReorgTx[] {
  const children = transactions.filter(({ lost_block }) => lost_block === null);
  const isChildOf = (parent: WalletReorgTx) => (tx: WalletReorgTx) =>
    tx.now?.inputs.some(({ outpoint }) => outpoint.startsWith(parent.txid)) ?? false;
  const placed = new Set<WalletReorgTx>();
  const place = (tx: WalletReorgTx): void => {
    if (placed.has(tx)) return;
    placed.add(tx);
    children.filter(isChildOf(tx)).forEach(place);
  };
  [...transactions.filter(({ lost_block }) => lost_block !== null), ...children].forEach(place);
  return [...placed];
}

function beforeText({ lost_block }: WalletReorgTx): HTMLElement {
  if (lost_block === null) return h('span', { class: 'lost' }, 'spent what was orphaned');
  return h('span', { class: 'lost' }, `block ${count(lost_block)}`);
}

function toneOf({ now }: WalletReorgTx): string {
  return now === null ? 'idle' : fateOf(now).tone;
}

function nowTitle({ now }: WalletReorgTx): Child {
  if (now === null) return 'forgotten';
  if (now.block !== null) return ['block ', blockLink(now.block.height, now.block.hash)];
  return fateOf(now).words;
}

function nowDetail({ now, lost_block, became }: WalletReorgTx): Child {
  if (now === null) return 'pruned since';
  if (now.block !== null) return now.block.height === lost_block ? 'came back at the same height' : 'came back';
  if (now.status === 'replaced') {
    const by = now.replaced_by.at(-1);
    return by === undefined ? '' : ['by ', linkTo('tx', by, shortHash(by))];
  }
  if (now.status === 'orphaned') return 'its block is gone, and its coins with it';
  if (became === 'failed' && now.status === 'failed') return 'with the coinbase that it spent from';
  return now.status === 'failed' ? '' : 'in no block yet; it keeps its coins';
}

function arrow(): SVGElement {
  return svg('svg', { viewBox: '0 0 40 12', width: 40, height: 12, 'aria-hidden': 'true' }, svg('path', { d: 'M1 6H36M31 2l5 4-5 4' }));
}

/** The common chain, the branch that is gone above, the one that took its place below; blocks that had something of the wallet are full. */
function forkPicture({ from, to, transactions }: WalletReorg): SVGElement {
  const full = new Set(transactions.map(({ lost_block }) => lost_block));
  const came = new Set(transactions.map(({ now }) => now?.block?.height));
  const blocks = Math.min(BLOCKS_DRAWN, from - to);
  const x = (i: number): number => 40 + 16 * i;
  const square = (i: number, y: number, isFull: boolean): SVGElement =>
    svg('rect', { x: x(i) - 5, y: y - 5, width: 10, height: 10, rx: 2, class: isFull ? 'full' : null });
  const range = Array.from({ length: blocks }, (_, i) => i);
  const width = x(blocks) + 8;
  return svg(
    'svg',
    { class: 'fork', viewBox: `0 0 ${width} 44`, width, height: 44, 'aria-hidden': 'true' },
    svg('path', { class: 'trunk', d: 'M2 22H20' }),
    svg(
      'g',
      { class: 'gone' },
      svg('path', { d: `M20 22C28 22 26 10 ${x(0) - 5} 10H${x(blocks - 1)}` }),
      range.map((i) => square(i, 10, full.has(to + 1 + i))),
    ),
    svg(
      'g',
      { class: 'came' },
      svg('path', { d: `M20 22C28 22 26 34 ${x(0) - 5} 34H${x(blocks)}` }),
      [...range, blocks].map((i) => square(i, 34, came.has(to + 1 + i))),
    ),
    svg('rect', { class: 'trunk', x: 7, y: 17, width: 10, height: 10, rx: 2 }),
  );
}
