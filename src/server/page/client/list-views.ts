/** Blocks and transactions as they come: the newest of them on the overview, and blocks page by page. */
import { get, travel } from './api.ts';
import { h } from './dom.ts';
import { bytes, count, counted } from './format.ts';
import { blockLink, blockTime, chain, coinText, hrefOf, linkTo, symbol } from './parts.ts';
import type { Block } from './shapes.ts';
import { frame, type View } from './subject.ts';

export interface NewestTx {
  readonly tx_hash: string;
  readonly valid: boolean;
  readonly block: number;
  readonly block_hash?: string;
  readonly block_time: number;
  readonly output_count: number;
  readonly lovelace_amount?: string;
  readonly satoshi_amount?: string;
}

const PAGE_BLOCKS = 50;

export function blockRow(block: Block): HTMLElement {
  const { height, hash, tx_count, size, block_time } = block;
  const cell = (label: string, isNumber: boolean, child: Parameters<typeof h>[2]) =>
    h('td', { 'data-label': label, class: isNumber ? 'number' : null }, child);
  return h(
    'tr',
    { 'data-block': hash },
    cell('Block', false, blockLink(height, hash)),
    cell('Transactions', true, h('span', {}, tx_count === undefined ? '–' : count(tx_count))),
    cell('Size', true, h('span', {}, size === undefined ? '–' : bytes(size))),
    cell('Time', true, blockTime(block_time)),
  );
}

export function txRow(tx: NewestTx): HTMLElement {
  const amount = tx.lovelace_amount ?? tx.satoshi_amount;
  const failed = !tx.valid && h('span', { class: 'tag', 'data-tone': 'bad' }, 'failed');
  return h(
    'tr',
    { 'data-tx': tx.tx_hash },
    h('td', { 'data-label': 'Transaction' }, h('div', {}, linkTo('tx', tx.tx_hash), ' ', failed)),
    h('td', { 'data-label': 'Outputs', class: 'number' }, h('span', {}, count(tx.output_count))),
    h(
      'td',
      { 'data-label': symbol(), class: 'number' },
      h('span', {}, amount === undefined ? '–' : coinText({ quantity: amount, unit: chain.unit })),
    ),
    h('td', { 'data-label': 'Block', class: 'number' }, blockLink(tx.block, tx.block_hash)),
  );
}

/** Narrow enough to stay a table on a phone. */
export function rowsTable(title: string, names: readonly string[], rows: readonly HTMLElement[]): HTMLElement {
  const head = names.map((name, i) => h('th', { scope: 'col', class: i > 0 ? 'number' : null }, name));
  return h('table', { class: 'rows compact' }, h('caption', {}, title), h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows));
}

export const BLOCK_COLUMNS = ['Block', 'Transactions', 'Size', 'Time'] as const;

/** `before`: of blocks below a height; empty: from the newest on, as of the block that is looked at. */
export async function showBlocks(before: string): Promise<View> {
  const { height } = travel;
  // Of a chain the blocks up to one are the same at every later time.
  const bounds = [...(before === '' ? [] : [Number(before)]), ...(height === null ? [] : [height + 1])];
  const { body: blocks } = await get<Block[]>('/blocks', { limit: PAGE_BLOCKS, before: bounds.length === 0 ? null : Math.min(...bounds) });
  const last = blocks.at(-1);
  const older = last !== undefined && last.height > 0 && h('a', { class: 'button', href: hrefOf('blocks', String(last.height)) }, 'Older');
  const newer = before !== '' && h('a', { class: 'button', href: hrefOf('blocks', '') }, 'Newest');
  const title =
    before !== '' ? `Blocks below ${count(Number(before))}` : height === null ? 'Newest blocks' : `Blocks up to ${count(height)}`;
  const table = rowsTable(title, BLOCK_COLUMNS, blocks.map(blockRow));
  const foot = h('nav', { class: 'more', 'aria-label': 'Pages' }, newer, older, h('span', {}, counted(blocks.length, 'block')));
  return { title: 'Blocks', element: frame(h('h1', { class: 'unseen' }, 'Blocks'), h('section', { class: 'card' }, table, foot)) };
}
