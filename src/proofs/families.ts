/**
 * What a verifier has to know of each family of chains: how ids are written,
 * how an owner is hashed, and whose an output is, from the bytes that a leaf
 * stands for. It is a table of its own because `proofs/` runs in browsers
 * without the rest; `families/` describes the same families to everybody else.
 *
 * The two families write outputs so differently that bytes of one never read as
 * the other's: an array that begins with an amount is of the Bitcoin family, a
 * map or an array that begins with an address is Cardano's. So a verifier that
 * reads the owner in the output has also seen which family it is of.
 */

import { blake2b256 } from '../crypto/hash.ts';
import { sha256 } from '../crypto/sha256.ts';
import { ARRAY, BYTES, Cursor, MAP } from '../util/cbor.ts';

interface FamilyRules {
  /** People write ids of transactions from the last byte to the first. */
  readonly reversesIds: boolean;
  /** An owner may be named by its hash alone. */
  readonly namesOwnersByHash: boolean;
  hashOwner(address: Uint8Array): Uint8Array;
  /** The raw address or the script of the output at the cursor, which is behind the output afterwards. Throws BLOCK_INVALID. */
  readOwner(c: Cursor): Uint8Array;
}

const RULES = {
  cardano: { reversesIds: false, namesOwnersByHash: false, hashOwner: blake2b256, readOwner: readAddress },
  // Electrum and Esplora clients know an owner by the hash of its script.
  bitcoin: { reversesIds: true, namesOwnersByHash: true, hashOwner: sha256, readOwner: readScript },
} as const satisfies Readonly<Record<string, FamilyRules>>;

/** The name of a family of chains, as it stands in proof documents, snapshots and stores. */
export type FamilyName = keyof typeof RULES;

export const FAMILY_NAMES = Object.keys(RULES) as readonly FamilyName[];

function rulesOf(family: FamilyName): FamilyRules {
  return RULES[family];
}

/** From a raw address (Cardano) or a script (the Bitcoin family) to the hash of the owner, as it stands in the keys of the tree. */
export function ownerHash(family: FamilyName, address: Uint8Array): Uint8Array {
  return rulesOf(family).hashOwner(address);
}

/** Whether a claim may name an owner by its hash without saying what that is a hash of. */
export function namesOwnersByHash(family: FamilyName): boolean {
  return rulesOf(family).namesOwnersByHash;
}

/** From the bytes of an id as the chain has them to the order in which people write them, and back. */
export function writtenOrder(id: Uint8Array, family: FamilyName): Uint8Array {
  return rulesOf(family).reversesIds ? id.toReversed() : id;
}

/** The raw address or the script in an output. Throws BLOCK_INVALID when the bytes are not one output of that family, and nothing else. */
export function addressIn(family: FamilyName, txOut: Uint8Array): Uint8Array {
  const c = new Cursor(txOut);
  const address = rulesOf(family).readOwner(c);
  if (c.at !== txOut.length) c.fail('bytes behind the output');
  return address;
}

/** CDDL: `[value: uint, script: bytes]`. */
function readScript(c: Cursor): Uint8Array {
  c.tuple(2, 'output');
  c.bigUint();
  c.span();
  return c.bytes.subarray(c.start, c.stop);
}

/** CDDL: `{0: address, 1: value, ? 2: datum, ? 3: script}`, before that `[address, value, ? datum]`. */
function readAddress(c: Cursor): Uint8Array {
  const start = c.at;
  const isMap = c.peek() === MAP;
  const count = isMap ? c.map() : c.array();
  for (let i = 0; c.more(count, i); i++) {
    if (!isMap || c.uint() === 0) {
      const address = addressHere(c);
      c.at = start;
      c.skip();
      return address;
    }
    c.skip();
  }
  return c.fail('an output without an address');
}

/** A Byron address is an array of its own, with a checksum; all others are bytes. */
function addressHere(c: Cursor): Uint8Array {
  const at = c.at;
  if (c.peek() === ARRAY) {
    c.skip();
    return c.bytes.subarray(at, c.at);
  }
  if (c.peek() !== BYTES) c.fail('an output that begins with no address', at);
  c.span();
  return c.bytes.subarray(c.start, c.stop);
}
