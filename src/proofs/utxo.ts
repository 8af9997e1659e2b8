/**
 * How an unspent output stands in the trees: the bytes of a transaction input,
 * the same in both, as the specification of the UTXO trees fixes them.
 */
import { copyBytes, writeU16, writeU32 } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { HASH_BYTES } from './verdict.ts';

const INDEX_MAX = 0xffff_ffff;

/** What comes before the id: an array of two, and 32 bytes. */
const HEAD = Uint8Array.of(0x82, 0x58, HASH_BYTES);

/** Bytes of the canonical CBOR of an input. */
export function txInBytes(index: number): number {
  return HEAD.length + HASH_BYTES + (index < 24 ? 1 : index < 0x100 ? 2 : index < 0x1_0000 ? 3 : 5);
}

/** Writes them. The id stands at `idAt` in `ids`. */
export function writeTxIn(to: Uint8Array, at: number, ids: Uint8Array, idAt: number, index: number): void {
  copyBytes(HEAD, 0, to, at, HEAD.length);
  copyBytes(ids, idAt, to, at + HEAD.length, HASH_BYTES);
  const end = at + HEAD.length + HASH_BYTES;
  if (index < 24) to[end] = index;
  else if (index < 0x100) {
    to[end] = 24;
    to[end + 1] = index;
  } else if (index < 0x1_0000) {
    to[end] = 25;
    writeU16(to, end + 1, index);
  } else {
    to[end] = 26;
    writeU32(to, end + 1, index);
  }
}

/** Canonical CBOR of an input: `[id, index]`. It says where it ends, so nothing behind it can be taken for a part of it. */
export function encodeTxIn(txId: Uint8Array, index: number): Uint8Array {
  if (txId.length !== HASH_BYTES) throw new UnspentError('USAGE', `a transaction id has ${HASH_BYTES} bytes, not ${txId.length}`);
  if (!Number.isInteger(index) || index < 0 || index > INDEX_MAX) throw new UnspentError('USAGE', `no index of an output: ${index}`);
  const bytes = new Uint8Array(txInBytes(index));
  writeTxIn(bytes, 0, txId, 0, index);
  return bytes;
}
