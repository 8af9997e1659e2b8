/**
 * Coins as groups that are spent together: each coin alone (single-coins.ts), or,
 * when partial spends are avoided, all coins of a script (script-groups.ts).
 */
import type { UnsortedCandidates } from './candidates.ts';
import type { Coin } from './coin.ts';
import type { EligibilityRound } from './eligibility.ts';
import { type FeeRates, feeOf, vsizeOf } from './fee-rate.ts';

export interface CoinGroups {
  readonly count: number;
  /** The kinds of output that coins are of. */
  readonly types: readonly string[];
  coinsOf(i: number): readonly Coin[];
  /** The fewest of its coins. */
  confirmationsOf(i: number): number;
  /** The groups that are eligible in a round, by the kind of their output in the order of `types`. */
  eligible(round: EligibilityRound): readonly Uint32Array[];
  isEligible(i: number, round: EligibilityRound): boolean;
  /** What a search sees of these groups. With `byValue` amounts are values, else effective values. */
  candidates(groups: Uint32Array, byValue: boolean): UnsortedCandidates;
}

/** What a coin brings and costs, in satoshi. */
export interface CoinCosts {
  readonly value: number;
  /** At the target rate, with what lifts its ancestors to that rate. */
  readonly fee: number;
  readonly longTermFee: number;
}

export function costsOf({ value, weight, bumpFee }: Coin, rates: FeeRates): CoinCosts {
  const { fee, longTermFee } = feesOf(weight, rates);
  return { value: Number(value), fee: fee + Number(bumpFee), longTermFee };
}

/** Of an input of that weight, without what its ancestors owe. */
export function feesOf(weight: number, rates: FeeRates): Pick<CoinCosts, 'fee' | 'longTermFee'> {
  const vsize = vsizeOf(weight);
  return { fee: feeOf(rates.target, vsize), longTermFee: feeOf(rates.longTerm, vsize) };
}
