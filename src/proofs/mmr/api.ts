/** What `unspent/proofs` shows of the mountain ranges: everything but how positions are counted and bits are stored. */
export { type Bitmap, type BitmapSpaces, EMPTY_BITMAP, isUnspent, unspentLeaves } from './bitmap.ts';
export { EMPTY_ROOT, INDEXED, type MmrRule, PLAIN } from './hash.ts';
export * from './proof.ts';
export type { PruneSpaces } from './prune-list.ts';
export { append, EMPTY_RANGE, type Range, rangeRoot, readRange, rewind } from './range.ts';
export * from './unspent.ts';
export * from './utxo.ts';
export { decodeState, encodeState } from './utxo-codec.ts';
