/**
 * How an output of the Bitcoin family stands in the tree over the unspent set:
 * the owner is the SHA-256 of its script (what Electrum and Esplora call the
 * script hash), its content the CBOR `[value, script]`. The bytes of a block
 * would not do: the content must begin as no branch of the tree can.
 */

import { sha256 } from '../../crypto/sha256.ts';
import { CborWriter } from '../../util/cbor-write.ts';
import type { OutputLeaf } from '../ledger.ts';
import { Cursor } from './cursor.ts';

const VALUE_BYTES = 8;
const HEADS_BYTES_MAX = 16;
const TWO_32 = 0x1_0000_0000;

export const bitcoinLeaf: OutputLeaf = {
  ownerOf: sha256,
  owner(raw, start, end) {
    const c = new Cursor(raw, start + VALUE_BYTES, end);
    c.span();
    return sha256(raw, c.start, c.stop);
  },
  content(raw, start, end) {
    const c = new Cursor(raw, start, end);
    c.u64();
    const value = c.hi * TWO_32 + c.lo;
    const script = c.run();
    // No coin has 2^53 of its smallest part, but a regtest block may say so.
    const writer = new CborWriter(HEADS_BYTES_MAX + script.length).array(2);
    if (Number.isSafeInteger(value)) writer.uint(value);
    else writer.bigUint((BigInt(c.hi) << 32n) | BigInt(c.lo));
    return writer.bytes(script).take();
  },
};
