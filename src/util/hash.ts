/**
 * The hashes of the chains we follow, synchronous and free of node:*.
 * BLAKE2b is ours because it is the hot one; the others come from a library.
 */
import { sha256 as sha2 } from '@noble/hashes/sha2.js';
import { sha3_256 as sha3 } from '@noble/hashes/sha3.js';
import { blake2b, blake2bPrefixed } from './blake2b.ts';

export function blake2b256(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return blake2b(bytes, start, end, 32);
}

export function blake2b256Prefixed(prefix: Uint8Array, bytes: Uint8Array, start: number, end: number): Uint8Array {
  return blake2bPrefixed(prefix, bytes, start, end, 32);
}

export function blake2b224(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return blake2b(bytes, start, end, 28);
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return sha2(bytes);
}

export function sha3_256(bytes: Uint8Array): Uint8Array {
  return sha3(bytes);
}
