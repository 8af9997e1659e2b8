/**
 * What rollbacks took away, side by side: at the left each transaction of the
 * blocks that were undone, as it stood; at the right where it is now. The lines
 * that do not match are the ones that matter, and come first.
 */
import { get } from './api.ts';
import { type Child, h } from './dom.ts';
import { count, counted, shortAddress, shortHash } from './format.ts';
import { amountText, blockLink, copyButton, linkTo, timeAgo } from './parts.ts';
import type { Block, Point, Utxo } from './shapes.ts';
import { frame, type View } from './subject.ts';

interface UndoneTx {
  readonly tx_hash: string;
  readonly block: number;
  readonly output_count: number;
  readonly lovelace_amount?: string;
  readonly satoshi_amount?: string;
  readonly outputs: readonly Utxo[];
  readonly after: {
    readonly state: 'in_block' | 'waiting' | 'lost';
    readonly block?: number;
    readonly block_hash?: string;
    readonly because?: string;
    readonly instead?: string;
  };
}

interface Report {
  readonly time: number;
  readonly to: Point | null;
  readonly undone: number;
  readonly blocks: readonly Block[];
  readonly transactions: readonly UndoneTx[];
  readonly partial: boolean;
}

const ORDER = { lost: 0, waiting: 1, in_block: 2 } as const;
const OUTPUTS_SHOWN = 3;

export async function showRollbacks(): Promise<View> {
  const { body: reports } = await get<Report[]>('/rollbacks');
  const none = h(
    'section',
    { class: 'card' },
    h('h2', {}, 'None'),
    h('p', { class: 'empty' }, 'No server of this store has seen a block undone.'),
  );
  const head = h(
    'section',
    { class: 'card subject' },
    h('h1', {}, 'What rollbacks took away'),
    h(
      'p',
      { class: 'note' },
      'The last ones that servers of this store have seen, newest first. Left: as it stood. Right: where it is now.',
    ),
  );
  return { title: 'Rollbacks', element: frame(head, reports.length === 0 ? none : reports.map(reportCard)) };
}

function reportCard({ time, to, undone, blocks, transactions, partial }: Report): HTMLElement {
  const sorted = transactions.toSorted((a, b) => ORDER[a.after.state] - ORDER[b.after.state]);
  const lost = transactions.filter(({ after }) => after.state === 'lost').length;
  const fate = lost === 0 ? 'nothing lost' : `${counted(lost, 'transaction')} lost`;
  const back: Child = to === null ? 'to the origin' : ['to block ', blockLink(to.height, to.hash)];
  const title = h(
    'h2',
    {},
    `${counted(undone, 'block')} undone, `,
    back,
    ' ',
    h('span', { class: 'tag', 'data-tone': lost === 0 ? 'ok' : 'bad' }, fate),
    ' ',
    h('small', { class: 'note' }, timeAgo(time / 1000)),
  );
  const gone = h(
    'p',
    { class: 'note gone-blocks' },
    'Gone: ',
    blocks.map(({ height, hash }, i) => [i > 0 && ', ', h('span', { class: 'mono', title: hash }, `${count(height)} ${shortHash(hash)}`)]),
    undone > blocks.length && ` and ${count(undone - blocks.length)} more`,
  );
  const head = h(
    'thead',
    {},
    h(
      'tr',
      {},
      h('th', { scope: 'col' }, 'Before'),
      h('th', {}, h('span', { class: 'unseen' }, 'became')),
      h('th', { scope: 'col' }, 'Now'),
    ),
  );
  const rows = h('tbody', {}, sorted.map(txPair));
  const table =
    transactions.length === 0
      ? h('p', { class: 'empty' }, 'The blocks had no transactions.')
      : h('table', { class: 'before-after' }, h('caption', { class: 'unseen' }, 'Transactions of the undone blocks'), head, rows);
  const left =
    partial && h('p', { class: 'note' }, 'Some transactions are not shown: there were too many, or what their block did was pruned.');
  return h('section', { class: 'card reorgs' }, h('article', {}, title, gone, table, left));
}

function txPair(tx: UndoneTx): HTMLElement {
  const amount = tx.lovelace_amount ?? tx.satoshi_amount ?? '0';
  const owners = tx.outputs
    .slice(0, OUTPUTS_SHOWN)
    .map(({ owner_addr }) => (owner_addr === undefined ? 'a script' : shortAddress(owner_addr)));
  const rest = tx.output_count - owners.length;
  const before = h(
    'td',
    { class: 'before' },
    h(
      'div',
      {},
      h('span', { class: 'mono', title: tx.tx_hash }, shortHash(tx.tx_hash)),
      copyButton(tx.tx_hash, 'transaction'),
      h('span', {}, amountText(amount)),
      h('span', { class: 'note' }, `block ${count(tx.block)}`),
    ),
    h(
      'div',
      { class: 'note' },
      owners.length === 0 ? 'no outputs' : `to ${owners.join(', ')}${rest > 0 ? ` and ${count(rest)} more` : ''}`,
    ),
  );
  const { state } = tx.after;
  const tone = state === 'lost' ? 'bad' : state === 'waiting' ? 'info' : 'ok';
  return h(
    'tr',
    { 'data-tone': tone, 'data-state': state },
    before,
    h('td', { class: 'way', 'aria-hidden': 'true' }, '→'),
    h('td', { class: 'after' }, afterText(tx)),
  );
}

function afterText({ tx_hash, after }: UndoneTx): Child {
  if (after.state === 'in_block')
    return [h('b', {}, 'in block ', blockLink(after.block ?? 0, after.block_hash)), ' ', linkTo('tx', tx_hash)];
  if (after.state === 'waiting')
    return [h('b', {}, 'in no block'), h('div', { class: 'note' }, 'what it spends is still there: it may come back')];
  return [
    h('b', {}, 'lost'),
    h('div', { class: 'note' }, after.because ?? '', after.instead !== undefined && [': ', linkTo('tx', after.instead)]),
  ];
}
