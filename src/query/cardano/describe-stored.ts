/**
 * A stored output taken apart for readers. What is in the store was decoded
 * once already, so bytes that do not decode are damage, named by their output.
 */
import { type DescribedOutput, describeOutput } from '../../ledgers/cardano/index.ts';
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';

export function describeStored(txId: Uint8Array, index: number, raw: Uint8Array): DescribedOutput {
  try {
    return describeOutput(raw);
  } catch (cause) {
    const key = `${toHex(txId)}#${index}`;
    throw new UnspentError('STORE_DAMAGED', `the stored output ${key} does not decode: ${(cause as Error).message}`, { key }, cause);
  }
}
