/** Options of commands that pay: who is paid, rates, amounts. Whatever is none is USAGE. */
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/index.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { PaymentRequest } from '../../../wallet/bitcoin/operations/payment.ts';
import { type FeeText, readPayment } from '../../../wallet/bitcoin/operations/payment-text.ts';
import type { SelectionOrder } from '../../../wallet/selection/bitcoin/coin.ts';
import type { CommandOptions } from '../../options.ts';
import { leaseMinutes } from '../../wallet/operands.ts';

const ORDERS: readonly SelectionOrder[] = ['waste', 'largest-first', 'oldest-first'];

/** Of commands that make a transaction. */
interface FeeFlags extends CommandOptions {
  readonly feeRate?: string;
  readonly maxFee?: string;
  readonly maxFeeRate?: string;
  readonly minutes?: string;
}

/** Of commands that choose coins. */
export interface PayFlags extends FeeFlags {
  readonly pay?: readonly string[];
  readonly account?: string;
  readonly coin?: readonly string[];
  readonly coinOrder?: string;
  readonly unsafe?: boolean;
  readonly subtractFee?: boolean;
}

export function paymentRequest(network: BitcoinNetwork, flags: PayFlags): PaymentRequest {
  const { pay = [], coin, coinOrder, account, unsafe, subtractFee } = flags;
  if (pay.length === 0) throw new UnspentError('USAGE', 'say who is paid: --pay ADDRESS=SATOSHI');
  const order = ORDERS.find((each) => each === (coinOrder ?? ORDERS[0]));
  if (order === undefined) throw new UnspentError('USAGE', `--coin-order is one of ${ORDERS.join(', ')}, not '${coinOrder?.slice(0, 40)}'`);
  return readPayment(network, { to: pay.map(payment), subtractFee, account, coins: coin, order, unsafe, ...feeFlags(flags) });
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
