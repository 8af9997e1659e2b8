/**
 * From a request to the terms of its searches: checks what is asked for, and
 * works out what inputs have to bring, the cost of change and the limits.
 */

import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { RandomBits } from '../random.ts';
import type { SearchTerms } from './attempt.ts';
import { type ChangeTerms, changeTerms } from './change.ts';
import { type Coin, DEFAULT_POLICY, type PaymentOutput, type SelectionPolicy, type SelectionRequest } from './coin.ts';
import { checkRates, feeOf, vsizeOf } from './fee-rate.ts';
import { dustThreshold, weightWithoutInputs } from './output-size.ts';

/** Fees above this many times the long-term rate make weight the measure of all. */
const GRIND_FACTOR = 3;

/** A request that was checked, with all that follows from it before coins are looked at. */
export interface CheckedRequest {
  readonly request: SelectionRequest;
  readonly policy: SelectionPolicy;
  readonly preset: readonly Coin[];
  readonly paid: bigint;
  readonly subtractFee: boolean;
  readonly change: ChangeTerms;
}

/** Throws USAGE, or OUTPUT_DUST when an output to be paid is dust. */
export function checkRequest(request: SelectionRequest, random: RandomBits): CheckedRequest {
  const { outputs, rates, preset = [], fixedFee = 0n } = request;
  checkRates(rates);
  if (fixedFee < 0n) throw new UnspentError('USAGE', `a fixed fee of ${fixedFee} satoshi`);
  const { changeIndex = 0, policy } = request;
  if (!Number.isInteger(changeIndex) || changeIndex < 0 || changeIndex > outputs.length)
    throw new UnspentError('USAGE', `change at place ${changeIndex} among ${outputs.length} other outputs`);
  if (policy?.order === 'branch-and-bound' && (outputs.length === 0 || outputs.some(({ subtractFee }) => subtractFee === true)))
    throw new UnspentError('USAGE', 'branch and bound looks for coins that pay without change, so receivers cannot bear the fee');
  for (const [i, output] of outputs.entries()) checkOutput(output, output.value, i, rates.dustRelay);
  for (const [i, coin] of preset.entries()) {
    if (preset.slice(0, i).some((other) => isSameCoin(coin, other))) throw new UnspentError('USAGE', 'a preset coin is named twice');
  }
  const paid = outputs.reduce((sum, { value }) => sum + value, 0n);
  const mean = outputs.length === 0 ? 0n : paid / BigInt(outputs.length);
  return {
    request,
    policy: { ...DEFAULT_POLICY, ...request.policy },
    preset,
    paid,
    subtractFee: outputs.some(({ subtractFee }) => subtractFee === true),
    change: changeTerms(request.change, rates, mean, random),
  };
}

/** Throws OUTPUT_DUST when nodes would not relay the output with that value. */
export function checkOutput({ script, value }: PaymentOutput, left: bigint, index: number, dustRelayRate: number): void {
  const least = dustThreshold(script, dustRelayRate);
  if (left >= BigInt(least) && left >= 0n) return;
  const message =
    left === value
      ? `output ${index} pays ${value} satoshi, and nodes relay no less than ${least}`
      : `output ${index} pays ${value} satoshi, and ${left} are left of it when the fee is subtracted; nodes relay no less than ${least}`;
  throw new UnspentError('OUTPUT_DUST', message, { index, value, left, least });
}

/** The terms for a transaction of at most so many inputs, without what preset coins bring and weigh. */
export function searchTerms(checked: CheckedRequest, inputCount: number): SearchTerms {
  const { request, policy, paid, subtractFee, change } = checked;
  const { outputs, rates, fixedFee = 0n } = request;
  // With change, there is one more output to count.
  const weight = weightWithoutInputs([...outputs, request.change], inputCount) - change.weight;
  const fee = subtractFee ? 0 : feeOf(rates.target, vsizeOf(weight)) + Number(fixedFee);
  return {
    target: { amount: Number(paid) + fee, subtractFee },
    change,
    changeNeeded: outputs.length === 0,
    weightMax: policy.weightMax - weight,
    order: policy.order,
    grind: rates.target > GRIND_FACTOR * rates.longTerm,
    combinedBumpFee: request.combinedBumpFee,
  };
}

export function isSameCoin(a: Coin, b: Coin): boolean {
  return a.index === b.index && equalBytes(a.txId, b.txId);
}
