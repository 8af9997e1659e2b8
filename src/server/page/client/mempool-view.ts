/**
 * What waits for a block on the Bitcoin family: how much, at which fee rates as
 * a histogram, what a rate should be to get in soon, and what came last.
 */
import { get, getEsplora, Problem } from './api.ts';
import { type Child, h, update } from './dom.ts';
import { bytes, coins, count, counted, rate, shortHash } from './format.ts';
import { rowsTable } from './list-views.ts';
import { chain, fact, linkTo, smallUnit, symbol } from './parts.ts';
import { frame, type View } from './subject.ts';

interface Backlog {
  readonly count: number;
  readonly vsize: number;
  /** From low to high. */
  readonly bins: readonly { readonly from: number; readonly to?: number; readonly count: number; readonly vsize: number }[];
}

interface Recent {
  readonly txid: string;
  readonly fee: number | null;
  readonly vsize: number;
  readonly value: number;
}

const BLOCK_VSIZE = 1_000_000;
const REFRESH_MS = 4000;
const TARGETS: readonly (readonly [blocks: string, words: string])[] = [
  ['1', 'the next block'],
  ['3', 'about 3 blocks'],
  ['6', 'about 6 blocks'],
  ['144', 'a day'],
];

/** Throws `Problem` on chains where what waits has no fee rates. */
export async function showMempool(): Promise<View> {
  if (!chain.hasEsplora)
    throw new Problem(404, 'There is no such page on this chain.', 'Blocks of Cardano are not bid for: what waits has no fee rates.', '');
  const body = h('div', { class: 'explorer' });
  const refresh = async (): Promise<void> => {
    const [{ body: backlog }, { body: recent }, { body: fees }] = await Promise.all([
      get<Backlog>('/mempool'),
      getEsplora<Recent[]>('/mempool/recent'),
      getEsplora<Readonly<Record<string, number>>>('/fee-estimates'),
    ]);
    update(body, headOf(backlog), histogram(backlog), h('div', { class: 'pair' }, feeCard(fees), recentCard(recent)));
  };
  await refresh();
  const timer = setInterval(() => void refresh().catch(() => undefined), REFRESH_MS);
  return { title: 'Mempool', element: frame(body), refresh, close: () => clearInterval(timer) };
}

function headOf({ count: waiting, vsize }: Backlog): HTMLElement {
  const blocks = vsize / BLOCK_VSIZE;
  return h(
    'section',
    { class: 'card subject' },
    h('h1', {}, 'Mempool'),
    h(
      'dl',
      { class: 'facts' },
      fact('Transactions that wait', h('span', { class: 'big' }, count(waiting))),
      fact('Together', h('span', { class: 'big' }, virtualBytes(vsize)), h('small', {}, ` ${rate(blocks)} blocks`)),
    ),
  );
}

function histogram({ bins }: Backlog): HTMLElement {
  const title = h('h2', { id: 'fees-title' }, `Fee rates, ${smallUnit()}/vB`);
  if (bins.length === 0) return h('section', { class: 'card', id: 'fees' }, title, h('p', { class: 'empty' }, 'Nothing waits.'));
  const most = Math.max(...bins.map(({ vsize }) => vsize));
  const bars = bins.map(({ from, to, vsize, count: txs }) => {
    const range = to === undefined ? `${from} and more` : `${from} to ${to}`;
    const says = `${range} ${smallUnit()}/vB: ${counted(txs, 'transaction')}, ${virtualBytes(vsize)}`;
    const bar = h('span', { class: 'bin', title: says });
    bar.style.height = `${Math.max(vsize > 0 ? 3 : 0, 100 * (vsize / most))}%`;
    return h(
      'li',
      {},
      h('span', { class: 'column' }, bar),
      h('b', { 'aria-hidden': 'true' }, String(from)),
      h('span', { class: 'unseen' }, says),
    );
  });
  return h('section', { class: 'card', id: 'fees' }, title, h('ol', { class: 'histogram', 'aria-labelledby': 'fees-title' }, bars));
}

function virtualBytes(size: number): string {
  return bytes(size).replace(/B$/, 'vB');
}

function feeCard(fees: Readonly<Record<string, number>>): HTMLElement {
  const rows: Child[] = TARGETS.map(([blocks, words]) => [
    h('dt', {}, `For ${words}`),
    h('dd', {}, `${rate(fees[blocks] ?? 1)} ${smallUnit()}/vB`),
  ]);
  return h('section', { class: 'card' }, h('h2', {}, 'What to pay'), h('dl', { class: 'pairs' }, rows));
}

function recentCard(recent: readonly Recent[]): HTMLElement {
  if (recent.length === 0) return h('section', { class: 'card' }, h('h2', {}, 'Came last'), h('p', { class: 'empty' }, 'Nothing waits.'));
  const rows = recent.map(({ txid, fee, vsize, value }) =>
    h(
      'tr',
      {},
      h('td', { 'data-label': 'Transaction' }, linkTo('tx', txid, shortHash(txid))),
      h('td', { 'data-label': symbol(), class: 'number' }, h('span', {}, coins(String(value), chain.unit))),
      h('td', { 'data-label': `${smallUnit()}/vB`, class: 'number' }, h('span', {}, fee === null ? '–' : rate(fee / vsize))),
    ),
  );
  return h('section', { class: 'card' }, rowsTable('Came last', ['Transaction', symbol(), `${smallUnit()}/vB`], rows));
}
