/**
 * Wallets: all there are, and one with its balance, history, coins and what
 * reorganisations did to it. A wallet's own events say when to look again: blocks,
 * the mempool and other processes change it.
 */
import { dropToken, getWallets, problem } from './api.ts';
import { type Child, h, update } from './dom.ts';
import { count } from './format.ts';
import { type LiveRow, LiveTable } from './live-table.ts';
import { amountText, blockLink, copyButton } from './parts.ts';
import { frame, type View } from './subject.ts';
import { balanceFacts } from './wallet-balance.ts';
import { CoinTables } from './wallet-coins.ts';
import { HistoryList } from './wallet-history.ts';
import { ReorgList } from './wallet-reorgs.ts';
import type { Wallet, WalletCoin, WalletEntry, WalletHead, WalletReorg } from './wallet-shapes.ts';
import { WalletWatch } from './wallet-watch.ts';

const ROWS = { wallets: 50, history: 10, coins: 10, reorgs: 5 };
/** As many as the server gives at once. */
const ROWS_MAX = 1000;

export async function showWallets(): Promise<View> {
  const none = [
    'There is none yet. Make one that watches: ',
    h('code', {}, 'unspent wallet create NAME DESCRIPTOR'),
    ', on Cardano ',
    h('code', {}, 'unspent wallet create NAME --address ADDRESS'),
    ', with the same --data. It is shown here as soon as it is made.',
  ];
  let limit = ROWS.wallets;
  const onMore = (rows: number): void => {
    limit = Math.min(ROWS_MAX, rows);
    // If it fails, what is shown stays, and the next block is another occasion.
    void refresh().catch(problem);
  };
  const names = ['Name', 'Total', 'Spendable', 'At block'];
  const table = new LiveTable('Wallets', names, none, { numbers: ['Total', 'Spendable'], rows: limit, onMore });
  const refresh = async (): Promise<void> => {
    const { body, next } = await getWallets<{ readonly wallets: readonly WalletHead[] }>('', { limit });
    table.show(body.wallets.map(walletRow), next !== null);
  };
  await refresh();
  const about = h(
    'section',
    { class: 'card subject tokened' },
    h('div', {}, h('h1', {}, 'Wallets'), h('p', { class: 'note' }, 'Their token is kept for this tab only.')),
    h('button', { class: 'button', type: 'button', click: forgetToken }, 'Forget the token'),
  );
  return { title: 'Wallets', element: frame(about, table.element), refresh };
}

function forgetToken(): void {
  dropToken('wallets');
  dispatchEvent(new HashChangeEvent('hashchange'));
}

function walletRow({ name, watch_only, balance, synced_to }: WalletHead): LiveRow {
  return {
    id: name,
    says: JSON.stringify([balance.total, balance.spendable, synced_to?.height]),
    cells: () => [
      h('span', {}, h('a', { href: walletHref(name) }, name), watch_only && h('small', {}, ' watches')),
      h('span', {}, amountText(balance.total)),
      h('span', {}, amountText(balance.spendable)),
      synced_to === null ? 'none yet' : h('span', {}, blockLink(synced_to.height, synced_to.hash)),
    ],
  };
}

function walletHref(name: string): string {
  return `#/wallet/${encodeURIComponent(name)}`;
}

export async function showWallet(name: string): Promise<View> {
  const page = new WalletPage(name);
  const newest = await page.refresh();
  const watch = new WalletWatch(page.path, newest, () => page.refresh());
  return { title: `Wallet ${name}`, element: page.element, close: () => watch.close() };
}

class WalletPage {
  readonly element: HTMLElement;
  readonly path: string;
  private readonly about = h('div', {});
  /** Apart from what is filled anew, because it stays as it was opened. */
  private readonly watched = { box: h('details', { hidden: true }), title: h('summary', {}), list: h('div', {}) };
  private readonly history = new HistoryList(() => this.grow('history'));
  private readonly coins = new CoinTables(ROWS.coins, (rows) => this.grow('coins', rows));
  private readonly reorgs = new ReorgList(() => this.grow('reorgs'));
  private readonly rows = { ...ROWS };
  private turn = 0;

  constructor(name: string) {
    this.path = `/${encodeURIComponent(name)}`;
    const { box, title, list } = this.watched;
    box.append(title, list);
    const about = h('section', { class: 'card subject', 'aria-label': 'Balance' }, this.about, box);
    this.element = frame(about, this.history.element, this.coins.elements, this.reorgs.element);
    this.element.querySelector('.trail')?.append(h('a', { href: '#/wallets' }, 'Wallets'));
  }

  /** Shows what is so now; the number of the newest event that it knows of. */
  async refresh(): Promise<number> {
    const { path, rows } = this;
    const turn = ++this.turn;
    const { body: wallet } = await getWallets<Wallet>(path);
    const [history, coins, leases, reorgs] = await Promise.all([
      getWallets<{ readonly transactions: readonly WalletEntry[] }>(`${path}/transactions`, { grouped: 'true', limit: rows.history }),
      getWallets<{ readonly coins: readonly WalletCoin[] }>(`${path}/coins`, { limit: rows.coins }),
      getWallets<{ readonly leases: readonly WalletCoin[] }>(`${path}/leases`),
      getWallets<{ readonly reorgs: readonly WalletReorg[] }>(`${path}/reorgs`, { limit: rows.reorgs }),
    ]);
    // What was asked for later tells more, or tells of more rows.
    if (turn !== this.turn) return wallet.newest_event;
    update(this.about, aboutWallet(wallet));
    this.showWatched(wallet);
    this.history.show(history.body.transactions, history.next !== null);
    this.coins.show(coins.body.coins, coins.next !== null, leases.body.leases);
    this.reorgs.show(reorgs.body.reorgs, reorgs.next !== null);
    return wallet.newest_event;
  }

  private showWatched({ accounts = [], addresses = [] }: Wallet): void {
    const { box, title, list } = this.watched;
    const lines = [...accounts.map(accountLine), ...addresses.map(addressLine)];
    box.hidden = lines.length === 0;
    update(title, `${accounts.length > 0 ? 'Descriptors' : 'Addresses'} (${count(lines.length)})`);
    update(list, lines);
  }

  private grow(list: keyof typeof ROWS, rows = 2 * this.rows[list]): void {
    this.rows[list] = Math.min(ROWS_MAX, rows);
    // If it fails, what is shown stays, and the watch of the wallet tells.
    void this.refresh().catch(problem);
  }
}

function aboutWallet({ name, watch_only, synced_to, balance }: Wallet): Child[] {
  return [
    h('p', { class: 'what' }, watch_only ? 'Wallet that watches' : 'Wallet with keys'),
    h('h1', {}, name),
    h(
      'p',
      { class: 'note' },
      synced_to === null
        ? 'It is at no block yet: unspent start feeds wallets while it follows a chain, unspent wallet sync by hand. A store of the Bitcoin family has to keep the history for it (utxo.history).'
        : ['At block ', blockLink(synced_to.height, synced_to.hash)],
    ),
    balanceFacts(balance),
  ];
}

function accountLine({ name, descriptor }: NonNullable<Wallet['accounts']>[number]): HTMLElement {
  return h('p', { class: 'blob' }, h('b', {}, name), ' ', descriptor, copyButton(descriptor, `descriptor of ${name}`));
}

function addressLine({ address, script }: NonNullable<Wallet['addresses']>[number]): HTMLElement {
  const text = address ?? script;
  return h('p', { class: 'blob' }, text, copyButton(text, 'address'));
}
