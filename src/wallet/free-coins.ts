/** The coins that a selection chooses among: none of them is leased or evicted. */
import type { Outpoint } from '../ledgers/outpoint.ts';
import { CoinColumns } from './coin-columns.ts';
import type { WalletCoin } from './records.ts';
import { compareOutpoints } from './rules/leases.ts';

/** In their order, and only while it is chosen: afterwards they may be others. A coin is made when somebody asks for it. */
export interface FreeCoins extends Iterable<WalletCoin> {
  readonly count: number;
  /** Of these coins and of others: the coin `i` is the one at `positions[i]`. */
  readonly columns: CoinColumns;
  readonly positions: Uint32Array;
  coinAt(i: number): WalletCoin;
  /** Undefined: it is none of them. */
  find(outpoint: Outpoint): WalletCoin | undefined;
}

/** Coins that are objects already. */
export function freeCoinsOf(coins: readonly WalletCoin[]): FreeCoins {
  return {
    count: coins.length,
    columns: CoinColumns.of(coins),
    positions: Uint32Array.from(coins.keys()),
    coinAt: (i) => coins[i],
    find: (outpoint) => coins.find((coin) => compareOutpoints(coin.outpoint, outpoint) === 0),
    [Symbol.iterator]: () => coins[Symbol.iterator](),
  };
}
