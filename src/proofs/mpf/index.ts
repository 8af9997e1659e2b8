/**
 * Merkle Patricia Forestry: keys and values by hash, with proofs of presence and
 * absence that scripts on chain verify too.
 */
export * from './cbor.ts';
export * from './fold-v200.ts';
export { NULL_HASH } from './hash.ts';
export * from './json.ts';
export * from './proof.ts';
export * from './trie.ts';
export * from './verify.ts';
