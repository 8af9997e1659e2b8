/**
 * Compact sparse Merkle tree: entries under bit keys, with proofs that one is
 * there, that one is not, and that a set with a common prefix is complete.
 */

export type { Change } from '../radix/update.ts';
export * from './cbor.ts';
export * from './compact.ts';
export { leafValue } from './hash.ts';
export * from './json.ts';
export * from './proof.ts';
export * from './record.ts';
export * from './tree.ts';
export * from './utxo.ts';
export * from './verify.ts';
