/** Numbers of the chain in the widths that the messages of UTxO RPC have. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import type { Ratio } from '../../../../ledgers/cardano/protocol-parameters.ts';
import { UnspentError } from '../../../../util/errors.ts';
import type { MessageInit } from './message-init.ts';

export const INT64 = { min: -(1n << 63n), max: (1n << 63n) - 1n } as const;
const INT32_MAX = (1n << 31n) - 1n;
const UINT32_MAX = (1n << 32n) - 1n;

/** The nearest that the message can hold, for what anybody may write into a transaction: its bytes have it exactly. */
export function uint32(value: number | bigint): number {
  return Math.max(0, Math.min(Number(value), Number(UINT32_MAX)));
}

/** Throws UNSUPPORTED where its numbers, without common factors, are wider than those of the message. */
export function fractionMessage({ over, under }: Ratio): MessageInit<cardano.RationalNumber> {
  const common = commonFactor(over, under);
  const [numerator, denominator] = [over / common, under / common];
  if (numerator > INT32_MAX || denominator > UINT32_MAX)
    throw new UnspentError('UNSUPPORTED', `UTxO RPC has no room for the fraction ${over}/${under}`);
  return { numerator: Number(numerator), denominator: Number(denominator) };
}

/** As near to it as the numbers of the message allow, for the same reason. */
export function roundedFraction({ over, under }: Ratio): MessageInit<cardano.RationalNumber> {
  const common = commonFactor(over, under);
  let [numerator, denominator] = [over / common, under / common];
  while (numerator > INT32_MAX || denominator > UINT32_MAX) [numerator, denominator] = [numerator / 2n, denominator / 2n];
  return { numerator: Number(numerator), denominator: Math.max(1, Number(denominator)) };
}

function commonFactor(a: bigint, b: bigint): bigint {
  return b === 0n ? a || 1n : commonFactor(b, a % b);
}
