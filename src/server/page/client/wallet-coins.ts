/** The coins of a wallet, reserved ones first: by whom, and until when. */
import { type Child, h } from './dom.ts';
import { type LiveRow, LiveTable } from './live-table.ts';
import { addressLink, amountText, assetChips, blockLink, chain, hrefOf, outputLink, timeAgo } from './parts.ts';
import { depthText, shortId } from './wallet-parts.ts';
import type { WalletCoin, WalletLease } from './wallet-shapes.ts';

const AMOUNT = 'Amount';

export class CoinTables {
  readonly elements: readonly HTMLElement[];
  private readonly leased = new LiveTable('Reserved coins', ['Coin', ...holdingNames(), 'Reserved by', 'Until'], '', { numbers: [AMOUNT] });
  private readonly coins: LiveTable;

  /** `onMore` is told how many coins are wanted. */
  constructor(rows: number, onMore: (rows: number) => void) {
    const none = 'None: nothing was paid to the wallet yet, or all of it is spent.';
    const names = ['Coin', ...holdingNames(), 'Address', 'Depth', 'Reservation'];
    this.coins = new LiveTable('Coins', names, none, { numbers: [AMOUNT], rows, onMore });
    this.elements = [this.leased.element, this.coins.element];
  }

  show(coins: readonly WalletCoin[], hasMore: boolean, leased: readonly WalletCoin[]): void {
    this.coins.show(coins.map(coinRow), hasMore);
    this.leased.show(leased.map(leaseRow));
    this.leased.element.hidden = leased.length === 0;
  }
}

/** The columns of what a coin holds. */
function holdingNames(): string[] {
  return chain.hasAssets ? [AMOUNT, 'Assets'] : [AMOUNT];
}

function holdings({ outpoint, amount, assets = [] }: WalletCoin): Child[] {
  const coins = h('span', {}, amountText(amount));
  if (!chain.hasAssets) return [coins];
  return [coins, assetChips([{ unit: chain.unit, quantity: amount }, ...assets], hrefOf('output', outpoint.replace('#', '/'))) ?? ''];
}

function coinRow(coin: WalletCoin): LiveRow {
  const { outpoint, address, kind, height, confirmations, coinbase, lease } = coin;
  return {
    id: outpoint,
    says: JSON.stringify([height, confirmations, lease]),
    cells: () => [
      coinLink(outpoint),
      ...holdings(coin),
      address === null ? kind : addressLink(address),
      h(
        'span',
        {},
        height === null ? 'in no block yet' : [depthText(confirmations), ' ', h('small', {}, 'block ', blockLink(height))],
        coinbase && h('small', {}, ' coinbase'),
      ),
      lease === null ? h('span', { class: 'note' }, 'free') : h('span', { class: 'tag', 'data-tone': 'warn', title: lease.id }, 'reserved'),
    ],
  };
}

function leaseRow(coin: WalletCoin): LiveRow {
  const { outpoint, lease } = coin;
  return {
    id: outpoint,
    says: JSON.stringify(lease),
    cells: () => [
      coinLink(outpoint),
      ...holdings(coin),
      lease === null ? '' : shortId(lease.id),
      lease === null ? '' : h('span', {}, leaseEnd(lease)),
    ],
  };
}

function leaseEnd({ expires_at: at, release_after_spend_confs: confs }: WalletLease): Child {
  const after = confs === null ? '' : `${confs} confirmations of its spend`;
  if (at === null) return after === '' ? 'it is released' : after;
  return [timeAgo(at / 1000), after !== '' && `, or ${after}`];
}

function coinLink(outpoint: string): HTMLElement {
  const [tx_hash, index] = outpoint.split('#');
  return outputLink({ tx_hash, output_index: Number(index) });
}
