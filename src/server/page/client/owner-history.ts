/**
 * What happened to an address or a stake address, where the store keeps it: its
 * transactions, newest first, and its balance over time, which they add up to.
 */
import { type Answer, get, problem } from './api.ts';
import { balanceChart } from './balance-chart.ts';
import { h, replace } from './dom.ts';
import { coins, count } from './format.ts';
import { problemNotice } from './notice.ts';
import { blockLink, blockTime, chain, copyButton, linkTo, symbol } from './parts.ts';

export interface OwnerTx {
  readonly tx_hash: string;
  readonly block: number;
  readonly block_hash?: string;
  readonly block_time: number;
  readonly received_amount: string;
  readonly spent_amount: string;
}

/** Enough for a chart; a table shows a part of it at a time. */
const FETCH_ROWS = 500;
const PART_ROWS = 10;
const NONE_KEPT =
  'This store keeps no history, only what is unspent. A store with utxo.history = true keeps every transaction of every address.';

/** `now` is the balance at the block that is shown. */
export async function ownerHistory(path: string, now: bigint): Promise<readonly HTMLElement[]> {
  if (!chain.projections.includes(path.startsWith('/stake') ? 'history.stake' : 'history'))
    return [h('section', { class: 'card', id: 'history' }, h('h2', {}, 'Transactions'), h('p', { class: 'empty' }, NONE_KEPT))];
  const first = await get<OwnerTx[]>(`${path}/txs`, { limit: FETCH_ROWS, order: 'desc' });
  const { body: rows } = first;
  const chart = rows.length < 2 ? [] : [balanceChart(rows, now, first.next !== null)];
  return [...chart, new HistoryTable(path, first, now).element];
}

class HistoryTable {
  readonly element: HTMLElement;
  private readonly path: string;
  private readonly body = h('tbody', {});
  private readonly size = h('small', {});
  private readonly foot = h('div', { class: 'more' });
  private rows: readonly OwnerTx[];
  private next: string | null;
  /** After the row that comes next. */
  private balance: bigint;

  constructor(path: string, { body, next }: Answer<OwnerTx[]>, now: bigint) {
    this.path = path;
    this.rows = body;
    this.next = next;
    this.balance = now;
    const more = h('button', { class: 'button', type: 'button', click: () => void this.more() }, 'Show more');
    this.foot.append(more);
    const head = ['Transaction', 'Change', 'Balance', 'Block'].map((name, i) =>
      h('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : null }, i === 1 || i === 2 ? `${name}, ${symbol()}` : name),
    );
    const table = h('table', { class: 'rows' }, h('caption', {}, 'Transactions ', this.size), h('thead', {}, h('tr', {}, head)), this.body);
    const none = [h('h2', {}, 'Transactions'), h('p', { class: 'empty' }, 'None that the history has.')];
    this.element = h('section', { class: 'card', id: 'history' }, body.length === 0 ? none : [table, this.foot]);
    this.show();
  }

  private show(): void {
    const from = this.body.childElementCount;
    for (const row of this.rows.slice(from, from + PART_ROWS)) {
      this.body.append(historyRow(row, this.balance));
      this.balance += BigInt(row.spent_amount) - BigInt(row.received_amount);
    }
    const isAll = this.next === null && this.body.childElementCount >= this.rows.length;
    this.size.textContent = this.next === null ? count(this.rows.length) : `newest ${count(this.rows.length)}`;
    this.foot.hidden = isAll;
  }

  private async more(): Promise<void> {
    try {
      if (this.body.childElementCount >= this.rows.length && this.next !== null) {
        const { body, next } = await get<OwnerTx[]>(`${this.path}/txs`, { limit: FETCH_ROWS, order: 'desc', after: this.next });
        this.rows = [...this.rows, ...body];
        this.next = next;
      }
      this.show();
    } catch (error) {
      replace(this.foot, problemNotice(problem(error)));
    }
  }
}

function historyRow({ tx_hash, block, block_hash, block_time, received_amount, spent_amount }: OwnerTx, balance: bigint): HTMLElement {
  const change = BigInt(received_amount) - BigInt(spent_amount);
  const sign = change < 0n ? '−' : change > 0n ? '+' : '';
  const amount = h(
    'span',
    { class: 'change', 'data-tone': change > 0n ? 'ok' : null },
    sign,
    coins((change < 0n ? -change : change).toString(), chain.unit),
  );
  return h(
    'tr',
    {},
    h('td', { 'data-label': 'Transaction' }, h('div', {}, linkTo('tx', tx_hash), copyButton(tx_hash, 'transaction'))),
    h('td', { 'data-label': 'Change', class: 'number' }, amount),
    h('td', { 'data-label': 'Balance', class: 'number' }, h('span', {}, coins((balance < 0n ? 0n : balance).toString(), chain.unit))),
    h(
      'td',
      { 'data-label': 'Block' },
      h('div', { class: 'place' }, blockLink(block, block_hash), ' ', h('small', {}, blockTime(block_time))),
    ),
  );
}
