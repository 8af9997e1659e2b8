/**
 * A list of coins in their order (by amount, then txid and index), with its
 * columns, which changes in a few places at a time: what changed is found by
 * halving, so that a list of 100,000 coins is not gone through coin by coin.
 */
import { outpointText } from '../../ledgers/outpoint.ts';
import { CoinColumns } from '../coin-columns.ts';
import type { WalletCoin } from '../records.ts';
import { compareCoins } from '../rules/coins.ts';
import type { CoinPlace } from '../store.ts';

export class CoinList {
  readonly coins: readonly WalletCoin[];
  readonly columns: CoinColumns;

  constructor(coins: readonly WalletCoin[], columns: CoinColumns = CoinColumns.of(coins)) {
    this.coins = coins;
    this.columns = columns;
  }

  /** The list after the coins of these keys became others: `now` has those of them that there still are, and new ones, in their order. */
  changed(keys: readonly CoinPlace[], now: readonly WalletCoin[]): CoinList {
    const present = new Set(now.map(({ outpoint }) => outpointText(outpoint)));
    const gone = keys.filter(({ outpoint }) => !present.has(outpointText(outpoint))).map((key) => this.#find(key));
    const edits: CoinEdit[] = gone.flatMap(({ at, isThere }) => (isThere ? [{ at, coin: null, replaces: true }] : []));
    for (const coin of now) {
      const { at, isThere } = this.#find(coin);
      edits.push({ at, coin, replaces: isThere });
    }
    // Stable: of several that come before the same coin the order stays, and a coin that is there comes behind them.
    return this.#edited(edits.sort((a, b) => a.at - b.at || Number(a.replaces) - Number(b.replaces)));
  }

  /** Where the coin of that key is, or would be. */
  #find(key: CoinPlace): { readonly at: number; readonly isThere: boolean } {
    let [low, high] = [0, this.coins.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareCoins(this.coins[middle], key) < 0) low = middle + 1;
      else high = middle;
    }
    return { at: low, isThere: low < this.coins.length && compareCoins(this.coins[low], key) === 0 };
  }

  #edited(edits: readonly CoinEdit[]): CoinList {
    const removed = edits.filter(({ coin, replaces }) => coin === null && replaces).length;
    const added = edits.filter(({ replaces }) => !replaces).length;
    const count = this.coins.length + added - removed;
    const columns = new CoinColumns(count, this.columns.owners);
    // As long as it will be: an array that grows is copied again and again.
    const coins = new Array<WalletCoin>(count);
    let [next, filled] = [0, 0];
    const copyUpTo = (end: number): void => {
      columns.copy(filled, this.columns, next, end);
      for (; next < end; next++) coins[filled++] = this.coins[next];
    };
    for (const { at, coin, replaces } of edits) {
      copyUpTo(at);
      if (coin !== null) {
        columns.set(filled, coin);
        coins[filled++] = coin;
      }
      if (replaces) next++;
    }
    copyUpTo(this.coins.length);
    return new CoinList(coins, columns);
  }
}

/** At a position of the list: a coin that is new there or takes the place of the one there, or, null, that one goes. */
interface CoinEdit {
  readonly at: number;
  readonly coin: WalletCoin | null;
  readonly replaces: boolean;
}
