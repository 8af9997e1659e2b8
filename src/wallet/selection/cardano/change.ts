/**
 * Change on Cardano: everything that the inputs hold and no output takes has to
 * come back. An output must hold lovelace for its own bytes, the more assets the
 * more, and its value may have so many bytes only; so change is split where it
 * is too long for one output.
 */
import type { Asset } from '../../../ledgers/asset.ts';
import { LONGEST_LOVELACE, lovelaceMin, type SizeParameters } from '../../../ledgers/cardano/fee.ts';
import { encodeOutput, type OutputToWrite } from '../../../ledgers/cardano/transaction-write.ts';

/** The map of an output, its keys, and the head of an address: what is not its value. */
const AROUND_VALUE_BYTES = 4;

/** Outputs for the assets, each with the least lovelace it may hold; one without assets where there are none. */
export function changeOutputs(address: Uint8Array, assets: readonly Asset[], parameters: SizeParameters): readonly OutputToWrite[] {
  return split(assets, parameters.valueBytesMax).map((own) => {
    const output: OutputToWrite = { address, lovelace: 0n, assets: own };
    return { ...output, lovelace: lovelaceMin(output, parameters) };
  });
}

/** All that is above the least goes to the first. */
export function withLovelace(outputs: readonly OutputToWrite[], lovelace: bigint): readonly OutputToWrite[] {
  const [first, ...rest] = outputs;
  return [{ ...first, lovelace: lovelace - lovelaceOf(rest) }, ...rest];
}

export function lovelaceOf(outputs: readonly OutputToWrite[]): bigint {
  return outputs.reduce((sum, { lovelace }) => sum + lovelace, 0n);
}

function split(assets: readonly Asset[], valueBytesMax: number): readonly (readonly Asset[])[] {
  const parts: Asset[][] = [[]];
  for (const asset of assets) {
    const part = parts[parts.length - 1];
    if (part.length > 0 && valueBytes([...part, asset]) > valueBytesMax) parts.push([asset]);
    else part.push(asset);
  }
  return parts;
}

function valueBytes(assets: readonly Asset[]): number {
  return encodeOutput({ address: new Uint8Array(0), lovelace: LONGEST_LOVELACE, assets }).length - AROUND_VALUE_BYTES;
}
