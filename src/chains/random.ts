/**
 * A small seeded generator (sfc32, by Chris Doty-Humphrey, public domain): the
 * same seed gives the same devnet on every machine. Not for secrets.
 */
import { assert } from '../util/errors.ts';

export class Random {
  private a: number;
  private b: number;
  private c: number;
  private d = 1;

  constructor(seed: number, stream = 0) {
    this.a = mix32(seed, 0x9e37_79b9);
    this.b = mix32(seed, 0x85eb_ca6b) ^ Math.floor(seed / 0x1_0000_0000);
    this.c = mix32(stream, this.a);
    for (let i = 0; i < 12; i++) this.next();
  }

  /** 32 random bits. */
  next(): number {
    const t = (this.a + this.b + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = ((this.c << 21) | (this.c >>> 11)) + t;
    return t >>> 0;
  }

  /** 0 <= result < n. The bias of the remainder is far below what a devnet would notice. */
  int(n: number): number {
    assert(n > 0 && n <= 0x1_0000_0000, 'a bound of 1 to 2^32');
    return this.next() % n;
  }

  /** 0 <= result < n, for amounts. */
  big(n: bigint): bigint {
    return ((BigInt(this.next()) << 32n) | BigInt(this.next())) % n;
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.next() < probability * 0x1_0000_0000;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(items.length)];
  }

  /** A name from a table of weights; a weight of 0 is never chosen. */
  weighted<K extends string>(weights: readonly (readonly [K, number])[]): K {
    let total = 0;
    for (const [, weight] of weights) total += weight;
    assert(total > 0, 'at least one weight above 0');
    let rest = (this.next() / 0x1_0000_0000) * total;
    for (const [name, weight] of weights) {
      rest -= weight;
      if (rest < 0) return name;
    }
    return weights[weights.length - 1][0];
  }

  bytes(n: number): Uint8Array {
    const out = new Uint8Array(n);
    for (let i = 0; i < n; ) {
      let word = this.next();
      for (let k = 0; k < 4 && i < n; k++, word >>>= 8) out[i++] = word;
    }
    return out;
  }

  shuffle<T>(items: T[]): void {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.int(i + 1);
      [items[i], items[j]] = [items[j], items[i]];
    }
  }
}

/** Two numbers to 32 well-spread bits (the finaliser of murmur3). */
export function mix32(a: number, b: number): number {
  let h = Math.imul(a ^ 0x2545_f491, 0xcc9e_2d51) ^ Math.imul(b | 0, 0x1b87_3593);
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
