/**
 * The waste of a selection: what its inputs cost now more than they would some
 * other day, and what it gives away, which is the cost of change or, without
 * change, what the miner gets too much. Less is better; it may be negative.
 */
import type { ChangeTerms } from './change.ts';

/** A selection, as sums over its coins. Satoshi. */
export interface SelectedAmounts {
  /** Effective values, or values when receivers pay the fee. */
  readonly amount: number;
  /** Fees now less fees some other day. */
  readonly waste: number;
  /** What the coins' ancestors take less together than one by one. */
  readonly bumpDiscount: number;
}

/** What is to be paid, with the fee of all but inputs and change. */
export interface PaymentTarget {
  readonly amount: number;
  /** Receivers pay the fee, so none is in the amounts. */
  readonly subtractFee: boolean;
}

type ChangeLimits = Pick<ChangeTerms, 'fee' | 'cost' | 'minViable'>;

/** The change of a selection; 0: none is made. */
export function changeOf({ amount, bumpDiscount }: SelectedAmounts, target: PaymentTarget, change: ChangeLimits): number {
  const left = target.subtractFee ? amount - target.amount : amount + bumpDiscount - target.amount - change.fee;
  return left < change.minViable ? 0 : left;
}

export function wasteOf(selected: SelectedAmounts, target: PaymentTarget, change: ChangeLimits): number {
  const { amount, waste, bumpDiscount } = selected;
  const excess = amount + (target.subtractFee ? 0 : bumpDiscount) - target.amount;
  return waste - bumpDiscount + (changeOf(selected, target, change) > 0 ? change.cost : excess);
}
