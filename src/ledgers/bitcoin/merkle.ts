/**
 * Merkle trees as this family builds them, kept whole, with the branch from a
 * leaf to the root: a row of odd length repeats its last hash. A branch lists
 * what each hash on the way up is paired with, deepest first. Where only the
 * root is wanted, of blocks as they come, `proof.ts` needs less.
 */

import { sha256dInto } from '../../crypto/sha256.ts';
import { copyBytes } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';

const HASH_BYTES = 32;

export class MerkleTree {
  /** One run of hashes a row, from the leaves to the root. */
  private readonly rows: Uint8Array[] = [];

  constructor(leaves: readonly Uint8Array[]) {
    let row = new Uint8Array(HASH_BYTES * leaves.length);
    for (let i = 0; i < leaves.length; i++) copyBytes(leaves[i], 0, row, HASH_BYTES * i, HASH_BYTES);
    this.rows.push(row);
    for (; row.length > HASH_BYTES; this.rows.push(row)) row = rowAbove(row);
  }

  /** `height`: rows up to the root, where the tree is the last, not yet full one below a larger tree. */
  root(height = this.rows.length - 1): Uint8Array {
    let hash = at(this.rows[this.rows.length - 1], 0);
    for (let i = this.rows.length - 1; i < height; i++) hash = joined(hash, hash);
    return hash;
  }

  /** Rows above the leaves. */
  get height(): number {
    return this.rows.length - 1;
  }

  /** A hash of a row; row 0 are the leaves. Null: the row is shorter. */
  hashAt(height: number, index: number): Uint8Array | null {
    const row = this.rows[height];
    return HASH_BYTES * index < row.length ? at(row, index) : null;
  }

  branch(index: number, height = this.rows.length - 1): Uint8Array[] {
    assert(index >= 0 && HASH_BYTES * index < this.rows[0].length, 'the leaf is one of the tree');
    const branch: Uint8Array[] = [];
    for (let i = 0; i < height; i++) branch.push(this.pairOf(i, index >> i));
    return branch;
  }

  private pairOf(height: number, index: number): Uint8Array {
    const row = this.rows[height];
    if (row === undefined) return this.root(height);
    const other = index ^ 1;
    return at(row, HASH_BYTES * other < row.length ? other : index);
  }
}

export function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const pair = new Uint8Array(2 * HASH_BYTES);
  pair.set(left);
  pair.set(right, HASH_BYTES);
  const hash = new Uint8Array(HASH_BYTES);
  sha256dInto(pair, 0, pair.length, hash, 0);
  return hash;
}

function rowAbove(row: Uint8Array): Uint8Array<ArrayBuffer> {
  const count = row.length / HASH_BYTES;
  const above = new Uint8Array(HASH_BYTES * Math.ceil(count / 2));
  for (let i = 0; 2 * i + 1 < count; i++) sha256dInto(row, 2 * HASH_BYTES * i, 2 * HASH_BYTES * (i + 1), above, HASH_BYTES * i);
  if (count % 2 === 1) above.set(joined(at(row, count - 1), at(row, count - 1)), above.length - HASH_BYTES);
  return above;
}

function at(row: Uint8Array, index: number): Uint8Array {
  return row.subarray(HASH_BYTES * index, HASH_BYTES * (index + 1));
}
