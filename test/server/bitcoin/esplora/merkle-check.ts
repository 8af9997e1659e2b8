/**
 * Checks of Merkle proofs, written from what they must prove and not from how
 * they are made: a branch is hashed up to a root, a `merkleblock` message is
 * read the way BIP37 tells a client to read it.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

function hash256(bytes: Uint8Array): Buffer {
  const once = createHash('sha256').update(bytes).digest();
  return createHash('sha256').update(once).digest();
}

function bytesOf(id: string): Buffer {
  return Buffer.from(id, 'hex').reverse();
}

/** The root that a branch leads to, as it stands in a header. */
export function rootFromBranch(id: string, branch: readonly string[], position: number): string {
  let hash = bytesOf(id);
  let at = position;
  for (const other of branch.map(bytesOf)) {
    hash = hash256(Buffer.concat(at % 2 === 0 ? [hash, other] : [other, hash]));
    at >>= 1;
  }
  assert.equal(at, 0, 'the branch reaches the root');
  return hash.toString('hex');
}

/** Fails unless the message proves that this transaction, and no other, stands there. */
export function checkMerkleBlock(hex: string, blockHash: string, id: string, position: number, count: number): void {
  const message = Buffer.from(hex, 'hex');
  assert.equal(hash256(message.subarray(0, 80)).reverse().toString('hex'), blockHash);
  assert.equal(message.readUInt32LE(80), count);
  const hashes = message[84];
  assert.ok(hashes < 0xfd, 'short enough for one byte');
  const hashAt = (i: number): Buffer => message.subarray(85 + 32 * i, 117 + 32 * i);
  const flagBytes = message[85 + 32 * hashes];
  const flags = message.subarray(86 + 32 * hashes);
  assert.equal(flags.length, flagBytes, 'nothing behind the flags');
  const matched: [string, number][] = [];
  let [hashesUsed, flagsUsed] = [0, 0];
  const walk = (level: number, at: number): Buffer => {
    const flag = (flags[flagsUsed >> 3] >> (flagsUsed & 7)) & 1;
    flagsUsed++;
    if (flag === 0 || level === 0) {
      const hash = hashAt(hashesUsed++);
      if (flag === 1) matched.push([Buffer.from(hash).reverse().toString('hex'), at]);
      return hash;
    }
    const left = walk(level - 1, 2 * at);
    const width = Math.ceil(count / 2 ** (level - 1));
    return hash256(Buffer.concat([left, 2 * at + 1 < width ? walk(level - 1, 2 * at + 1) : left]));
  };
  const root = walk(Math.ceil(Math.log2(count)), 0);
  assert.equal(root.toString('hex'), message.subarray(36, 68).toString('hex'), 'the root is that of the header');
  assert.deepEqual(matched, [[id, position]]);
  assert.deepEqual([hashesUsed, (flagsUsed + 7) >> 3], [hashes, flagBytes], 'all of it was used');
}
