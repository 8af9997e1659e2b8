/**
 * How an unspent output stands in the trees: the bytes of a transaction input,
 * the same in both, as the specification of the UTXO trees fixes them.
 */
import { CborWriter } from '../util/cbor-write.ts';
import { UnspentError } from '../util/errors.ts';
import { HASH_BYTES } from './verdict.ts';

const INDEX_MAX = 0xffff_ffff;

/** Canonical CBOR of an input: `[id, index]`. It says where it ends, so nothing behind it can be taken for a part of it. */
export function encodeTxIn(txId: Uint8Array, index: number): Uint8Array {
  if (txId.length !== HASH_BYTES) throw new UnspentError('USAGE', `a transaction id has ${HASH_BYTES} bytes, not ${txId.length}`);
  if (!Number.isInteger(index) || index < 0 || index > INDEX_MAX) throw new UnspentError('USAGE', `no index of an output: ${index}`);
  return new CborWriter(48).array(2).bytes(txId).uint(index).take();
}
