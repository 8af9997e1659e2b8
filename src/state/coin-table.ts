/**
 * Coins of a step by outpoint: open addressing over the outpoint's own bytes.
 * A transaction id is a hash already, so four of its bytes place it, and no
 * string is ever made of a key.
 */

import { outpointIndex, TXID_BYTES } from '../ledgers/outpoint.ts';
import type { Coin } from '../projections/coin.ts';
import { readU32 } from '../util/bytes.ts';

const INDEX_SPREAD = 0x9e37_79b1;

export class CoinTable {
  private slots = new Int32Array(256);
  private mask = 255;
  private coins: Coin[] = [];

  /** Forgets everything and makes room for `count` coins; more make it grow. */
  reset(count: number): void {
    let capacity = 256;
    while (capacity < 2 * count) capacity *= 2;
    if (this.slots.length < capacity) this.slots = new Int32Array(capacity);
    else this.slots.fill(0, 0, capacity);
    this.mask = capacity - 1;
    this.coins = [];
  }

  /** The coin whose id stands at `at` in `bytes` and whose output index is `index`. */
  find(bytes: Uint8Array, at: number, index: number): Coin | undefined {
    for (let slot = this.place(bytes, at, index); ; slot = (slot + 1) & this.mask) {
      const found = this.slots[slot];
      if (found === 0) return undefined;
      const coin = this.coins[found - 1];
      if (sameOutpoint(coin, bytes, at, index)) return coin;
    }
  }

  /** Adds a coin that `find` does not find. */
  add(coin: Coin): void {
    // What the ledger itself grants or sweeps is not counted beforehand, and a full table would be searched for ever.
    if (2 * this.coins.length > this.mask) this.grow();
    this.enter(coin, this.coins.push(coin));
  }

  private enter({ keyBytes, keyAt }: Coin, number: number): void {
    let slot = this.place(keyBytes, keyAt, outpointIndex(keyBytes, keyAt));
    while (this.slots[slot] !== 0) slot = (slot + 1) & this.mask;
    this.slots[slot] = number;
  }

  private grow(): void {
    const { coins } = this;
    this.reset(2 * coins.length);
    this.coins = coins;
    for (let i = 0; i < coins.length; i++) this.enter(coins[i], i + 1);
  }

  private place(bytes: Uint8Array, at: number, index: number): number {
    return ((readU32(bytes, at) ^ Math.imul(index, INDEX_SPREAD)) >>> 0) & this.mask;
  }
}

function sameOutpoint(coin: Coin, bytes: Uint8Array, at: number, index: number): boolean {
  const { keyBytes, keyAt } = coin;
  for (let i = 0; i < TXID_BYTES; i++) if (keyBytes[keyAt + i] !== bytes[at + i]) return false;
  return outpointIndex(keyBytes, keyAt) === index;
}
