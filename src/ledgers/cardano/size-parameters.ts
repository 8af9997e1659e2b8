/** Protocol parameters in the JSON that `cardano-cli query protocol-parameters` writes, as far as a transaction without scripts needs them. */
import { UnspentError } from '../../util/errors.ts';
import type { SizeParameters } from './fee.ts';

/** Throws USAGE where a field is missing or no whole number. */
export function readSizeParameters(text: string): SizeParameters {
  const fields = parseObject(text);
  const number = (name: string): number => {
    const value = fields[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
    throw new UnspentError('USAGE', `protocol parameters have a whole number '${name}', as cardano-cli writes them`);
  };
  return {
    feePerByte: BigInt(number('txFeePerByte')),
    feeFixed: BigInt(number('txFeeFixed')),
    txBytesMax: number('maxTxSize'),
    lovelacePerUtxoByte: BigInt(number('utxoCostPerByte')),
    valueBytesMax: number('maxValueSize'),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Told below, as for JSON that is no object.
  }
  throw new UnspentError('USAGE', 'protocol parameters are a JSON object, as cardano-cli query protocol-parameters writes it');
}
