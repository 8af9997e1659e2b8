/**
 * BLAKE2b-256 and BLAKE2b-224, SHA-256 and SHA3-256, synchronous once loaded.
 * hash-wasm carries its WebAssembly inside the package, so nothing is compiled
 * or fetched at install and the same code runs in a browser (docs/adr/0005).
 */
import { createBLAKE2b, createSHA3, createSHA256 } from 'hash-wasm';

const [blake256, blake224, sha2, sha3] = await Promise.all([createBLAKE2b(256), createBLAKE2b(224), createSHA256(), createSHA3(256)]);

export function blake2b256(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return blake256.init().update(bytes.subarray(start, end)).digest('binary');
}

/** Hash of `prefix` followed by a run of `bytes`, without joining them. */
export function blake2b256Prefixed(prefix: Uint8Array, bytes: Uint8Array, start: number, end: number): Uint8Array {
  return blake256.init().update(prefix).update(bytes.subarray(start, end)).digest('binary');
}

export function blake2b224(bytes: Uint8Array, start = 0, end = bytes.length): Uint8Array {
  return blake224.init().update(bytes.subarray(start, end)).digest('binary');
}

export function sha256(bytes: Uint8Array): Uint8Array {
  return sha2.init().update(bytes).digest('binary');
}

export function sha3_256(bytes: Uint8Array): Uint8Array {
  return sha3.init().update(bytes).digest('binary');
}
