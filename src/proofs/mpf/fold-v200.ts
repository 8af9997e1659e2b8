/**
 * The fold of the on-chain library v2.0.0, with its faults. Scripts that pin
 * that version can put a root on chain that no trie has; whoever follows them
 * must recognise such a root. Never a verifier: it accepts forged absences.
 *
 * Faults: the last `fork` of an absence forgets the nibbles it skips; a `leaf`
 * before the last of an absence takes its slot from the wrong nibble.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import { concatBytes } from '../../util/bytes.ts';
import { type Bits, bitsOf } from '../bits.ts';
import { check, verdictOf } from '../verdict.ts';
import { foldBranch, foldPair, type Placed, placed } from './fold.ts';
import { branchHashRaw, leafHash, NULL_HASH, nibbleAt, pathOfKey } from './hash.ts';
import type { Proof } from './proof.ts';
import type { RootVerdict } from './verify.ts';

/** The root that v2.0.0 computes with the key at this value; null: without the key. */
export function rootUnderV200(key: Uint8Array, value: Uint8Array | null, proof: Proof): RootVerdict {
  return verdictOf(() => {
    const path = pathOfKey(key);
    const places = placed(proof);
    const last = places.at(-1);
    const absent = value === null;
    let me = absent ? NULL_HASH : leafHash(path, last === undefined ? 0 : last.next + 1, blake2b256(value));
    places.reverse().forEach((place) => {
      me = (absent && place === last && foldAlone(place)) || foldStep(path, place, me, absent);
    });
    return { root: me };
  });
}

function foldAlone({ step, cursor }: Placed): Uint8Array | null {
  if (step.type === 'branch') return null;
  if (step.type === 'leaf') return leafHash(bitsOf(step.neighbor.key), cursor, step.neighbor.value);
  const { nibble, prefix, root } = step.neighbor;
  return branchHashRaw(concatBytes(Uint8Array.of(nibble), prefix), root);
}

function foldStep(path: Bits, place: Placed, me: Uint8Array, absent: boolean): Uint8Array {
  const { step, cursor, next } = place;
  if (step.type === 'branch') return foldBranch(path, place, me, step.neighbors);
  const key = step.type === 'leaf' ? bitsOf(step.neighbor.key) : null;
  const nibble = step.type === 'fork' ? step.neighbor.nibble : nibbleAt(key!, absent ? cursor : next);
  check(nibble !== nibbleAt(path, next), 'a neighbor is on our own path');
  const neighbor =
    step.type === 'fork' ? branchHashRaw(step.neighbor.prefix, step.neighbor.root) : leafHash(key!, next + 1, step.neighbor.value);
  return foldPair(path, place, me, nibble, neighbor);
}
