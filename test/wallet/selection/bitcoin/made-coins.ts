/**
 * Coins and candidates for the tests of coin selection: as the searches see them
 * (amount, weight, waste), and as a wallet lists them.
 */
import { type Candidates, positiveOnly, type SearchResult, sortCandidates } from '../../../../src/wallet/selection/bitcoin/candidates.ts';
import type { Coin, SelectionRequest } from '../../../../src/wallet/selection/bitcoin/coin.ts';
import { DEFAULT_RATES, type FeeRates, feeOf, vsizeOf } from '../../../../src/wallet/selection/bitcoin/fee-rate.ts';
import { inputWeight } from '../../../../src/wallet/selection/bitcoin/input-weight.ts';

export const BTC = 100_000_000;
export const CENT = 1_000_000;
export const WPKH_WEIGHT = inputWeight({ kind: 'p2wpkh' });

/** A script of 22 bytes: P2WPKH. */
export const WPKH_SCRIPT = Uint8Array.from([0x00, 0x14, ...new Uint8Array(20).fill(7)]);
export const CHANGE = { script: Uint8Array.from([0x00, 0x14, ...new Uint8Array(20).fill(9)]), spendWeight: WPKH_WEIGHT };

export interface MadeCandidate {
  readonly amount: number;
  readonly weight?: number;
  readonly waste?: number;
}

export function candidatesOf(list: readonly MadeCandidate[]): Candidates {
  return sortCandidates({
    amounts: Float64Array.from(list, ({ amount }) => amount),
    weights: Float64Array.from(list, ({ weight = WPKH_WEIGHT }) => weight),
    wastes: Float64Array.from(list, ({ waste = 0 }) => waste),
  });
}

/** Coins with these effective values at a rate, as candidates of which spending brings something. */
export function candidatesAt(
  rates: Pick<FeeRates, 'target' | 'longTerm'>,
  amounts: readonly number[],
  vsize = 68,
): readonly MadeCandidate[] {
  const waste = feeOf(rates.target, vsize) - feeOf(rates.longTerm, vsize);
  return amounts.map((amount) => ({ amount, weight: 4 * vsize, waste }));
}

export const positive = (list: readonly MadeCandidate[]): Candidates => positiveOnly(candidatesOf(list));

/** The amounts that a search selected, the largest first; null: nothing. */
export function amountsOf({ amounts }: Candidates, { positions }: SearchResult): readonly number[] | null {
  return positions === null ? null : positions.map((position) => amounts[position]).sort((a, b) => b - a);
}

let made = 0;

/** A confirmed coin of P2WPKH that somebody else sent, unless said otherwise. */
export function coinOf(value: number, other: Partial<Coin> = {}): Coin {
  made++;
  const txId = new Uint8Array(32);
  new DataView(txId.buffer).setUint32(0, made);
  return {
    txId,
    index: 0,
    value: BigInt(Math.round(value)),
    weight: WPKH_WEIGHT,
    type: 'p2wpkh',
    script: `script ${made}`,
    confirmations: 100,
    own: false,
    ancestors: 0,
    descendants: 0,
    bumpFee: 0n,
    ...other,
  };
}

/** A coin with that effective value at a rate. */
export function effectiveCoin(amount: number, rate: number, other: Partial<Coin> = {}): Coin {
  return coinOf(amount + feeOf(rate, vsizeOf(other.weight ?? WPKH_WEIGHT)), other);
}

/** A payment of one output at a rate. */
export function paymentOf(value: number, rate: number, other: Partial<SelectionRequest> = {}): SelectionRequest {
  return {
    outputs: [{ value: BigInt(Math.round(value)), script: WPKH_SCRIPT }],
    change: CHANGE,
    rates: { ...DEFAULT_RATES, target: rate },
    ...other,
  };
}

/** Bytes of a transaction with one output of P2WPKH and no inputs. */
export const BASE_VSIZE = 4 + 4 + 1 + 1 + 1 + 31;
export const OUTPUT_VSIZE = 31;
