/**
 * A payment as people and programs say it, with addresses and names of coins as
 * text, and rates in sat/vB. Commands, REST and the library read it here.
 */
import { type BitcoinNetwork, parseAddress, parseId } from '../../../ledgers/bitcoin/index.ts';
import { type Outpoint, parseOutpoint } from '../../../ledgers/outpoint.ts';
import { UnspentError } from '../../../util/errors.ts';
import { leaseMs } from '../../lease-time.ts';
import type { SelectionOrder } from '../../selection/bitcoin/coin.ts';
import type { CoinChoice } from './coin-choice.ts';
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

/** How coins are chosen: of payments and of fee bumps. */
export interface CoinChoiceText {
  /** Default: the choice with the least waste; else one search alone. */
  readonly order?: SelectionOrder | undefined;
  /** `txid#index`: none of these. */
  readonly exclude?: readonly string[] | undefined;
  /** Only coins with so many confirmations at least. */
  readonly minConfs?: number | undefined;
  /** Only coins with so many confirmations at most. */
  readonly maxConfs?: number | undefined;
  /** Coins of one address are spent all or none, up to 100 of them. Default false. */
  readonly avoidPartialSpends?: boolean | undefined;
  /** Weight units that the transaction may have. Default 400,000. */
  readonly weightMax?: number | undefined;
  /** Where change is put among the outputs, from 0. Default: at random. */
  readonly changePosition?: number | undefined;
  /** In sat/vB: at which coins are expected to be spent some other day. Default 10. */
  readonly longTermFeeRate?: number | undefined;
  /** In sat/vB: change that is not worth spending at it is not made. Default 10. */
  readonly discardFeeRate?: number | undefined;
}

/** A payment. */
export interface PaymentText extends FeeText, CoinChoiceText {
  /** Who is paid, and how many satoshi; `subtractFee`: this one bears the fee, in equal parts with others that do. */
  readonly to: readonly { readonly address: string; readonly amount: bigint; readonly subtractFee?: boolean | undefined }[];
  /** All receivers bear the fee. */
  readonly subtractFee?: boolean | undefined;
  /** Only coins of this account are spent, and change goes to it. Default: all, and the first. */
  readonly account?: string | undefined;
  /** `txid#index`: these coins and no others. */
  readonly coins?: readonly string[] | undefined;
  /** `txid#index`: these coins, and others as needed. */
  readonly include?: readonly string[] | undefined;
  /** Unconfirmed coins that others have sent may be spent. Default false. */
  readonly unsafe?: boolean | undefined;
  /** Unconfirmed change of the wallet itself may be spent. Default true. */
  readonly unconfirmedChange?: boolean | undefined;
  /** So may coins whose chain of unconfirmed transactions is as long as nodes relay. Default false. */
  readonly longChains?: boolean | undefined;
  /** Change goes to this account. Default: to `account`. */
  readonly changeAccount?: string | undefined;
  /** Change goes to this address. */
  readonly changeAddress?: string | undefined;
}

/** Throws USAGE for an address or an outpoint that is none. */
export function readPayment(network: BitcoinNetwork, text: PaymentText): PaymentRequest {
  const { to, subtractFee = false, account, coins, include, changeAccount, changeAddress } = text;
  const { unsafe = false, unconfirmedChange = true, longChains = false } = text;
  const choice = readChoice(text);
  return {
    ...choice,
    policy: { ...choice.policy, spendUnsafe: unsafe, spendUnconfirmedChange: unconfirmedChange, rejectLongChains: !longChains },
    outputs: to.map(({ address, amount, subtractFee: bears = subtractFee }) => ({
      script: parseAddress(network, address),
      value: amount,
      ...(bears ? { subtractFee: true } : {}),
    })),
    account,
    coins: outpointsOf(coins),
    include: outpointsOf(include),
    change: { account: changeAccount, script: changeAddress === undefined ? undefined : parseAddress(network, changeAddress) },
    ...readFee(text),
  };
}

/** Throws USAGE. */
export function readChoice(text: CoinChoiceText): CoinChoice {
  const { order, exclude, minConfs, maxConfs, avoidPartialSpends, weightMax, changePosition, longTermFeeRate, discardFeeRate } = text;
  if (minConfs !== undefined && maxConfs !== undefined && minConfs > maxConfs)
    throw new UnspentError('USAGE', `no coin has at least ${minConfs} and at most ${maxConfs} confirmations`);
  return {
    policy: {
      ...(order === undefined ? {} : { order }),
      ...(avoidPartialSpends === undefined ? {} : { avoidPartialSpends }),
      ...(weightMax === undefined ? {} : { weightMax }),
    },
    exclude: outpointsOf(exclude),
    minConfs,
    maxConfs,
    changeIndex: changePosition,
    longTermRate: longTermFeeRate === undefined ? undefined : toKvB(longTermFeeRate),
    discardRate: discardFeeRate === undefined ? undefined : toKvB(discardFeeRate),
  };
}

function outpointsOf(texts: readonly string[] | undefined): readonly Outpoint[] | undefined {
  return texts?.map((text) => parseOutpoint(text, parseId));
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
