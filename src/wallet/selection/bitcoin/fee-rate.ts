/**
 * Fee rates are whole numbers of satoshi for 1,000 virtual bytes (sat/kvB), the
 * unit in which nodes compute: 1 sat/vB is 1000. A whole number needs no
 * rounding rule of its own, and with its limit its product with the size of any
 * standard transaction is exact.
 */
import { UnspentError } from '../../../util/errors.ts';
import { FEE_RATE_MAX } from '../../../util/limits.ts';

/** The fee rates that a selection is made by, in sat/kvB. */
export interface FeeRates {
  /** What the transaction pays. */
  readonly target: number;
  /** What spending is expected to cost some other day: below it inputs are added gladly, above it they are avoided. */
  readonly longTerm: number;
  /** What spending change is counted with when it is weighed against giving it to the miner. */
  readonly discard: number;
  /** By which nodes decide that an output is dust. */
  readonly dustRelay: number;
}

const WEIGHT_PER_VBYTE = 4;
const VBYTES_PER_RATE = 1000;

/** What wallets of Bitcoin Core take where their user says nothing. */
export const DEFAULT_RATES: Omit<FeeRates, 'target'> = { longTerm: 10_000, discard: 10_000, dustRelay: 3000 };

/** The rates, if each is one. Throws USAGE. */
export function checkRates(rates: FeeRates): FeeRates {
  for (const [name, rate] of Object.entries(rates)) {
    if (!Number.isInteger(rate) || rate < 0 || rate > FEE_RATE_MAX) {
      throw new UnspentError('USAGE', `the fee rate '${name}' is a whole number of sat/kvB from 0 to ${FEE_RATE_MAX}, not ${rate}`);
    }
  }
  return rates;
}

/** Virtual bytes, rounded up. */
export function vsizeOf(weight: number): number {
  return Math.ceil(weight / WEIGHT_PER_VBYTE);
}

/** The fee of so many virtual bytes, rounded up. */
export function feeOf(rate: number, vsize: number): number {
  return Math.ceil((rate * vsize) / VBYTES_PER_RATE);
}
