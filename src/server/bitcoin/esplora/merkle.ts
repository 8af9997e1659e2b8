/**
 * The proof that a transaction is in a block as a `merkleblock` message has it:
 * the part of the tree that leads to it (BIP37).
 */
import { compactBytes } from '../../../ledgers/bitcoin/cursor.ts';
import { MerkleTree } from '../../../ledgers/bitcoin/merkle.ts';
import { concatBytes, writeU32LE } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';

/** Header, number of transactions, and the part of the tree that leads to this one. */
export function merkleBlock(header: Uint8Array, ids: readonly Uint8Array[], position: number): Uint8Array {
  assert(position >= 0 && position < ids.length, 'the transaction is one of the block');
  const tree = new MerkleTree(ids);
  const flags: boolean[] = [];
  const hashes: Uint8Array[] = [];
  const visit = (level: number, at: number): void => {
    const hash = tree.hashAt(level, at);
    if (hash === null) return;
    const leads = position >> level === at;
    flags.push(leads);
    if (!leads || level === 0) {
      hashes.push(hash);
      return;
    }
    visit(level - 1, 2 * at);
    visit(level - 1, 2 * at + 1);
  };
  visit(tree.height, 0);
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
