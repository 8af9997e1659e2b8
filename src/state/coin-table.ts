/**
 * Coins of a step by outpoint: open addressing over the outpoint's own bytes.
 * A transaction id is a hash already, so four of its bytes place it, and no
 * string is ever made of a key.
 */

import { outpointIndex, TXID_BYTES } from '../ledgers/outpoint.ts';
import type { Coin } from '../projections/coin.ts';
import { readU32 } from '../util/bytes.ts';

const INDEX_SPREAD = 0x9e37_79b1;

/** Of a place: the number of its coin, counted from one (0: it is free), and what was made of its outpoint. */
const PLACE_NUMBERS = 2;
const PLACES_MIN = 256;

export class CoinTable {
  private places = new Int32Array(PLACE_NUMBERS * PLACES_MIN);
  private mask = PLACES_MIN - 1;
  private coins: Coin[] = [];

  /** Forgets everything. There is room for as many coins as there were; more make it grow. */
  reset(): void {
    // It is empty, and has the room of the time before.
    if (this.coins.length === 0) return;
    this.makeRoom(this.coins.length);
  }

  /** Forgets everything and makes room for so many coins. */
  makeRoom(count: number): void {
    this.resize(2 * count);
    this.coins = [];
  }

  /** The coin whose id stands at `at` in `bytes` and whose output index is `index`. */
  find(bytes: Uint8Array, at: number, index: number): Coin | undefined {
    const { places, mask } = this;
    const spread = spreadOf(bytes, at, index);
    for (let place = spread & mask; ; place = (place + 1) & mask) {
      const number = places[PLACE_NUMBERS * place];
      if (number === 0) return undefined;
      // Most others are told apart here, without looking at a coin, which no cache has.
      if (places[PLACE_NUMBERS * place + 1] !== spread) continue;
      const coin = this.coins[number - 1];
      if (sameOutpoint(coin, bytes, at, index)) return coin;
    }
  }

  /** Adds a coin that `find` does not find. */
  add(coin: Coin): void {
    // A full table would be searched for ever.
    if (2 * this.coins.length > this.mask) this.grow();
    const { keyBytes, keyAt } = coin;
    this.enter(spreadOf(keyBytes, keyAt, outpointIndex(keyBytes, keyAt)), this.coins.push(coin));
  }

  private enter(spread: number, number: number): void {
    const { places, mask } = this;
    let place = spread & mask;
    while (places[PLACE_NUMBERS * place] !== 0) place = (place + 1) & mask;
    places[PLACE_NUMBERS * place] = number;
    places[PLACE_NUMBERS * place + 1] = spread;
  }

  private grow(): void {
    const before = this.places;
    this.resize(2 * this.mask + 2);
    for (let i = 0; i < before.length; i += PLACE_NUMBERS) if (before[i] !== 0) this.enter(before[i + 1], before[i]);
  }

  /** Empty, with at least so many places. */
  private resize(least: number): void {
    let capacity = PLACES_MIN;
    while (capacity < least) capacity *= 2;
    if (capacity === this.mask + 1) this.places.fill(0);
    else this.places = new Int32Array(PLACE_NUMBERS * capacity);
    this.mask = capacity - 1;
  }
}

/** 32 bits, signed. */
function spreadOf(bytes: Uint8Array, at: number, index: number): number {
  return readU32(bytes, at) ^ Math.imul(index, INDEX_SPREAD);
}

function sameOutpoint(coin: Coin, bytes: Uint8Array, at: number, index: number): boolean {
  const { keyBytes, keyAt } = coin;
  for (let i = 0; i < TXID_BYTES; i++) if (keyBytes[keyAt + i] !== bytes[at + i]) return false;
  return outpointIndex(keyBytes, keyAt) === index;
}
