/**
 * Which coins a transaction may spend and how they are chosen, as whoever pays
 * says it: of payments and of fee bumps. What is not said is the policy of the
 * selection.
 */
import { type Outpoint, outpointText } from '../../../ledgers/outpoint.ts';
import { UNMINED } from '../../coin-columns.ts';
import type { FreeCoins } from '../../free-coins.ts';
import type { SelectionPolicy } from '../../selection/bitcoin/coin.ts';

export interface CoinChoice {
  readonly policy?: Partial<SelectionPolicy> | undefined;
  /** None of these, which need not be coins. */
  readonly exclude?: readonly Outpoint[] | undefined;
  /** Only coins with so many confirmations, at least and at most. */
  readonly minConfs?: number | undefined;
  readonly maxConfs?: number | undefined;
  /** Where change is put among the outputs; default: at random. */
  readonly changeIndex?: number | undefined;
  /** In sat/kvB: at which coins are expected to be spent some other day, and at which change has to be worth spending. */
  readonly longTermRate?: number | undefined;
  readonly discardRate?: number | undefined;
}

/** Says of coins of one selection whether they may be spent. */
export class CoinLimits {
  readonly #excluded: ReadonlySet<string>;
  /** Of those that are excluded: of any other coin the outpoint need not be made. */
  readonly #amounts: ReadonlySet<number>;
  readonly #heightMin: number;
  readonly #heightMax: number;
  readonly #isUnminedMeant: boolean;

  /** `tip`: height of the block that the wallet is at. */
  constructor({ exclude = [], minConfs = 0, maxConfs = Number.POSITIVE_INFINITY }: CoinChoice, tip: number, free: FreeCoins) {
    const coins = exclude.flatMap((outpoint) => free.find(outpoint) ?? []);
    this.#excluded = new Set(coins.map(({ outpoint }) => outpointText(outpoint)));
    this.#amounts = new Set(coins.map(({ amount }) => Number(amount)));
    this.#heightMin = tip + 1 - maxConfs;
    this.#heightMax = Math.min(tip, tip + 1 - minConfs);
    this.#isUnminedMeant = minConfs <= 0;
  }

  /** `outpoint` is asked for only where it may decide. */
  allows(height: number, amount: number, outpoint: () => Outpoint): boolean {
    const isMeant = height === UNMINED ? this.#isUnminedMeant : height >= this.#heightMin && height <= this.#heightMax;
    return isMeant && !(this.#amounts.has(amount) && this.#excluded.has(outpointText(outpoint())));
  }
}
