/**
 * From chosen coins to the transaction's amounts: the fee of its exact size, the
 * change, and what is subtracted from outputs. Searches count with sizes that
 * are rounded up coin by coin; what that leaves over goes to change.
 */
import { assert } from '../../../util/errors.ts';
import { type RandomBits, randomBelow, shuffle } from '../random.ts';
import { bumpDiscountOf, type SearchTerms } from './attempt.ts';
import type { Algorithm, Coin, PaymentOutput, Selection } from './coin.ts';
import { feeOf, vsizeOf } from './fee-rate.ts';
import { costsOf } from './groups.ts';
import { weightWithoutInputs } from './output-size.ts';
import { type CheckedRequest, checkOutput } from './terms.ts';
import { changeOf, type SelectedAmounts, wasteOf } from './waste.ts';

/**
 * Null: with so many inputs the count of inputs takes more bytes than `terms`
 * allow for. Throws OUTPUT_DUST when an output cannot bear the fee.
 */
export function settle(
  algorithm: Algorithm,
  coins: readonly Coin[],
  checked: CheckedRequest,
  terms: SearchTerms,
  random: RandomBits,
): Selection | null {
  const { request, policy, paid, subtractFee } = checked;
  const selected = amountsOf(coins, checked, terms);
  const hasChange = changeOf(selected, terms.target, terms.change) > 0;
  assert(hasChange || !terms.changeNeeded, 'a transaction has an output');
  const scripts = hasChange ? [...request.outputs, request.change] : request.outputs;
  const weight = weightWithoutInputs(scripts, coins.length) + coins.reduce((sum, coin) => sum + coin.weight, 0);
  const vsize = vsizeOf(weight);
  const bumpFees = coins.reduce((sum, { bumpFee }) => sum + bumpFee, 0n) - BigInt(selected.bumpDiscount);
  const needed = BigInt(feeOf(request.rates.target, vsize)) + bumpFees + (request.fixedFee ?? 0n);
  const spare = coins.reduce((sum, { value }) => sum + value, 0n) - paid;
  const change = hasChange ? spare - (subtractFee ? 0n : needed) : 0n;
  const subtracted = subtractFee ? (hasChange ? needed : max(needed - spare, 0n)) : 0n;
  const fee = spare - change + subtracted;
  if (fee < needed || weight > policy.weightMax || (hasChange && change < BigInt(terms.change.minViable))) return null;
  const inputs = coins.slice();
  shuffle(random, inputs);
  return {
    algorithm,
    inputs,
    outputs: subtractFee ? subtractFrom(request.outputs, subtracted, request.rates.dustRelay) : request.outputs,
    change,
    changeIndex: hasChange ? (request.changeIndex ?? randomBelow(random, request.outputs.length + 1)) : null,
    fee,
    weight,
    vsize,
    waste: BigInt(wasteOf(selected, terms.target, terms.change)),
  };
}

function amountsOf(coins: readonly Coin[], { request, subtractFee }: CheckedRequest, terms: SearchTerms): SelectedAmounts {
  let [amount, waste] = [0, 0];
  for (const coin of coins) {
    const { value, fee, longTermFee } = costsOf(coin, request.rates);
    amount += subtractFee ? value : value - fee;
    waste += fee - longTermFee;
  }
  return { amount, waste, bumpDiscount: bumpDiscountOf(coins, terms.combinedBumpFee) };
}

/** In equal parts; the first one bears what does not divide. */
function subtractFrom(outputs: readonly PaymentOutput[], fee: bigint, dustRelayRate: number): readonly PaymentOutput[] {
  const bearers = BigInt(outputs.filter(({ subtractFee }) => subtractFee === true).length);
  let odd = fee % bearers;
  return outputs.map((output, i) => {
    if (output.subtractFee !== true) return output;
    const value = output.value - fee / bearers - odd;
    odd = 0n;
    checkOutput(output, value, i, dustRelayRate);
    return { ...output, value };
  });
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
