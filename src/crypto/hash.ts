/**
 * The hashes of the chains we follow, synchronous and free of node:*.
 * BLAKE2b and SHA-256 are ours because they are the hot ones; the other comes
 * from a library.
 */
import { sha3_256 as sha3 } from '@noble/hashes/sha3.js';
import { blake2b, blake2bInto, blake2bPrefixed } from './blake2b.ts';

export { sha256 } from './sha256.ts';

export function blake2b256(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return blake2b(bytes, start, end, 32);
}

/** Written where it is wanted: thousands of small hashes are better not each an array. */
export function blake2b256Into(bytes: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  blake2bInto(bytes, start, end, 32, to, at);
}

export function blake2b256Prefixed(prefix: Uint8Array, bytes: Uint8Array, start: number, end: number): Uint8Array {
  return blake2bPrefixed(prefix, bytes, start, end, 32);
}

/** Written where it is wanted. */
export function blake2b224Into(bytes: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  blake2bInto(bytes, start, end, 28, to, at);
}

export function blake2b224(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return blake2b(bytes, start, end, 28);
}

export function blake2b160(bytes: Uint8Array): Uint8Array {
  return blake2b(bytes, 0, bytes.length, 20);
}

export function sha3_256(bytes: Uint8Array): Uint8Array {
  return sha3(bytes);
}
