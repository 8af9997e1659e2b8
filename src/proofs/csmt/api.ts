/** What `unspent/proofs` shows of the compact sparse Merkle tree: everything but how its nodes are stored. */
export type { Change } from '../radix/update.ts';
export * from './cbor.ts';
export * from './compact.ts';
export { leafValue, type Reference } from './hash.ts';
export * from './json.ts';
export * from './proof.ts';
export * from './tree.ts';
export * from './utxo.ts';
export * from './verify.ts';
