/**
 * The CSMT over the unspent set. A key is the hash of the owner (of the raw
 * address, or of a script) and the input; a value is the hash of the output's
 * bytes. All outputs of an owner stand below one prefix, which is what makes
 * "these are all of them" provable.
 *
 * These verifiers make key and value themselves from what the caller knows. An
 * absence is of an output at an owner: without the owner it cannot be shown.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { concatBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type Bits, bitsOf, compareBits } from '../bits.ts';
import { encodeTxIn } from '../utxo.ts';
import { claim, HASH_BYTES, type Verdict } from '../verdict.ts';
import { leafValue } from './hash.ts';
import type { CompletenessProof, ExclusionProof, InclusionProof, Leaf } from './proof.ts';
import type { Root } from './tree.ts';
import { verifyCompleteness, verifyExclusion, verifyInclusion } from './verify.ts';

export type { Outpoint };

/** An output with the bytes that its leaf stands for. */
export interface UtxoEntry extends Outpoint {
  /** The output, byte for byte as it went into the tree. */
  readonly txOut: Uint8Array;
}

/** The owner hash of a Cardano address, given as raw bytes. */
export function ownerOfAddress(address: Uint8Array): Uint8Array {
  return blake2b256(address);
}

/** What the keys of all outputs of an owner begin with. */
export function ownerPrefix(owner: Uint8Array): Bits {
  if (owner.length !== HASH_BYTES) throw new UnspentError('USAGE', `an owner hash has ${HASH_BYTES} bytes, not ${owner.length}`);
  return bitsOf(owner);
}

/** The key of an output in the tree. */
export function utxoKey(owner: Uint8Array, { txId, index }: Outpoint): Bits {
  return bitsOf(concatBytes(ownerPrefix(owner).bytes, encodeTxIn(txId, index)));
}

/** The entry of an output in the tree. */
export function utxoLeaf(owner: Uint8Array, entry: UtxoEntry): Leaf {
  return { key: utxoKey(owner, entry), value: leafValue(entry.txOut) };
}

/** The output is unspent at the point the root is of. */
export function verifyUtxo(root: Root, owner: Uint8Array, entry: UtxoEntry, proof: InclusionProof): Verdict {
  const of = claim(() => ({ key: utxoKey(owner, entry) }));
  return of.ok ? verifyInclusion(root, of.key, entry.txOut, proof) : of;
}

/** The owner has no such unspent output at the point the root is of. */
export function verifyNoUtxo(root: Root, owner: Uint8Array, outpoint: Outpoint, proof: ExclusionProof): Verdict {
  const target = claim(() => ({ key: utxoKey(owner, outpoint) }));
  return target.ok ? verifyExclusion(root, target.key, proof) : target;
}

/** These, in any order, are all unspent outputs of the owner at the point the root is of. */
export function verifyOwner(root: Root, owner: Uint8Array, entries: readonly UtxoEntry[], proof: CompletenessProof): Verdict {
  const set = claim(() => ({
    prefix: ownerPrefix(owner),
    entries: entries.map((entry) => ({ key: utxoKey(owner, entry), content: entry.txOut })).sort((a, b) => compareBits(a.key, b.key)),
  }));
  return set.ok ? verifyCompleteness(root, set.prefix, set.entries, proof) : set;
}
