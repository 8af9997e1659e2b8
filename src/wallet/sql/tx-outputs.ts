/**
 * The outputs of a transaction as one value of its row: the store knows no
 * family and cannot decode `raw_tx`. For each output:
 *
 *   amount u64, length of the script u32, length of the holding u32, script, holding
 *
 * The holding is what an output has besides its amount; most have nothing, and
 * then it has no bytes. A credit has the same bytes in its own row, for whoever
 * lists coins:
 *
 *   1 if it carries a script, else 0, u8; for each asset: policy 28, length of the name u8, name, quantity u64
 */
import { ASSET_NAME_BYTES_MAX, type Asset, POLICY_BYTES } from '../../ledgers/asset.ts';
import { assert } from '../../util/errors.ts';
import type { WalletTxOutput } from '../records.ts';

const HEAD_BYTES = 16;
const ASSET_BYTES = POLICY_BYTES + 1 + 8;
const QUANTITY_MAX = 2n ** 64n - 1n;
const NOTHING = new Uint8Array(0);

export function outputsBytes(outputs: readonly WalletTxOutput[]): Uint8Array {
  const holdings = outputs.map(holdingBytes);
  const bytes = new Uint8Array(outputs.reduce((sum, { script }, i) => sum + HEAD_BYTES + script.length + holdings[i].length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [i, { amount, script }] of outputs.entries()) {
    view.setBigUint64(at, amount);
    view.setUint32(at + 8, script.length);
    view.setUint32(at + 12, holdings[i].length);
    bytes.set(script, at + HEAD_BYTES);
    bytes.set(holdings[i], at + HEAD_BYTES + script.length);
    at += HEAD_BYTES + script.length + holdings[i].length;
  }
  return bytes;
}

export function outputsOf(bytes: Uint8Array): WalletTxOutput[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const outputs: WalletTxOutput[] = [];
  for (let at = 0; at < bytes.length; ) {
    assert(at + HEAD_BYTES <= bytes.length, 'an output begins inside the value');
    const scriptEnd = at + HEAD_BYTES + view.getUint32(at + 8);
    const end = scriptEnd + view.getUint32(at + 12);
    assert(end <= bytes.length, 'an output ends inside the value');
    const { assets, carriesScript } = holdingOf(bytes.subarray(scriptEnd, end));
    outputs.push({
      amount: view.getBigUint64(at),
      script: bytes.slice(at + HEAD_BYTES, scriptEnd),
      ...(assets.length === 0 ? {} : { assets }),
      ...(carriesScript ? { carriesScript } : {}),
    });
    at = end;
  }
  return outputs;
}

export function holdingBytes({ assets = [], carriesScript = false }: WalletTxOutput): Uint8Array {
  if (assets.length === 0 && !carriesScript) return NOTHING;
  const bytes = new Uint8Array(assets.reduce((sum, { name }) => sum + ASSET_BYTES + name.length, 1));
  const view = new DataView(bytes.buffer);
  bytes[0] = carriesScript ? 1 : 0;
  let at = 1;
  for (const { policy, name, quantity } of assets) {
    assert(policy.length === POLICY_BYTES && name.length <= ASSET_NAME_BYTES_MAX, 'an asset has a policy of 28 bytes and a name up to 32');
    assert(quantity > 0n && quantity <= QUANTITY_MAX, `an output cannot hold ${quantity} of an asset`);
    bytes.set(policy, at);
    bytes[at + POLICY_BYTES] = name.length;
    bytes.set(name, at + POLICY_BYTES + 1);
    view.setBigUint64(at + POLICY_BYTES + 1 + name.length, quantity);
    at += ASSET_BYTES + name.length;
  }
  return bytes;
}

export function holdingOf(bytes: Uint8Array): { readonly assets: readonly Asset[]; readonly carriesScript: boolean } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const assets: Asset[] = [];
  for (let at = 1; at < bytes.length; ) {
    const nameAt = at + POLICY_BYTES + 1;
    assert(nameAt <= bytes.length, 'an asset begins inside the holding');
    const nameEnd = nameAt + bytes[nameAt - 1];
    assert(nameEnd + 8 <= bytes.length, 'an asset ends inside the holding');
    assets.push({
      policy: bytes.slice(at, at + POLICY_BYTES),
      name: bytes.slice(nameAt, nameEnd),
      quantity: view.getBigUint64(nameEnd),
    });
    at = nameEnd + 8;
  }
  return { assets, carriesScript: bytes[0] === 1 };
}
