/** The newest blocks and transactions on the overview, shown again when the chain has another newest block. */
import { get } from './api.ts';
import { h, update } from './dom.ts';
import { BLOCK_COLUMNS, blockRow, type NewestTx, rowsTable, txRow } from './list-views.ts';
import { symbol } from './parts.ts';
import type { Block } from './shapes.ts';

const ROWS = 8;
const TX_COLUMNS = ['Transaction', 'Outputs', 'Amount', 'Block'];
const MORE = (): HTMLElement => h('div', { class: 'more' }, h('a', { href: '#/blocks' }, 'All blocks'));
/** While the store runs ahead faster than anybody could read. */
const ANEW_MS = 1500;

export class NewestPanels {
  readonly element: HTMLElement;
  private readonly blocks = h('section', { class: 'card', id: 'newest-blocks' });
  private readonly txs = h('section', { class: 'card', id: 'newest-txs' });
  private shown = '';
  private at = 0;
  private isAsking = false;

  constructor() {
    this.element = h('div', { class: 'pair newest' }, this.blocks, this.txs);
    // As many rows as there will be, so that nothing below moves when they come.
    update(this.blocks, rowsTable('Newest blocks', BLOCK_COLUMNS, blankRows(BLOCK_COLUMNS)), MORE());
    update(this.txs, rowsTable('Newest transactions', TX_COLUMNS, blankRows(TX_COLUMNS)));
  }

  /** The chain is there now. What cannot be asked for is asked for again with the next block. */
  async moveTo(hash: string): Promise<void> {
    if (this.shown === hash || this.isAsking || Date.now() < this.at + ANEW_MS) return;
    this.isAsking = true;
    this.at = Date.now();
    try {
      const [{ body: blocks }, { body: txs }] = await Promise.all([
        get<Block[]>('/blocks', { limit: ROWS }),
        get<NewestTx[]>('/txs', { limit: ROWS }),
      ]);
      update(this.blocks, rowsTable('Newest blocks', BLOCK_COLUMNS, blocks.map(blockRow)), MORE());
      const none = h('p', { class: 'empty' }, 'None in the newest blocks, as far as the store can tell what they did.');
      update(
        this.txs,
        rowsTable('Newest transactions', ['Transaction', 'Outputs', symbol(), 'Block'], txs.map(txRow)),
        txs.length === 0 && none,
      );
      this.shown = hash;
    } catch {
      // The connection is watched elsewhere; these are asked for again with the next block.
    } finally {
      this.isAsking = false;
    }
  }
}

function blankRows(names: readonly string[]): HTMLElement[] {
  return Array.from({ length: ROWS }, () =>
    h(
      'tr',
      {},
      names.map((name, i) => h('td', { 'data-label': name, class: i > 0 ? 'number' : null }, h('span', {}, '–'))),
    ),
  );
}
