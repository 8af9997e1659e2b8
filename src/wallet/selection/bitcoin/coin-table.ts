/**
 * Coins as selection goes through them: one column of plain numbers for each
 * property that a search or a round of eligibility looks at. A wallet may have
 * 100,000 coins, of which a payment spends a few, so that a `Coin` is only made of
 * those that somebody asks for, and the columns may be those of the wallet itself,
 * where they have coins that are not to be chosen from, too. The numbers are
 * exact (candidates.ts).
 */
import { UNMINED } from '../../coin-columns.ts';
import type { Coin } from './coin.ts';

/** What coins have in common that are spent in the same way. */
export interface SpendForm {
  /** The kind of output. */
  readonly type: string;
  /** Of the input. */
  readonly weight: number;
}

/** Of a coin whose transaction is in no block. */
export type CoinAncestry = Pick<Coin, 'ancestors' | 'descendants' | 'bumpFee'>;

export interface CoinTable {
  /** Coins to choose from. */
  readonly count: number;
  /** Where each of them is in the columns. */
  readonly places: Uint32Array;
  /** For each place an index into `forms`. */
  readonly formIndexes: Uint32Array;
  readonly forms: readonly SpendForm[];
  readonly values: Float64Array;
  /** Of the block; UNMINED without one. */
  readonly heights: Float64Array;
  /** The height at which a block has one confirmation. */
  readonly tip: number;
  /** 1: the wallet itself made the transaction. */
  readonly owns: Uint8Array;
  /** By place, of unmined coins. */
  readonly ancestries: ReadonlyMap<number, CoinAncestry>;
  /** The coin `i` of those to choose from. */
  coinAt(i: number): Coin;
}

/** Above every number of confirmations, so that heights are not below 0. */
const TIP = 2 ** 32;

export function tableOf(coins: readonly Coin[]): CoinTable {
  const forms: SpendForm[] = [];
  const known = new Map<string, number>();
  const formIndex = ({ type, weight }: Coin): number => {
    const name = `${weight} ${type}`;
    const index = known.get(name) ?? forms.push({ type, weight }) - 1;
    known.set(name, index);
    return index;
  };
  return {
    count: coins.length,
    places: Uint32Array.from(coins.keys()),
    formIndexes: Uint32Array.from(coins, formIndex),
    forms,
    values: Float64Array.from(coins, ({ value }) => Number(value)),
    heights: Float64Array.from(coins, ({ confirmations }) => (confirmations === 0 ? UNMINED : TIP - confirmations + 1)),
    tip: TIP,
    owns: Uint8Array.from(coins, ({ own }) => (own ? 1 : 0)),
    ancestries: new Map([...coins.entries()].filter(([, { confirmations }]) => confirmations === 0)),
    coinAt: (i) => coins[i],
  };
}

export function confirmationsAt({ heights, places, tip }: CoinTable, i: number): number {
  const height = heights[places[i]];
  return height === UNMINED ? 0 : tip - height + 1;
}
