/**
 * What a leaf of the mountain range hashes, straight from the bytes of a coin:
 * its input as CBOR, then its output as the ledger says (`Ledger.leaf`). The
 * same bytes as `mmr.leafContent`, without joining them.
 */

import { blake2b256Prefixed } from '../../crypto/hash.ts';
import type { OutputLeaf } from '../../ledgers/ledger.ts';
import { OUTPUT_INDEX_MAX, outpointIndex } from '../../ledgers/outpoint.ts';
import { mmr } from '../../proofs/index.ts';
import { txInBytes, writeTxIn } from '../../proofs/utxo.ts';
import { Scratch } from '../../util/scratch.ts';
import { type Coin, outputOffset } from '../coin.ts';

export class LeafHasher {
  private readonly leaf: OutputLeaf;
  private readonly txIn = new Scratch(txInBytes(OUTPUT_INDEX_MAX));

  constructor(leaf: OutputLeaf) {
    this.leaf = leaf;
  }

  content({ keyBytes, keyAt, bytes, at, end }: Coin): Uint8Array {
    const txOut = this.leaf.content(bytes, outputOffset(bytes, at), end);
    const index = outpointIndex(keyBytes, keyAt);
    writeTxIn(this.txIn.bytes, 0, keyBytes, keyAt, index);
    return blake2b256Prefixed(this.txIn.view(txInBytes(index)), txOut, 0, txOut.length);
  }

  leafHash(position: number, coin: Coin): Uint8Array {
    return mmr.INDEXED.leaf(position, this.content(coin));
  }
}
