/**
 * Verifies proofs of a Merkle Patricia Forestry against a root that the caller
 * trusts, and computes from a proof alone the root after a change: what a script
 * on chain does.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import { equalBytes } from '../../util/bytes.ts';
import { check, checkHash, type Refused, type Verdict, verdictOf } from '../verdict.ts';
import { fold } from './fold.ts';
import { pathOfKey } from './hash.ts';
import type { Proof } from './proof.ts';

/** The new root, or why there is none. */
export type RootVerdict = { readonly ok: true; readonly root: Uint8Array } | Refused;

const hashOf = (value: Uint8Array | null): Uint8Array | null => (value === null ? null : blake2b256(value));

/** The trie with this root has this key with this value. */
export function verifyPresence(root: Uint8Array, key: Uint8Array, value: Uint8Array, proof: Proof): Verdict {
  return verify(root, key, value, proof);
}

/** The trie with this root does not have this key. */
export function verifyAbsence(root: Uint8Array, key: Uint8Array, proof: Proof): Verdict {
  return verify(root, key, null, proof);
}

function verify(root: Uint8Array, key: Uint8Array, value: Uint8Array | null, proof: Proof): Verdict {
  return verdictOf(() => {
    checkHash(root, 'the root');
    check(equalBytes(fold(pathOfKey(key), hashOf(value), proof), root), 'the proof leads to another root');
    return {};
  });
}

/** The root after inserting a key that the proof shows to be absent. */
export function rootAfterInsert(root: Uint8Array, key: Uint8Array, value: Uint8Array, proof: Proof): RootVerdict {
  return change(root, key, null, value, proof);
}

/** The root after replacing the value of a key. */
export function rootAfterUpdate(root: Uint8Array, key: Uint8Array, before: Uint8Array, after: Uint8Array, proof: Proof): RootVerdict {
  return change(root, key, before, after, proof);
}

/**
 * The root after deleting a key. Hashes cannot show how many children stand behind a `branch` step. A maker of proofs who writes one
 * where a `leaf` or `fork` step belongs gets a root that no trie has; whoever keeps the trie sees that it is not theirs.
 */
export function rootAfterDelete(root: Uint8Array, key: Uint8Array, value: Uint8Array, proof: Proof): RootVerdict {
  return change(root, key, value, null, proof);
}

function change(root: Uint8Array, key: Uint8Array, before: Uint8Array | null, after: Uint8Array | null, proof: Proof): RootVerdict {
  return verdictOf(() => {
    checkHash(root, 'the root');
    const path = pathOfKey(key);
    check(equalBytes(fold(path, hashOf(before), proof), root), 'the proof leads to another root');
    return { root: fold(path, hashOf(after), proof) };
  });
}
