/**
 * Bytes: hex at the edges, integers (big-endian, unless the name says otherwise)
 * and comparison inside.
 * No node:* here, so that ledgers and proofs run in a browser too.
 */
import { UnspentError } from './errors.ts';

/** The digit of each value from 0 to 15, and the value of each digit, by character code. */
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
const VALUES = new Uint8Array(128);
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  VALUES[digit.charCodeAt(0)] = value;
  VALUES[digit.toUpperCase().charCodeAt(0)] = value;
}
const ascii = new TextDecoder();
/** Digits are written here where they fit. */
const scratch = new Uint8Array(4096);

type TextOf = (this: Uint8Array, start: number, end: number) => string;
/** Of a Buffer, and as good for other bytes: take two thirds of the time. A browser has none. */
const { hexSlice, latin1Slice } =
  (globalThis as { readonly Buffer?: { readonly prototype: { readonly hexSlice?: TextOf; readonly latin1Slice?: TextOf } } }).Buffer
    ?.prototype ?? {};

export function toHex(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return hexSlice === undefined ? decodedHex(bytes, start, end) : hexSlice.call(bytes, start, end);
}

/** Of characters below 128. */
export function asciiText(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return latin1Slice === undefined ? ascii.decode(bytes.subarray(start, end)) : latin1Slice.call(bytes, start, end);
}

/** Decoded as one text: characters that are joined one by one become a rope, which takes up to eight times as long when it is read. */
export function decodedHex(bytes: Uint8Array, start: number, end: number): string {
  const count = 2 * (end - start);
  const digits = count <= scratch.length ? scratch : new Uint8Array(count);
  let at = 0;
  for (let i = start; i < end; i++) {
    digits[at++] = DIGITS[bytes[i] >> 4];
    digits[at++] = DIGITS[bytes[i] & 15];
  }
  return ascii.decode(digits.subarray(0, at));
}

export function isHex(text: string, byteLength?: number): boolean {
  return text.length % 2 === 0 && /^[0-9a-fA-F]*$/.test(text) && (byteLength === undefined || text.length === 2 * byteLength);
}

export function fromHex(text: string, byteLength?: number): Uint8Array {
  if (!isHex(text, byteLength)) {
    const wanted = byteLength === undefined ? 'hex' : `${byteLength} bytes of hex (${2 * byteLength} digits)`;
    throw new UnspentError('USAGE', `expected ${wanted}, got '${text.slice(0, 80)}'`);
  }
  const out = new Uint8Array(text.length / 2);
  for (let i = 0; i < out.length; i++) out[i] = (VALUES[text.charCodeAt(2 * i)] << 4) | VALUES[text.charCodeAt(2 * i + 1)];
  return out;
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function hasPrefix(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && equalBytes(bytes.subarray(0, prefix.length), prefix);
}

/** Unsigned byte order, shorter first on a tie: the order of every engine. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Copies a short run. A loop beats `set(subarray)` below a few hundred bytes: it makes no view. */
export function copyBytes(from: Uint8Array, start: number, to: Uint8Array, at: number, length: number): void {
  for (let i = 0; i < length; i++) to[at + i] = from[start + i];
}

export function readU16(bytes: Uint8Array, at: number): number {
  return (bytes[at] << 8) | bytes[at + 1];
}

export function readU32(bytes: Uint8Array, at: number): number {
  return ((bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]) >>> 0;
}

/** A u64 that is known to fit a JavaScript integer: slots, heights, lengths. */
export function readU64(bytes: Uint8Array, at: number): number {
  return readU32(bytes, at) * 0x1_0000_0000 + readU32(bytes, at + 4);
}

export function readBigU64(bytes: Uint8Array, at: number): bigint {
  return (BigInt(readU32(bytes, at)) << 32n) | BigInt(readU32(bytes, at + 4));
}

export function writeU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

export function writeU64(bytes: Uint8Array, at: number, value: number): void {
  writeU32(bytes, at, Math.floor(value / 0x1_0000_0000));
  writeU32(bytes, at + 4, value >>> 0);
}

/** Almost all amounts are safe integers, whose halves a number gives sooner than a bigint. */
const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

export function writeBigU64(bytes: Uint8Array, at: number, value: bigint): void {
  if (value >= 0n && value <= SAFE_MAX) {
    writeU64(bytes, at, Number(value));
    return;
  }
  writeU32(bytes, at, Number((value >> 32n) & 0xffff_ffffn));
  writeU32(bytes, at + 4, Number(value & 0xffff_ffffn));
}

export function readU32LE(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

export function writeU32LE(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
