/**
 * The cage protocol (MPFS): tokens whose owner keeps a trie of facts off chain
 * and its root on chain. Codecs, scripts, phases, and what a transaction does.
 * Pure: it reads no store.
 */
export * from './datum.ts';
export * from './deployment.ts';
export * from './detect.ts';
export * from './events.ts';
export * from './phase.ts';
export * from './redeemer.ts';
export * from './validity.ts';
