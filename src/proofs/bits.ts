/**
 * Strings of bits: the paths of the trees. Packed eight to a byte, first bit on
 * top, unused bits of the last byte zero, so that equal strings have equal
 * bytes. Both radix trees use them: one takes a bit at a time, the other four.
 */
import { compareBytes } from '../util/bytes.ts';

/** A string of bits, the first one the highest of its byte. */
export interface Bits {
  /** The bits, with zeros behind the last. */
  readonly bytes: Uint8Array;
  /** Number of bits. */
  readonly length: number;
}

export const NO_BITS: Bits = { bytes: new Uint8Array(0), length: 0 };

/** All bits of these bytes (not copied). */
export function bitsOf(bytes: Uint8Array): Bits {
  return { bytes, length: 8 * bytes.length };
}

/** True when it is what it should be: the right number of bytes, and nothing in the unused bits. */
export function isBits(bits: Bits, lengthMax: number): boolean {
  const { bytes, length } = bits;
  if (!Number.isInteger(length) || length < 0 || length > lengthMax) return false;
  if (!(bytes instanceof Uint8Array) || bytes.length !== Math.ceil(length / 8)) return false;
  return length % 8 === 0 || (bytes[bytes.length - 1] & (0xff >> (length % 8))) === 0;
}

/** The bit at that place, 0 or 1. */
export function bitAt(bits: Bits, i: number): number {
  return (bits.bytes[i >> 3] >> (7 - (i & 7))) & 1;
}

/** The `width` bits at `at` as a number; they must not cross a byte. */
export function digitAt(bytes: Uint8Array, at: number, width: number): number {
  return (bytes[at >> 3] >> (8 - width - (at & 7))) & ((1 << width) - 1);
}

/** Eight bits from any place; zeros behind the end. */
function windowAt(bytes: Uint8Array, at: number): number {
  const i = at >> 3;
  const shift = at & 7;
  const first = i < bytes.length ? bytes[i] : 0;
  if (shift === 0) return first;
  const second = i + 1 < bytes.length ? bytes[i + 1] : 0;
  return (((first << 8) | second) >> (8 - shift)) & 0xff;
}

/** Writes `count` bits into bytes that are zero there. */
export function copyBits(from: Uint8Array, at: number, to: Uint8Array, toAt: number, count: number): void {
  for (let done = 0; done < count; done += 8) {
    const left = count - done;
    const taken = left < 8 ? windowAt(from, at + done) & (0xff00 >> left) & 0xff : windowAt(from, at + done);
    const i = (toAt + done) >> 3;
    const shift = (toAt + done) & 7;
    to[i] |= taken >> shift;
    if (shift > 0 && left > 8 - shift) to[i + 1] |= (taken << (8 - shift)) & 0xff;
  }
}

/** The bits from one place to before another. */
export function sliceBits(bits: Bits, from: number, to = bits.length): Bits {
  return takeBits(bits.bytes, from, to - from);
}

/** `length` bits of these bytes from `from` on. */
export function takeBits(from: Uint8Array, at: number, length: number): Bits {
  if (length <= 0) return NO_BITS;
  const bytes = new Uint8Array((length + 7) >> 3);
  copyBits(from, at, bytes, 0, length);
  return { bytes, length };
}

/** `a`, then a digit of `width` bits, then `count` bits of `b` from `from` on. */
export function joinBits(a: Bits, digit: number, width: number, b: Uint8Array, from: number, count: number): Bits {
  const length = a.length + width + count;
  const bytes = new Uint8Array((length + 7) >> 3);
  bytes.set(a.bytes);
  // A digit stands at a multiple of its width, so it does not cross a byte.
  bytes[a.length >> 3] |= digit << (8 - width - (a.length & 7));
  copyBits(b, from, bytes, a.length + width, count);
  return { bytes, length };
}

/** One behind the other. */
export function concatBits(a: Bits, b: Bits): Bits {
  const length = a.length + b.length;
  const bytes = new Uint8Array((length + 7) >> 3);
  bytes.set(a.bytes);
  copyBits(b.bytes, 0, bytes, a.length, b.length);
  return { bytes, length };
}

/** How many bits `a` from `aFrom` on and `b` from `bFrom` on have in common. */
export function commonBits(a: Bits, aFrom: number, b: Bits, bFrom: number): number {
  return commonRun(a.bytes, aFrom, b.bytes, bFrom, Math.min(a.length - aFrom, b.length - bFrom));
}

/** The same for at most `most` bits of bytes. */
export function commonRun(a: Uint8Array, aFrom: number, b: Uint8Array, bFrom: number, most: number): number {
  for (let i = 0; i < most; i += 8) {
    const difference = windowAt(a, aFrom + i) ^ windowAt(b, bFrom + i);
    if (difference !== 0) return Math.min(most, i + Math.clz32(difference) - 24);
  }
  return Math.max(most, 0);
}

/** Whether the bits begin with these. */
export function startsWith(bits: Bits, prefix: Bits): boolean {
  return commonBits(bits, 0, prefix, 0) === prefix.length;
}

/** Whether they are the same bits. */
export function equalBits(a: Bits, b: Bits): boolean {
  return a.length === b.length && commonBits(a, 0, b, 0) === a.length;
}

/** The order of a walk from left to right; a prefix comes before what it begins. */
export function compareBits(a: Bits, b: Bits): number {
  return compareBytes(a.bytes, b.bytes) || a.length - b.length;
}

/** From text of zeros and ones; null when there is anything else in it. */
export function bitsFromText(text: string): Bits | null {
  if (!/^[01]*$/.test(text)) return null;
  const bytes = new Uint8Array(Math.ceil(text.length / 8));
  for (let i = 0; i < text.length; i++) if (text[i] === '1') bytes[i >> 3] |= 0x80 >> (i & 7);
  return { bytes, length: text.length };
}

/** The bits as text of `0` and `1`. */
export function bitsToText(bits: Bits): string {
  let text = '';
  for (let i = 0; i < bits.length; i++) text += bitAt(bits, i);
  return text;
}
