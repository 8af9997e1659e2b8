/**
 * The trees once more, as plainly as the specification says them: from a whole
 * set to a root, on text of digits, sharing nothing with the sources but the
 * hash. What the sources do step by step must end where this ends.
 */

import { blake2b256 } from '../../src/crypto/hash.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';

const H = (...parts: readonly Uint8Array[]): Uint8Array => blake2b256(concatBytes(...parts));
const u16 = (value: number): Uint8Array => Uint8Array.of(value >> 8, value & 0xff);
const u64 = (value: number): Uint8Array => fromHex(value.toString(16).padStart(16, '0'));

type Entries = ReadonlyMap<string, Uint8Array>;

function commonPrefix(words: readonly string[]): string {
  let length = 0;
  while (words.every((word) => word.length > length && word[length] === words[0][length])) length++;
  return words[0].slice(0, length);
}

function below(entries: Entries, prefix: string): Map<string, Uint8Array> {
  return new Map([...entries].filter(([key]) => key.startsWith(prefix)).map(([key, value]) => [key.slice(prefix.length), value]));
}

function packBits(text: string): Uint8Array {
  return Uint8Array.from(text.match(/.{1,8}/g) ?? [], (part) => Number.parseInt(part.padEnd(8, '0'), 2));
}

interface Reference {
  readonly jump: string;
  readonly value: Uint8Array;
}

export function serialize({ jump, value }: Reference): Uint8Array {
  return concatBytes(u16(jump.length), packBits(jump), u16(value.length), value);
}

function csmtNode(entries: Entries): Reference {
  const [[key, value]] = entries;
  if (entries.size === 1) return { jump: key, value };
  const jump = commonPrefix([...entries.keys()]);
  const [left, right] = ['0', '1'].map((bit) => csmtNode(below(entries, jump + bit)));
  return { jump, value: H(serialize(left), serialize(right)) };
}

/** Keys as text of zeros and ones. */
export function csmtRoot(entries: Entries): string | null {
  return entries.size === 0 ? null : toHex(H(serialize(csmtNode(entries))));
}

const NULL = new Uint8Array(32);
const raw = (nibbles: string): Uint8Array => Uint8Array.from(nibbles, (digit) => Number.parseInt(digit, 16));

function mpfNode(entries: Entries): Uint8Array {
  const [[suffix, value]] = entries;
  if (entries.size === 1) {
    return suffix.length % 2 === 0
      ? H(Uint8Array.of(0xff), fromHex(suffix), value)
      : H(Uint8Array.of(0), raw(suffix[0]), fromHex(suffix.slice(1)), value);
  }
  const prefix = commonPrefix([...entries.keys()]);
  let level = [...'0123456789abcdef'].map((digit) => {
    const part = below(entries, prefix + digit);
    return part.size === 0 ? NULL : mpfNode(part);
  });
  while (level.length > 1) level = Array.from({ length: level.length / 2 }, (_, i) => H(level[2 * i], level[2 * i + 1]));
  return H(raw(prefix), level[0]);
}

/** Keys and values as they are, keys in hex. */
export function mpfRoot(entries: Entries): string {
  return mpfRootOfPaths(new Map([...entries].map(([key, value]) => [toHex(blake2b256(fromHex(key))), blake2b256(value)])));
}

/** Paths of 64 hex digits and hashes of values. */
export function mpfRootOfPaths(entries: Entries): string {
  return toHex(entries.size === 0 ? NULL : mpfNode(entries));
}

/** Builds the range recursively: a perfect mountain over the largest power of two, then the rest. */
export function mmrRoot(contents: readonly Uint8Array[]): string {
  const peaks: Uint8Array[] = [];
  let position = 0;
  const mountain = (leaves: readonly Uint8Array[]): Uint8Array => {
    if (leaves.length === 1) return H(u64(position++), leaves[0]);
    const left = mountain(leaves.slice(0, leaves.length / 2));
    const right = mountain(leaves.slice(leaves.length / 2));
    return H(u64(position++), left, right);
  };
  for (let rest = contents; rest.length > 0; ) {
    const width = 2 ** Math.floor(Math.log2(rest.length));
    peaks.push(mountain(rest.slice(0, width)));
    rest = rest.slice(width);
  }
  if (peaks.length === 0) return toHex(NULL);
  return toHex(peaks.reduceRight((right, peak) => H(u64(position), peak, right)));
}

export function bitmapRoot(leaves: Iterable<number>): string {
  const chunks: Uint8Array[] = [];
  for (const leaf of leaves) {
    while (chunks.length <= leaf >> 10) chunks.push(new Uint8Array(128));
    chunks[leaf >> 10][(leaf & 1023) >> 3] |= 0x80 >> (leaf & 7);
  }
  return mmrRoot(chunks);
}

export function mergedRoot(contents: readonly Uint8Array[], unspent: Iterable<number>): string {
  const size = 2 * contents.length - contents.length.toString(2).replaceAll('0', '').length;
  return toHex(H(u64(size), fromHex(mmrRoot(contents)), fromHex(bitmapRoot(unspent))));
}
