/**
 * What a leaf of the mountain range hashes, straight from the bytes of a coin:
 * its input as CBOR, then its output as the ledger says (`Ledger.leaf`). The
 * same bytes as `mmr.leafContent`, without joining them.
 */
import type { OutputLeaf } from '../ledgers/ledger.ts';
import { mmr } from '../proofs/index.ts';
import { copyBytes, readU16, writeU16 } from '../util/bytes.ts';
import { blake2b256Prefixed } from '../util/hash.ts';
import { Scratch } from '../util/scratch.ts';
import { type Coin, outputOffset, TXID_BYTES } from './coin.ts';

/** `[id, index]`: array of two, bytes of 32. */
const HEAD = Uint8Array.of(0x82, 0x58, 0x20);
const INDEX_AT = HEAD.length + TXID_BYTES;

export class LeafHasher {
  private readonly leaf: OutputLeaf;
  private readonly txIn = new Scratch(INDEX_AT + 3);

  constructor(leaf: OutputLeaf) {
    this.leaf = leaf;
    this.txIn.bytes.set(HEAD);
  }

  content({ keyBytes, keyAt, bytes, at, end }: Coin): Uint8Array {
    const txOut = this.leaf.content(bytes, outputOffset(bytes, at), end);
    return blake2b256Prefixed(this.encode(keyBytes, keyAt), txOut, 0, txOut.length);
  }

  leafHash(position: number, coin: Coin): Uint8Array {
    return mmr.INDEXED.leaf(position, this.content(coin));
  }

  private encode(keyBytes: Uint8Array, keyAt: number): Uint8Array {
    const { bytes } = this.txIn;
    copyBytes(keyBytes, keyAt, bytes, HEAD.length, TXID_BYTES);
    const index = readU16(keyBytes, keyAt + TXID_BYTES);
    if (index < 24) {
      bytes[INDEX_AT] = index;
      return this.txIn.view(INDEX_AT + 1);
    }
    if (index < 256) {
      bytes[INDEX_AT] = 0x18;
      bytes[INDEX_AT + 1] = index;
      return this.txIn.view(INDEX_AT + 2);
    }
    bytes[INDEX_AT] = 0x19;
    writeU16(bytes, INDEX_AT + 1, index);
    return this.txIn.view(INDEX_AT + 3);
  }
}
