/**
 * `unspent/proofs`: proof documents and their verifier, and the Merkle structures
 * below them. Pure: no I/O, nothing of Node's, so it runs in a browser too. A
 * verifier trusts the root it is given and nothing else.
 */
export * from './proofs/index.ts';
