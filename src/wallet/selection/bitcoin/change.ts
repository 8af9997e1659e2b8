/**
 * What change costs and how large it should be. An output of change costs its
 * own bytes now and an input some other day; below `minViable` it is not worth
 * that, and what is left over goes to the miner.
 */
import { CHANGE_SAT_MAX, CHANGE_SAT_MIN } from '../../../util/limits.ts';
import { type RandomBits, randomBelow } from '../random.ts';
import type { ChangeOutput } from './coin.ts';
import { type FeeRates, feeOf, vsizeOf } from './fee-rate.ts';
import { dustThreshold, outputBytes } from './output-size.ts';

/** Satoshi, but for the weight. */
export interface ChangeTerms {
  /** Of the output, at the target rate. */
  readonly fee: number;
  /** That, and of the input that will spend it, at the discard rate. */
  readonly cost: number;
  /** The least change that is made. */
  readonly minViable: number;
  /** What searches that make change aim at, the fee of its output included. */
  readonly target: number;
  readonly weight: number;
}

/** `payment`: the mean value of an output that is paid. */
export function changeTerms({ script, spendWeight }: ChangeOutput, rates: FeeRates, payment: bigint, random: RandomBits): ChangeTerms {
  const bytes = outputBytes(script);
  const fee = feeOf(rates.target, bytes);
  const spendFee = feeOf(rates.discard, vsizeOf(spendWeight));
  const dust = Math.max(dustThreshold(script, rates.dustRelay), dustThreshold(script, rates.discard));
  return {
    fee,
    cost: spendFee + fee,
    minViable: Math.max(spendFee + 1, dust),
    target: fee + aimedChange(payment, random),
    weight: 4 * bytes,
  };
}

/** Between 50,000 and twice the payment, so that change does not stand out by its size; of small payments 50,000. */
function aimedChange(payment: bigint, random: RandomBits): number {
  const upper = Math.min(Number(2n * payment), CHANGE_SAT_MAX);
  return upper <= CHANGE_SAT_MIN ? CHANGE_SAT_MIN : CHANGE_SAT_MIN + randomBelow(random, upper - CHANGE_SAT_MIN);
}
