/**
 * Proofs that a transaction is in a block: the hashes beside the path from it
 * to the root, as Electrum and Esplora give them, and the partial tree of a
 * `merkleblock` message (BIP37). Both from the ids of the block, in order.
 */
import { compactBytes } from '../../ledgers/bitcoin/cursor.ts';
import { concatBytes, writeU32LE } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { sha256d } from '../../util/sha256.ts';

/** Every row of the tree, from the leaves to the root. A row of odd length repeats its last when the next is made. */
function treeOf(leaves: readonly Uint8Array[]): (readonly Uint8Array[])[] {
  const rows = [leaves];
  for (let row = leaves; row.length > 1; rows.push(row)) {
    const below = row;
    row = Array.from({ length: (below.length + 1) >> 1 }, (_, i) => sha256d(concatBytes(below[2 * i], below[2 * i + 1] ?? below[2 * i])));
  }
  return rows;
}

/** From the leaf's own neighbour upwards. */
export function merkleBranch(ids: readonly Uint8Array[], position: number): Uint8Array[] {
  assert(position >= 0 && position < ids.length, 'the transaction is one of the block');
  const rows = treeOf(ids).slice(0, -1);
  return rows.map((row, level) => row[(position >> level) ^ 1] ?? row[position >> level]);
}

/** Header, number of transactions, and the part of the tree that leads to this one. */
export function merkleBlock(header: Uint8Array, ids: readonly Uint8Array[], position: number): Uint8Array {
  assert(position >= 0 && position < ids.length, 'the transaction is one of the block');
  const rows = treeOf(ids);
  const flags: boolean[] = [];
  const hashes: Uint8Array[] = [];
  const visit = (level: number, at: number): void => {
    const leads = position >> level === at;
    flags.push(leads);
    if (!leads || level === 0) {
      hashes.push(rows[level][at]);
      return;
    }
    visit(level - 1, 2 * at);
    if (2 * at + 1 < rows[level - 1].length) visit(level - 1, 2 * at + 1);
  };
  visit(rows.length - 1, 0);
  const count = new Uint8Array(4);
  writeU32LE(count, 0, ids.length);
  const bits = bitsOf(flags);
  return concatBytes(header, count, compactBytes(hashes.length), ...hashes, compactBytes(bits.length), bits);
}

/** The first flag is the lowest bit of the first byte. */
function bitsOf(flags: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array((flags.length + 7) >> 3);
  flags.forEach((flag, i) => {
    if (flag) bytes[i >> 3] |= 1 << (i & 7);
  });
  return bytes;
}
