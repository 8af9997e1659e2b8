/** The newest blocks and transactions on the overview, shown again when the chain has another newest block. */
import { get } from './api.ts';
import { type Child, h, update } from './dom.ts';
import { BLOCK_COLUMNS, blockRow, type NewestTx, rowsTable, txRow } from './list-views.ts';
import { hrefOf, symbol } from './parts.ts';
import type { Block } from './shapes.ts';

const ROWS = 8;
const TX_COLUMNS = ['Transaction', 'Outputs', 'Amount', 'Block'];
const MORE = (): HTMLElement => h('div', { class: 'more' }, h('a', { href: hrefOf('blocks', '') }, 'All blocks'));
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
      const { blocks, txs } = await newestRows(null);
      update(this.blocks, ...blocks);
      update(this.txs, ...txs);
      this.shown = hash;
    } catch {
      // The connection is watched elsewhere; these are asked for again with the next block.
    } finally {
      this.isAsking = false;
    }
  }
}

interface NewestRows {
  readonly blocks: Child[];
  readonly txs: Child[];
}

/** `before`: those of blocks below that height; null: of all. */
async function newestRows(before: number | null): Promise<NewestRows> {
  const [{ body: blocks }, { body: txs }] = await Promise.all([
    get<Block[]>('/blocks', { limit: ROWS, before }),
    get<NewestTx[]>('/txs', { limit: ROWS, before }),
  ]);
  const none = h('p', { class: 'empty' }, 'None in the newest blocks, as far as the store can tell what they did.');
  return {
    blocks: [rowsTable('Newest blocks', BLOCK_COLUMNS, blocks.map(blockRow)), MORE()],
    txs: [rowsTable('Newest transactions', ['Transaction', 'Outputs', symbol(), 'Block'], txs.map(txRow)), txs.length === 0 && none],
  };
}

/** The same two, for a page that stays as it is. */
export async function newestTables(before: number): Promise<HTMLElement[]> {
  const { blocks, txs } = await newestRows(before);
  return [h('section', { class: 'card', id: 'newest-blocks' }, blocks), h('section', { class: 'card', id: 'newest-txs' }, txs)];
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
