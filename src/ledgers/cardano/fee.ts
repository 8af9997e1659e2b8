/**
 * What a ledger of the Conway era asks for: the least fee of a transaction, and
 * the least lovelace of an output. Whoever builds transactions pays it, whoever
 * takes them in checks it.
 */
import type { ExecutionUnits, ProtocolParameters, Ratio } from './protocol-parameters.ts';
import { encodeOutput, type OutputToWrite } from './transaction-write.ts';

/** Of an unspent output in a ledger's memory besides its bytes (Babbage, `minUTxO`). */
const UTXO_OVERHEAD_BYTES = 160n;
/** Reference scripts cost more from each step of so many bytes on (Conway, `tierRefScriptFee`). */
const REFERENCE_TIER_BYTES = 25_600n;

/** An amount of the longest form that one takes: what something is measured with while its amount is looked for. */
export const LONGEST_LOVELACE = 1n << 40n;
/** A key and its signature with their heads; and the entry of the witness set that holds them all. */
const SIGNATURE_BYTES = 102;
const SIGNATURES_ENTRY_BYTES = 6;

/** What a transaction without scripts is measured by. */
export type SizeParameters = Pick<ProtocolParameters, 'feePerByte' | 'feeFixed' | 'txBytesMax' | 'lovelacePerUtxoByte' | 'valueBytesMax'>;

/** What a fee is counted by. */
export interface FeeBasis {
  /** Of the whole transaction, signatures included. */
  readonly bytes: number;
  /** Of all its scripts together. */
  readonly units: ExecutionUnits;
  /** Of the scripts in outputs that it spends or refers to. */
  readonly referenceScriptBytes: number;
}

/** By size, by execution units (rounded up) and by bytes of reference scripts (rounded down). */
export function feeMin({ bytes, units, referenceScriptBytes }: FeeBasis, parameters: ProtocolParameters): bigint {
  const { memoryPrice, stepsPrice, referenceScriptBytePrice } = parameters;
  const memory = units.memory * memoryPrice.over * stepsPrice.under;
  const steps = units.steps * stepsPrice.over * memoryPrice.under;
  const under = memoryPrice.under * stepsPrice.under;
  const execution = (memory + steps + under - 1n) / under;
  return sizeFee(bytes, parameters) + execution + referenceFee(BigInt(referenceScriptBytes), referenceScriptBytePrice);
}

/** The part by size, which is all that a transaction without scripts pays. */
export function sizeFee(bytes: number, { feePerByte, feeFixed }: Pick<SizeParameters, 'feePerByte' | 'feeFixed'>): bigint {
  return feeFixed + feePerByte * BigInt(bytes);
}

/** The first 25,600 bytes at the price, the next at 6/5 of it, and so on; rounded down. */
export function referenceFee(bytes: bigint, { over, under }: Ratio): bigint {
  let [sumOver, sumUnder] = [0n, 1n];
  let price = { over, under };
  for (let left = bytes; left > 0n; left -= REFERENCE_TIER_BYTES) {
    const part = left < REFERENCE_TIER_BYTES ? left : REFERENCE_TIER_BYTES;
    sumOver = sumOver * price.under + part * price.over * sumUnder;
    sumUnder *= price.under;
    price = { over: price.over * 6n, under: price.under * 5n };
  }
  return sumOver / sumUnder;
}

/** What an output of so many bytes must hold at least. */
export function outputLovelaceMin(bytes: number, { lovelacePerUtxoByte }: Pick<SizeParameters, 'lovelacePerUtxoByte'>): bigint {
  return (UTXO_OVERHEAD_BYTES + BigInt(bytes)) * lovelacePerUtxoByte;
}

/** What an output that is still to be written must hold at least, whatever it will hold. */
export function lovelaceMin(output: OutputToWrite, parameters: Pick<SizeParameters, 'lovelacePerUtxoByte'>): bigint {
  return outputLovelaceMin(encodeOutput({ ...output, lovelace: LONGEST_LOVELACE }).length, parameters);
}

/** What signatures of so many keys add to a transaction, at most. */
export function signatureBytes(keys: number): number {
  return SIGNATURES_ENTRY_BYTES + keys * SIGNATURE_BYTES;
}
