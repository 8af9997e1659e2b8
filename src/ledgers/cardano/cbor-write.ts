/**
 * Writes the few CBOR items that no block gives us: genesis outputs and Byron
 * addresses made from redeem keys. Always the shortest form (RFC 8949, 4.2.1).
 */
import { concatBytes } from '../../util/bytes.ts';
import { ARRAY, BYTES, TAG, UINT } from '../../util/cbor.ts';
import { assert } from '../../util/errors.ts';

const ENCODED_CBOR = 24n;

/** A head: the major type with its argument, in as few bytes as it fits. */
export function cborHead(major: number, argument: bigint): Uint8Array {
  assert(argument >= 0n && argument < 1n << 64n, 'a CBOR argument is an unsigned 64-bit integer');
  if (argument < 24n) return Uint8Array.of((major << 5) | Number(argument));
  const width = argument < 1n << 8n ? 1 : argument < 1n << 16n ? 2 : argument < 1n << 32n ? 4 : 8;
  const out = new Uint8Array(1 + width);
  out[0] = (major << 5) | (24 + Math.log2(width));
  for (let i = width, rest = argument; i > 0; i--, rest >>= 8n) out[i] = Number(rest & 0xffn);
  return out;
}

export function cborUint(value: bigint): Uint8Array {
  return cborHead(UINT, value);
}

export function cborBytes(content: Uint8Array): Uint8Array {
  return concatBytes(cborHead(BYTES, BigInt(content.length)), content);
}

/** An array of items that are CBOR already. */
export function cborArray(...items: readonly Uint8Array[]): Uint8Array {
  return concatBytes(cborHead(ARRAY, BigInt(items.length)), ...items);
}

/** CBOR inside CBOR: a byte string under tag 24. */
export function cborEncoded(content: Uint8Array): Uint8Array {
  return concatBytes(cborHead(TAG, ENCODED_CBOR), cborBytes(content));
}
