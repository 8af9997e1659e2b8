/**
 * Amounts and scripts of outputs as bytes: behind the inputs of a record where
 * they are small, else in rows of their own, a page of slots in each. They never
 * change.
 */
import { copyBytes, readBigU64, readU16, readU32, writeBigU64, writeU16, writeU32 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { TX_PAGE_SLOTS, TX_SMALL_OUTPUTS_BYTES } from '../../util/limits.ts';
import type { TxOutput } from '../records.ts';

export type OutputValue = Pick<TxOutput, 'amount' | 'script'>;

/** Amount u64 and length of the script: u16 in a record, u32 in a row of its own. */
export const OUTPUT_HEAD_BYTES = 10;
const ROW_HEAD_BYTES = 12;

/** Bytes of outputs that fit into their record; null: they do not. */
export function smallOutputsBytes(outputs: readonly OutputValue[]): number | null {
  if (outputs.length > TX_PAGE_SLOTS) return null;
  let bytes = 0;
  for (const { script } of outputs) bytes += OUTPUT_HEAD_BYTES + script.length;
  return bytes <= TX_SMALL_OUTPUTS_BYTES ? bytes : null;
}

export function writeSmallOutputs(to: Uint8Array, at: number, outputs: readonly OutputValue[]): number {
  let end = at;
  for (const { amount, script } of outputs) {
    writeBigU64(to, end, amount);
    writeU16(to, end + 8, script.length);
    copyBytes(script, 0, to, end + OUTPUT_HEAD_BYTES, script.length);
    end += OUTPUT_HEAD_BYTES + script.length;
  }
  return end;
}

/** Output `index` of those that begin at `at`; its script is a view. */
export function readSmallOutput(bytes: Uint8Array, at: number, index: number): OutputValue {
  let begin = at;
  for (let n = 0; n < index; n++) begin += OUTPUT_HEAD_BYTES + readU16(bytes, begin + 8);
  const scriptAt = begin + OUTPUT_HEAD_BYTES;
  return { amount: readBigU64(bytes, begin), script: bytes.subarray(scriptAt, scriptAt + readU16(bytes, begin + 8)) };
}

export function encodeOutputRow(outputs: readonly OutputValue[]): Uint8Array {
  const row = new Uint8Array(outputs.reduce((sum, { script }) => sum + ROW_HEAD_BYTES + script.length, 0));
  let at = 0;
  for (const { amount, script } of outputs) {
    writeBigU64(row, at, amount);
    writeU32(row, at + 8, script.length);
    row.set(script, at + ROW_HEAD_BYTES);
    at += ROW_HEAD_BYTES + script.length;
  }
  return row;
}

/** Throws STORE_DAMAGED. */
export function decodeOutputRow(row: Uint8Array): OutputValue[] {
  const outputs: OutputValue[] = [];
  for (let at = 0; at < row.length; ) {
    const end = at + ROW_HEAD_BYTES + (at + ROW_HEAD_BYTES <= row.length ? readU32(row, at + 8) : 0);
    if (end > row.length) throw new UnspentError('STORE_DAMAGED', `a page of outputs is cut at byte ${at}`, { at });
    outputs.push({ amount: readBigU64(row, at), script: new Uint8Array(row.subarray(at + ROW_HEAD_BYTES, end)) });
    at = end;
  }
  return outputs;
}
