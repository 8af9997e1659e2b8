/** Operands and options of `wallet` commands: outpoints, payments, rates, times. Whatever is none is USAGE. */
import { existsSync, writeFileSync } from 'node:fs';
import { type BitcoinNetwork, parseId } from '../../../ledgers/bitcoin/index.ts';
import { type Outpoint, parseOutpoint } from '../../../ledgers/outpoint.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { PaymentRequest } from '../../../wallet/bitcoin/operations/payment.ts';
import { type FeeText, readPayment } from '../../../wallet/bitcoin/operations/payment-text.ts';
import type { SelectionOrder } from '../../../wallet/selection/bitcoin/coin.ts';
import type { CommandOptions } from '../../options.ts';

const ORDERS: readonly SelectionOrder[] = ['waste', 'largest-first', 'oldest-first'];
const MINUTES_MAX = 525_600;

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

export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
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

export function leaseMinutes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MINUTES_MAX) {
    throw new UnspentError('USAGE', `--minutes is a whole number from 1 to ${MINUTES_MAX}, not '${text.slice(0, 40)}'`);
  }
  return value;
}

export function outpoint(text: string): Outpoint {
  return parseOutpoint(text, parseId);
}

export function txId(text: string): Uint8Array {
  if (isHex(text, 32)) return parseId(text);
  throw new UnspentError('USAGE', `a transaction id has 64 hex digits, not '${text.slice(0, 80)}'`);
}

export function leaseId(text: string | undefined): Uint8Array {
  if (text !== undefined && isHex(text, 32)) return fromHex(text);
  throw new UnspentError('USAGE', 'whose lease it is, is said by --id with 64 hex digits');
}

/** A count of rows. */
export function rowLimit(text: string | undefined, usual: number): number {
  const value = Number(text ?? usual);
  if (Number.isInteger(value) && value >= 1 && value <= 100_000) return value;
  throw new UnspentError('USAGE', `--limit is a whole number from 1 to 100000, not '${text?.slice(0, 40)}'`);
}

/** Before anything is done whose result would be lost. Throws IO. */
export function checkNewFile(file: string | undefined): void {
  if (file !== undefined && existsSync(file)) throw new UnspentError('IO', `'${file.slice(0, 200)}' is there already`);
}

/** A new file, which only its owner can read. Throws IO, also where there is a file of that name. */
export function writeNewFile(file: string, content: string): void {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new UnspentError('IO', `'${file.slice(0, 200)}' cannot be written: ${(error as Error).message}`, {}, error);
  }
}
