/**
 * What a transaction may cost at most. A slip of the keyboard in a fee rate, or a
 * partially signed transaction that somebody altered, would otherwise give coins
 * to a miner. The bounds are settings, and one payment may be allowed more.
 */
import { UnspentError } from '../../../util/errors.ts';
import type { WalletContext } from './wallet-context.ts';

export interface FeeBounds {
  /** Satoshi for one transaction. */
  readonly feeMax: bigint;
  /** In sat/kvB. */
  readonly feeRateMax: number;
}

/** What the caller of one payment allows; undefined: what the context does. */
export type FeeAllowance = { readonly [K in keyof FeeBounds]?: FeeBounds[K] | undefined };

/** Before coins are chosen. Throws FEE_TOO_HIGH. */
export function checkFeeRate({ feeBounds }: WalletContext, rate: number, { feeRateMax = feeBounds.feeRateMax }: FeeAllowance): void {
  if (rate > feeRateMax) throw tooHigh(`${rate / 1000} sat/vB`, `${feeRateMax / 1000} sat/vB`, { feeRate: rate, feeRateMax });
}

/** Throws FEE_TOO_HIGH. */
export function checkFee({ feeBounds }: WalletContext, fee: bigint, { feeMax = feeBounds.feeMax }: FeeAllowance): void {
  if (fee > feeMax) throw tooHigh(`${fee} satoshi`, `${feeMax} satoshi`, { fee: `${fee}`, feeMax: `${feeMax}` });
}

function tooHigh(wanted: string, allowed: string, meta: Record<string, unknown>): UnspentError {
  return new UnspentError('FEE_TOO_HIGH', `the transaction would pay a fee of ${wanted}, and ${allowed} are allowed`, meta);
}
