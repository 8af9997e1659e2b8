/**
 * What a set of outputs adds up to, taken one by one in the order of their
 * keys: how many, their value, the digest, the hash of the set, the greatest
 * height. An export writes it into the manifest; an import computes it again
 * and compares.
 */
import type { Ledger, SetHashUpdate } from '../ledgers/ledger.ts';
import { AT, type Coin } from '../projections/coin.ts';
import { memberOf } from '../projections/set-hash/set-hash.ts';
import { type Digest, DigestSum } from '../query/digest.ts';
import { readU32 } from '../util/bytes.ts';

export class SetSum {
  private readonly ledger: Pick<Ledger, 'setHash'>;
  private readonly digest = new DigestSum();
  private readonly set: SetHashUpdate | null;
  /** Of the blocks that made them; -1: there are none. */
  newest = -1;

  /** `hashed` false: the hash of the set, which costs most of it, is computed elsewhere. */
  constructor(ledger: Pick<Ledger, 'setHash'>, hashed = true) {
    this.ledger = ledger;
    this.set = hashed ? ledger.setHash.from(null) : null;
  }

  get rows(): number {
    return this.digest.utxos;
  }

  add(coin: Coin): void {
    this.digest.add(coin.keyBytes, coin.keyAt, coin.bytes, coin.at);
    this.set?.add(memberOf(coin));
    this.newest = Math.max(this.newest, readU32(coin.bytes, coin.at + AT.height));
  }

  end(): Digest & { readonly setHash: string | null } {
    const setHash = this.set === null ? null : this.ledger.setHash.summary(this.set.state()).hash;
    return { ...this.digest.end(), setHash };
  }
}
