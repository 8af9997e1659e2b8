/**
 * The outputs of a transaction as one value of its row: the store knows no
 * family and cannot decode `raw_tx`. For each output: amount u64, length of the
 * script u32, script.
 */
import { assert } from '../../util/errors.ts';
import type { WalletTxOutput } from '../records.ts';

const HEAD_BYTES = 12;

export function outputsBytes(outputs: readonly WalletTxOutput[]): Uint8Array {
  const bytes = new Uint8Array(outputs.reduce((sum, { script }) => sum + HEAD_BYTES + script.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { amount, script } of outputs) {
    view.setBigUint64(at, amount);
    view.setUint32(at + 8, script.length);
    bytes.set(script, at + HEAD_BYTES);
    at += HEAD_BYTES + script.length;
  }
  return bytes;
}

export function outputsOf(bytes: Uint8Array): WalletTxOutput[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const outputs: WalletTxOutput[] = [];
  for (let at = 0; at < bytes.length; ) {
    assert(at + HEAD_BYTES <= bytes.length, 'an output begins inside the value');
    const end = at + HEAD_BYTES + view.getUint32(at + 8);
    assert(end <= bytes.length, 'a script ends inside the value');
    outputs.push({ amount: view.getBigUint64(at), script: bytes.slice(at + HEAD_BYTES, end) });
    at = end;
  }
  return outputs;
}
