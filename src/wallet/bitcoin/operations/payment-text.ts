/**
 * A payment as people and programs say it, with addresses and names of coins as
 * text, and rates in sat/vB. Commands, REST and the library read it here.
 */
import { type BitcoinNetwork, parseAddress, parseId } from '../../../ledgers/bitcoin/index.ts';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { leaseMs } from '../../lease-time.ts';
import type { SelectionOrder } from '../../selection/bitcoin/coin.ts';
import type { FeeAllowance } from './fee-guard.ts';
import type { PaymentRequest } from './payment.ts';

/** What may be said of any transaction that is made. */
export interface FeeText {
  /** In sat/vB, with up to three decimals. */
  readonly feeRate: number;
  /** Coins are leased for so many minutes. Default: 60. */
  readonly minutes?: number | undefined;
  /** Satoshi that the transaction may cost at most. Default: `wallet.feeMax`. */
  readonly feeMax?: bigint | undefined;
  /** The highest rate that may be asked for, in sat/vB. Default: `wallet.feeRateMax`. */
  readonly feeRateMax?: number | undefined;
}

/** A payment. */
export interface PaymentText extends FeeText {
  /** Who is paid, and how many satoshi. */
  readonly to: readonly { readonly address: string; readonly amount: bigint }[];
  /** Receivers bear the fee. */
  readonly subtractFee?: boolean | undefined;
  /** Only coins of this account are spent, and change goes to it. Default: all, and the first. */
  readonly account?: string | undefined;
  /** `txid#index`: these coins and no others. */
  readonly coins?: readonly string[] | undefined;
  /** Default: the choice with the least waste. */
  readonly order?: SelectionOrder | undefined;
  /** Unconfirmed coins that others have sent may be spent. */
  readonly unsafe?: boolean | undefined;
}

/** Throws USAGE for an address or an outpoint that is none. */
export function readPayment(network: BitcoinNetwork, text: PaymentText): PaymentRequest {
  const { to, subtractFee, account, coins, order, unsafe } = text;
  return {
    outputs: to.map(({ address, amount }) => ({
      script: parseAddress(network, address),
      value: amount,
      ...(subtractFee === true ? { subtractFee } : {}),
    })),
    account,
    coins: coins?.map((each) => parseOutpoint(each, parseId)),
    order,
    spendUnsafe: unsafe,
    ...readFee(text),
  };
}

export function readFee({ feeRate, minutes, feeMax, feeRateMax }: FeeText): FeeAllowance & Pick<PaymentRequest, 'rate' | 'leaseMs'> {
  return {
    rate: toKvB(feeRate),
    leaseMs: leaseMs(minutes),
    feeMax,
    feeRateMax: feeRateMax === undefined ? undefined : toKvB(feeRateMax),
  };
}

/** From sat/vB to sat/kvB. */
export function toKvB(rate: number): number {
  return Math.round(1000 * rate);
}
