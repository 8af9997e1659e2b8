/**
 * Whose an output is, from the bytes that a leaf stands for. The two families
 * write outputs so differently that bytes of one never read as the other's: an
 * array that begins with an amount is of the Bitcoin family, a map or an array
 * that begins with an address is Cardano's. So a verifier that reads the owner
 * in the output has also seen which family it is of.
 */

import { blake2b256 } from '../crypto/hash.ts';
import { sha256 } from '../crypto/sha256.ts';
import { ARRAY, BYTES, Cursor, MAP } from '../util/cbor.ts';

export type Family = 'cardano' | 'bitcoin';

/** From a raw address (Cardano) or a script (the Bitcoin family) to the hash of the owner, as it stands in the keys of the tree. */
export function ownerHash(family: Family, address: Uint8Array): Uint8Array {
  return family === 'bitcoin' ? sha256(address) : blake2b256(address);
}

/** The raw address or the script in an output. Throws BLOCK_INVALID when the bytes are not one output of that family, and nothing else. */
export function addressIn(family: Family, txOut: Uint8Array): Uint8Array {
  const c = new Cursor(txOut);
  const address = family === 'bitcoin' ? scriptOf(c) : addressOf(c);
  if (c.at !== txOut.length) c.fail('bytes behind the output');
  return address;
}

/** CDDL: `[value: uint, script: bytes]`. */
function scriptOf(c: Cursor): Uint8Array {
  c.tuple(2, 'output');
  c.bigUint();
  c.span();
  return c.bytes.subarray(c.start, c.stop);
}

/** CDDL: `{0: address, 1: value, ? 2: datum, ? 3: script}`, before that `[address, value, ? datum]`. */
function addressOf(c: Cursor): Uint8Array {
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
