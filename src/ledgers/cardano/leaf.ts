/**
 * How a Cardano output stands in the tree over the unspent set: the owner is the
 * BLAKE2b-256 of its raw address (Byron's is the whole array), its content the
 * bytes of the output as they stood in the block. They are not brought into the
 * form of a later era, so roots differ from those of services that do.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import { ARRAY, Cursor, MAP } from '../../util/cbor.ts';
import type { OutputLeaf } from '../ledger.ts';

export const cardanoLeaf: OutputLeaf = {
  ownerOf: blake2b256,
  owner(raw, start, end) {
    const c = new Cursor(raw, start, end);
    findAddress(c);
    return blake2b256(raw, c.start, c.stop);
  },
  content: (raw, start, end) => raw.subarray(start, end),
};

/** Leaves the place of the address of an output in `start` and `stop`. */
export function findAddress(c: Cursor): void {
  if (c.peek() !== MAP) {
    c.array();
    addressHere(c);
    return;
  }
  const count = c.map();
  for (let i = 0; c.more(count, i); i++) {
    if (c.uint() === 0) {
      addressHere(c);
      return;
    }
    c.skip();
  }
  c.fail('output without address');
}

/** A Byron address is an array, all others are bytes. */
function addressHere(c: Cursor): void {
  if (c.peek() !== ARRAY) {
    c.span();
    return;
  }
  const from = c.at;
  c.skip();
  c.start = from;
  c.stop = c.at;
}
