/**
 * Merkle mountain ranges: positions, ranges and their proofs, and the range over
 * all outputs with the bitmap that makes "unspent" provable.
 */
export { BitTree, STORED_LEVEL } from './bit-tree.ts';
export * from './bitmap.ts';
export { INDEXED, PLAIN } from './hash.ts';
export * from './positions.ts';
export * from './proof.ts';
export * from './prune-list.ts';
export { append, EMPTY_RANGE, type Range, rangeRoot, readRange, rewind } from './range.ts';
export * from './unspent.ts';
export * from './utxo.ts';
export * from './utxo-codec.ts';
