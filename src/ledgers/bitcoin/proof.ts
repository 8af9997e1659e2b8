/**
 * Recomputes what a block's header says of its body: the Merkle tree of the
 * transactions, the commitment to their witnesses (BIP141) and the height in
 * the coinbase (BIP34). For bytes that nobody has checked yet.
 */

import { sha256d } from '../../crypto/sha256.ts';
import { hashPairs, pairRow } from '../../crypto/sha256-pairs.ts';
import { copyBytes, equalBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { Cursor } from './cursor.ts';
import { type BitcoinBlock, HEADER_BYTES } from './decode.ts';
import { formatId } from './ids.ts';
import type { BitcoinNetwork } from './networks.ts';
import type { BitcoinTx } from './transaction.ts';

const HASH_BYTES = 32;
/** The script of the output that commits to the witnesses begins so, and 32 bytes follow. */
const COMMITMENT = Uint8Array.of(0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed);
const OP_1 = 0x51;
const OP_16 = 0x60;

/** `whole` false: without the witnesses, of which no output and no id is made. Throws BLOCK_INVALID when header and body do not belong together. */
export function verifyBody(block: BitcoinBlock, network: BitcoinNetwork, whole = true): void {
  const { root, mutated } = merkleRoot(block.txs.map((tx) => tx.id));
  if (!equalBytes(root, block.header.merkleRoot)) throw wrong(block, 'its transactions do not hash to its Merkle root');
  if (mutated) throw wrong(block, 'its last transactions are repeated (CVE-2012-2459)');
  if (whole) verifyWitnesses(block, block.height >= network.segwitHeight);
  verifyHeight(block, network.bip34Height);
}

/**
 * The root of the tree over these leaves. A row of odd length repeats its last,
 * so that two lists can have one root: `mutated` when a pair is of equals, which
 * no honest list has, and which tells the longer list from the shorter.
 */
export function merkleRoot(leaves: readonly Uint8Array[]): { root: Uint8Array; mutated: boolean } {
  if (leaves.length === 0) return { root: new Uint8Array(HASH_BYTES), mutated: false };
  const row = pairRow(leaves.length);
  for (let i = 0; i < leaves.length; i++) copyBytes(leaves[i], 0, row, HASH_BYTES * i, HASH_BYTES);
  let mutated = false;
  for (let count = leaves.length; count > 1; count = (count + 1) >> 1) {
    for (let i = 0; i + 1 < count; i += 2) mutated ||= sameHash(row, i);
    if (count % 2 === 1) row.copyWithin(HASH_BYTES * count, HASH_BYTES * (count - 1), HASH_BYTES * count);
    hashPairs((count + 1) >> 1);
  }
  return { root: row.slice(0, HASH_BYTES), mutated };
}

function sameHash(row: Uint8Array, i: number): boolean {
  const at = HASH_BYTES * i;
  for (let j = 0; j < HASH_BYTES; j++) if (row[at + j] !== row[at + HASH_BYTES + j]) return false;
  return true;
}

/** What the coinbase would have to commit to: the tree of the witness ids, the coinbase's own counted as zeros, and a salt. */
export function witnessCommitment(block: BitcoinBlock, salt: Uint8Array): Uint8Array {
  const leaves = block.txs.map((tx, i) => (i === 0 ? new Uint8Array(HASH_BYTES) : tx.witnessId));
  const joined = new Uint8Array(2 * HASH_BYTES);
  joined.set(merkleRoot(leaves).root);
  joined.set(salt, HASH_BYTES);
  return sha256d(joined);
}

/**
 * `active`: the rules of BIP141 hold at this height. Before that miners could
 * write anything, a commitment included, but no witness stood in a block.
 */
function verifyWitnesses(block: BitcoinBlock, active: boolean): void {
  const committed = findCommitment(block);
  const hasAny = block.txs.some((tx) => tx.hasWitness);
  if (committed === null) {
    if (hasAny) throw wrong(block, 'it has witnesses and commits to none');
    return;
  }
  if (!active && !hasAny) return;
  const salt = onlyWitnessItem(block.raw, block.txs[0]);
  if (salt === null) throw wrong(block, 'it commits to witnesses, and its coinbase lacks the salt of that: stripped of them?');
  if (!equalBytes(committed, witnessCommitment(block, salt))) throw wrong(block, 'its witnesses are not those it commits to');
}

/** The last output of the coinbase that is one; unspendable, so that it is not among the created. */
function findCommitment({ raw, txs: [coinbase] }: BitcoinBlock): Uint8Array | null {
  const c = new Cursor(raw, coinbase.bodyStart, coinbase.bodyEnd);
  skipInputs(c);
  let found: Uint8Array | null = null;
  for (let count = c.compact(); count > 0; count--) {
    c.take(8);
    const script = c.run();
    if (script.length < COMMITMENT.length + HASH_BYTES || !equalBytes(script.subarray(0, COMMITMENT.length), COMMITMENT)) continue;
    found = script.subarray(COMMITMENT.length, COMMITMENT.length + HASH_BYTES);
  }
  return found;
}

/** The one item of 32 bytes that a coinbase's witness consists of; null when it does not. */
function onlyWitnessItem(raw: Uint8Array, coinbase: BitcoinTx): Uint8Array | null {
  if (!coinbase.hasWitness) return null;
  const c = new Cursor(raw, coinbase.bodyEnd, coinbase.witnessEnd);
  if (c.compact() !== 1) return null;
  const item = c.run();
  return item.length === HASH_BYTES ? item : null;
}

function skipInputs(c: Cursor): void {
  for (let count = c.compact(); count > 0; count--) {
    c.take(HASH_BYTES + 4);
    c.span();
    c.take(4);
  }
}

function verifyHeight(block: BitcoinBlock, since: number): void {
  if (block.height < since) return;
  const said = saidHeight(block.raw);
  if (said !== block.height) throw wrong(block, `its coinbase says ${said === null ? 'no height' : `height ${said}`} (BIP34)`);
}

/** The height at the beginning of the coinbase's script, as the smallest push of a number; null when there is none. */
export function saidHeight(raw: Uint8Array): number | null {
  const c = new Cursor(raw);
  c.take(HEADER_BYTES);
  c.compact();
  c.take(4);
  if (c.left > 1 && raw[c.at] === 0) c.take(2);
  c.compact();
  c.take(HASH_BYTES + 4);
  const script = c.run();
  const [first] = script;
  if (first >= OP_1 && first <= OP_16) return first - OP_1 + 1;
  if (!(first >= 1 && first <= 5) || script.length <= first || (script[first] & 0x80) !== 0) return null;
  let height = 0;
  for (let i = first; i > 0; i--) height = height * 256 + script[i];
  return height;
}

function wrong(block: BitcoinBlock, why: string): UnspentError {
  const hash = formatId(block.hash);
  return new UnspentError('BLOCK_INVALID', `block ${hash} (height ${block.height}) is not sound: ${why}`, { hash, height: block.height });
}
