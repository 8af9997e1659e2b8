/**
 * Coins as selection goes through them: one column of plain numbers for each
 * property that a search or a round of eligibility looks at. A wallet may have
 * 100,000 coins, of which a payment spends a few, so that a `Coin` is only made of
 * those that somebody asks for. The numbers are exact (candidates.ts).
 */
import type { Coin } from './coin.ts';

export interface CoinTable {
  /** Columns may be longer. */
  readonly count: number;
  /** The kinds of output that coins are of. */
  readonly types: readonly string[];
  /** For each coin its kind: an index into `types`. */
  readonly kinds: Uint16Array;
  readonly values: Float64Array;
  readonly weights: Float64Array;
  readonly bumpFees: Float64Array;
  readonly confirmations: Float64Array;
  /** 1: the wallet itself made the transaction. */
  readonly owns: Uint8Array;
  readonly ancestors: Float64Array;
  readonly descendants: Float64Array;
  coinAt(position: number): Coin;
}

/** A table to be filled in, with room for so many coins. */
export function emptyTable(count: number, types: readonly string[], coinAt: (position: number) => Coin): CoinTable {
  const column = (): Float64Array => new Float64Array(count);
  return {
    count,
    types,
    kinds: new Uint16Array(count),
    values: column(),
    weights: column(),
    bumpFees: column(),
    confirmations: column(),
    owns: new Uint8Array(count),
    ancestors: column(),
    descendants: column(),
    coinAt,
  };
}

export function tableOf(coins: readonly Coin[]): CoinTable {
  const types = [...new Set(coins.map(({ type }) => type))];
  const table = emptyTable(coins.length, types, (position) => coins[position]);
  for (const [i, coin] of coins.entries()) {
    table.kinds[i] = types.indexOf(coin.type);
    table.values[i] = Number(coin.value);
    table.weights[i] = coin.weight;
    table.bumpFees[i] = Number(coin.bumpFee);
    table.confirmations[i] = coin.confirmations;
    table.owns[i] = coin.own ? 1 : 0;
    table.ancestors[i] = coin.ancestors;
    table.descendants[i] = coin.descendants;
  }
  return table;
}
