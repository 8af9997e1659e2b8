/**
 * The coins of a wallet in their order (by amount, then txid and index), as
 * records of bytes and, for what a selection asks of each, in columns. It changes
 * in a few places at a time: what changed is found by halving, so that a list of
 * 100,000 coins is not gone through coin by coin.
 */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { CoinColumns } from '../coin-columns.ts';
import type { FreeCoins } from '../free-coins.ts';
import type { WalletCoin } from '../records.ts';
import { isFilteredCoin, isOpenFilter } from '../rules/coins.ts';
import { isActive } from '../rules/leases.ts';
import type { CoinFilter, CoinPlace } from '../store.ts';
import { CoinRecords } from './coin-records.ts';

export class CoinList {
  #records = new CoinRecords();
  /** For each coin, in their order, where its record is. */
  #places = new Uint32Array(0);
  #columns = new CoinColumns(0);
  /** The positions of the coins that are free, of the last selection. */
  #free = new Uint32Array(0);

  get count(): number {
    return this.#places.length;
  }

  coinAt(i: number): WalletCoin {
    return this.#records.coinAt(this.#places[i], this.#columns.owners);
  }

  /** Outpoints of coins that are of no account. */
  *outpointsWithoutAccount(): Iterable<Outpoint> {
    for (let i = 0; i < this.count; i++) if (this.#columns.ownerAt(i).account === null) yield this.coinAt(i).outpoint;
  }

  /** Coins of the filter, which was checked, that are neither leased nor evicted. `synced`: the height of the wallet's tip. */
  free(filter: CoinFilter, synced: number | null): FreeCoins {
    const columns = this.#columns;
    const { plain } = columns;
    const isOpen = isOpenFilter(filter);
    // Used again from one selection to the next: what is free is asked anew for each.
    if (this.#free.length < this.count) this.#free = new Uint32Array(2 * this.count);
    const [positions, all] = [this.#free, this.count];
    let count = 0;
    for (let i = 0; i < all; i++) {
      if ((isOpen && plain[i] === 1) || this.#isFree(i, filter, synced)) positions[count++] = i;
    }
    // A lease that it still has has ended.
    const coinAt = (i: number): WalletCoin => ({ ...this.coinAt(positions[i]), lease: null });
    const find = (outpoint: Outpoint): WalletCoin | undefined => {
      for (let i = 0; i < count; i++) if (this.#records.compareOutpointAt(this.#places[positions[i]], outpoint) === 0) return coinAt(i);
      return undefined;
    };
    const each = function* (): Generator<WalletCoin> {
      for (let i = 0; i < count; i++) yield coinAt(i);
    };
    return { count, columns, positions: positions.subarray(0, count), coinAt, find, [Symbol.iterator]: each };
  }

  /** After the coins of these keys became others: `now` has those of them that there still are, and new ones, in their order. */
  change(keys: readonly CoinPlace[], now: readonly WalletCoin[]): void {
    const present = new Set(now.map(({ outpoint }) => outpointText(outpoint)));
    const gone = keys.filter(({ outpoint }) => !present.has(outpointText(outpoint))).map((key) => this.#find(key));
    const edits: CoinEdit[] = gone.flatMap(({ at, isThere }) => (isThere ? [{ at, coin: null, replaces: true }] : []));
    for (const coin of now) {
      const { at, isThere } = this.#find(coin);
      edits.push({ at, coin, replaces: isThere });
    }
    // Stable: of several that come before the same coin the order stays, and a coin that is there comes behind them.
    this.#edit(edits.sort((a, b) => a.at - b.at || Number(a.replaces) - Number(b.replaces)));
  }

  /** Coins that come behind all others, in their order. */
  append(coins: readonly WalletCoin[]): void {
    const at = this.count;
    this.#edit(coins.map((coin) => ({ at, coin, replaces: false })));
  }

  /** Without coins of these transactions, whose ids are in hex. */
  removeTxs(txIds: ReadonlySet<string>): void {
    if (txIds.size === 0) return;
    const edits: CoinEdit[] = [];
    for (let at = 0; at < this.count; at++)
      if (txIds.has(toHex(this.#records.txIdAt(this.#places[at])))) edits.push({ at, coin: null, replaces: true });
    this.#edit(edits);
  }

  #isFree(i: number, filter: CoinFilter, synced: number | null): boolean {
    const { isCoinbase, isEvicted, lease } = this.#records.stateAt(this.#places[i]);
    if (isEvicted || (lease !== null && isActive(lease, filter.now))) return false;
    return isFilteredCoin({ account: this.#columns.ownerAt(i).account, height: this.#columns.heightAt(i), isCoinbase }, filter, synced);
  }

  /** Where the coin of that key is, or would be. */
  #find(key: CoinPlace): { readonly at: number; readonly isThere: boolean } {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#records.compareAt(this.#places[middle], key) < 0) low = middle + 1;
      else high = middle;
    }
    return { at: low, isThere: low < this.count && this.#records.compareAt(this.#places[low], key) === 0 };
  }

  /** Edits come in the order of their positions. Where coins only take the places of others, nothing is copied. */
  #edit(edits: readonly CoinEdit[]): void {
    const removed = edits.filter(({ coin }) => coin === null).length;
    const added = edits.filter(({ replaces }) => !replaces).length;
    const isInPlace = removed === 0 && added === 0;
    const count = this.count + added - removed;
    const columns = isInPlace ? this.#columns : new CoinColumns(count, this.#columns.owners);
    const places = isInPlace ? this.#places : new Uint32Array(count);
    let [next, filled] = [0, 0];
    const keepUpTo = (end: number): void => {
      if (!isInPlace) {
        columns.copy(filled, this.#columns, next, end);
        places.set(this.#places.subarray(next, end), filled);
      }
      filled += end - next;
      next = end;
    };
    for (const { at, coin, replaces } of edits) {
      keepUpTo(at);
      if (replaces) this.#records.remove(this.#places[next++]);
      if (coin === null) continue;
      columns.set(filled, coin);
      places[filled] = this.#records.add(coin, columns.ownerIndexes[filled]);
      filled++;
    }
    keepUpTo(this.count);
    this.#columns = columns;
    this.#places = places;
    if (this.#records.isSparse) this.#compact();
  }

  #compact(): void {
    const records = new CoinRecords();
    for (let i = 0; i < this.count; i++) this.#places[i] = this.#records.copyTo(records, this.#places[i]);
    this.#records = records;
  }
}

/** At a position of the list: a coin that is new there or takes the place of the one there, or, null, that one goes. */
interface CoinEdit {
  readonly at: number;
  readonly coin: WalletCoin | null;
  readonly replaces: boolean;
}
