/**
 * MuHash3072: a hash of a set that does not depend on the order, to which an
 * element can be added and from which it can be taken away again. Each element
 * becomes a number modulo a prime of 3072 bits; the set is the product of those
 * that are in it (Bitcoin Core, crypto/muhash.cpp).
 *
 * What was taken away is gathered below the line and divided out once, so that
 * the value itself, and its bytes, depend on the set alone.
 */

import { UnspentError } from '../util/errors.ts';
import { chacha20 } from './chacha20.ts';
import { inverseOf } from './inverse.ts';
import { sha256 } from './sha256.ts';

const BITS = 3072;
export const MUHASH_BYTES = BITS / 8;
/** The largest safe prime of that many bits is 2^3072 - 1103717. */
const SHORT_OF = 1_103_717n;
const PRIME = (1n << 3072n) - SHORT_OF;

export class MuHash {
  private above = 1n;
  private below = 1n;

  /** From bytes that `toBytes` gave. */
  static from(bytes: Uint8Array): MuHash {
    const set = new MuHash();
    const value = bytes.length === MUHASH_BYTES ? toNumber(bytes) : 0n;
    if (value === 0n || value >= PRIME) throw new UnspentError('STORE_DAMAGED', 'the stored hash of the set is not one');
    set.above = value;
    return set;
  }

  add(element: Uint8Array, start = 0, end = element.length): void {
    this.above = reduced(this.above * numberOf(element, start, end));
  }

  remove(element: Uint8Array, start = 0, end = element.length): void {
    this.below = reduced(this.below * numberOf(element, start, end));
  }

  /** Adds all that is in another set, and removes what was removed from it. */
  combine(other: MuHash): void {
    this.above = reduced(this.above * other.above);
    this.below = reduced(this.below * other.below);
  }

  /** The set as 384 bytes: equal sets have equal bytes. Costs a division (a fifth of a millisecond) when something was removed. */
  toBytes(): Uint8Array {
    if (this.below !== 1n) {
      this.above = reduced(this.above * inverseOf(this.below % PRIME, PRIME, BITS));
      this.below = 1n;
    }
    this.above %= PRIME;
    return fromNumber(this.above);
  }

  /** 32 bytes in the order the hash function gives them; people write them the other way round. */
  digest(): Uint8Array {
    return sha256(this.toBytes());
  }
}

/** Not the least remainder, but less than 2^3072 + 2^43. What stands above 2^3072 counts 1103717 each; twice, as the first sum is still too long. */
function reduced(product: bigint): bigint {
  const once = (product >> 3072n) * SHORT_OF + BigInt.asUintN(BITS, product);
  return (once >> 3072n) * SHORT_OF + BigInt.asUintN(BITS, once);
}

const stream = new Uint8Array(MUHASH_BYTES);

/** SHA-256 of the element is the key of a stream; the first 384 bytes of that are the number, lowest first. */
function numberOf(element: Uint8Array, start: number, end: number): bigint {
  chacha20(sha256(element, start, end), stream);
  return toNumber(stream);
}

/** Text is the fastest way from bytes to a bigint: three times as fast as shifting words together. */
const digits = new Uint8Array(2 + 2 * MUHASH_BYTES).fill(0x30);
digits[1] = 0x78;
const HEX_DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const ascii = new TextDecoder();

function toNumber(bytes: Uint8Array): bigint {
  for (let i = 0, at = digits.length - 2; i < MUHASH_BYTES; i++, at -= 2) {
    digits[at] = HEX_DIGITS[bytes[i] >> 4];
    digits[at + 1] = HEX_DIGITS[bytes[i] & 15];
  }
  return BigInt(ascii.decode(digits));
}

function fromNumber(value: bigint): Uint8Array {
  const bytes = new Uint8Array(MUHASH_BYTES);
  const text = value.toString(16).padStart(2 * MUHASH_BYTES, '0');
  for (let i = 0; i < MUHASH_BYTES; i++) bytes[MUHASH_BYTES - 1 - i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
