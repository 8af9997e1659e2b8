/** Options of commands that pay: who is paid, rates, amounts. Whatever is none is USAGE. */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { PaymentRequest } from '../../../wallet/bitcoin/operations/payment.ts';
import { type CoinChoiceText, type FeeText, readPayment } from '../../../wallet/bitcoin/operations/payment-text.ts';
import { DEFAULT_POLICY, SELECTION_ORDERS } from '../../../wallet/selection/bitcoin/coin.ts';
import type { CommandOptions } from '../../options.ts';
import { leaseMinutes } from '../../wallet/operands.ts';

/** More than any chain has. */
const CONFIRMATIONS_MAX = 10_000_000;
/** Less than any transaction has. */
const WEIGHT_MIN = 400;

/** Of commands that make a transaction. */
interface FeeFlags extends CommandOptions {
  readonly feeRate?: string;
  readonly maxFee?: string;
  readonly maxFeeRate?: string;
  readonly minutes?: string;
}

/** Of commands that choose coins. */
export interface ChoiceFlags extends FeeFlags {
  readonly coinOrder?: string;
  readonly exclude?: readonly string[];
  readonly minConfs?: string;
  readonly maxConfs?: string;
  readonly avoidPartialSpends?: boolean;
  readonly maxWeight?: string;
  readonly changePosition?: string;
  readonly longTermFeeRate?: string;
  readonly discardFeeRate?: string;
}

/** Of commands that pay. */
export interface PayFlags extends ChoiceFlags {
  readonly pay?: readonly string[];
  readonly account?: string;
  readonly coin?: readonly string[];
  readonly include?: readonly string[];
  readonly unsafe?: boolean;
  /** False: `--no-unconfirmed-change`. */
  readonly unconfirmedChange?: boolean;
  readonly longChains?: boolean;
  readonly subtractFee?: boolean;
  readonly subtractFeeFrom?: readonly string[];
  readonly changeAccount?: string;
  readonly changeAddress?: string;
}

export function paymentRequest(network: BitcoinNetwork, flags: PayFlags): PaymentRequest {
  const { pay = [], coin, include, account, unsafe, unconfirmedChange, longChains, subtractFee, subtractFeeFrom = [] } = flags;
  if (pay.length === 0) throw new UnspentError('USAGE', 'say who is paid: --pay ADDRESS=SATOSHI');
  const to = pay.map(payment).map((paid) => ({ ...paid, ...(subtractFeeFrom.includes(paid.address) ? { subtractFee: true } : {}) }));
  const unpaid = subtractFeeFrom.find((address) => to.every((paid) => paid.address !== address));
  if (unpaid !== undefined)
    throw new UnspentError('USAGE', `--subtract-fee-from is one of those that are paid, not '${unpaid.slice(0, 120)}'`);
  const { changeAccount, changeAddress } = flags;
  const control = { account, coins: coin, include, unsafe, unconfirmedChange, longChains, changeAccount, changeAddress };
  return readPayment(network, { to, subtractFee, ...control, ...choiceFlags(flags), ...feeFlags(flags) });
}

/** How coins are chosen. */
export function choiceFlags(flags: ChoiceFlags): CoinChoiceText {
  const { coinOrder, exclude, minConfs, maxConfs, avoidPartialSpends, maxWeight, changePosition, longTermFeeRate, discardFeeRate } = flags;
  const order = SELECTION_ORDERS.find((each) => each === coinOrder);
  if (order === undefined && coinOrder !== undefined)
    throw new UnspentError('USAGE', `--coin-order is one of ${SELECTION_ORDERS.join(', ')}, not '${coinOrder.slice(0, 40)}'`);
  return {
    order,
    exclude,
    minConfs: whole('--min-confs', minConfs, 0, CONFIRMATIONS_MAX),
    maxConfs: whole('--max-confs', maxConfs, 0, CONFIRMATIONS_MAX),
    avoidPartialSpends,
    weightMax: whole('--max-weight', maxWeight, WEIGHT_MIN, DEFAULT_POLICY.weightMax),
    changePosition: whole('--change-position', changePosition, 0, CONFIRMATIONS_MAX),
    longTermFeeRate: longTermFeeRate === undefined ? undefined : rate('--long-term-fee-rate', longTermFeeRate),
    discardFeeRate: discardFeeRate === undefined ? undefined : rate('--discard-fee-rate', discardFeeRate),
  };
}

function whole(flag: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d{1,8}$/.test(text) && value >= least && value <= most) return value;
  throw new UnspentError('USAGE', `${flag} is a whole number from ${least} to ${most}, not '${text.slice(0, 40)}'`);
}

function payment(text: string): { readonly address: string; readonly amount: bigint } {
  const [, address, value] = /^(.+)=(\d{1,16})$/.exec(text) ?? [];
  if (address === undefined || value === undefined) {
    throw new UnspentError('USAGE', `a payment is ADDRESS=SATOSHI, not '${text.slice(0, 120)}'`);
  }
  return { address, amount: BigInt(value) };
}

/** What a transaction pays, and may pay at most. */
export function feeFlags({ feeRate, maxFee, maxFeeRate, minutes }: FeeFlags): FeeText {
  if (feeRate === undefined) throw new UnspentError('USAGE', 'say what is paid for each virtual byte: --fee-rate SAT_PER_VBYTE');
  return {
    feeRate: rate('--fee-rate', feeRate),
    feeMax: maxFee === undefined ? undefined : satoshi(maxFee),
    feeRateMax: maxFeeRate === undefined ? undefined : rate('--max-fee-rate', maxFeeRate),
    minutes: leaseMinutes(minutes),
  };
}

/** In sat/vB. */
function rate(flag: string, text: string): number {
  if (/^\d{1,6}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new UnspentError('USAGE', `${flag} is in sat/vB, such as 2.5, not '${text.slice(0, 40)}'`);
}

export function satoshi(text: string): bigint {
  if (/^\d{1,16}$/.test(text)) return BigInt(text);
  throw new UnspentError('USAGE', `an amount is a whole number of satoshi, not '${text.slice(0, 40)}'`);
}
