/**
 * Writes CBOR (RFC 8949) into one growing buffer. Heads are always the shortest
 * there are, so that definite items in key order come out canonical (4.2.1);
 * order of map keys and use of indefinite lengths are the caller's choice.
 *
 * Calls chain: `w.array(2).uint(1).bytes(hash)`. Counts are not checked here.
 */
import { writeU16, writeU32, writeU64 } from './bytes.ts';
import { ARRAY, BYTES, MAP, NEGINT, TAG, TEXT, UINT } from './cbor.ts';
import { assert } from './errors.ts';
import { room } from './slab.ts';

const TAG_BIG_POSITIVE = 2;
const TAG_BIG_NEGATIVE = 3;
const TAG_ENCODED_CBOR = 24;
const HEAD_BYTES_MAX = 9;
const TWO_64 = 1n << 64n;

export class CborWriter {
  private buffer: Uint8Array;
  private at = 0;

  constructor(capacityBytes = 256) {
    this.buffer = room(capacityBytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.at;
  }

  /** What was written, for the caller to keep; the writer is then empty and goes on in the room behind it. */
  take(): Uint8Array {
    const out = this.buffer.subarray(0, this.at);
    this.buffer = this.buffer.subarray(this.at);
    this.at = 0;
    return out;
  }

  uint(value: number): this {
    assert(Number.isSafeInteger(value) && value >= 0, 'an unsigned integer');
    return this.head(UINT, value);
  }

  /** Of any size: above 64 bits it becomes a big number (tag 2). */
  bigUint(value: bigint): this {
    assert(value >= 0n, 'an unsigned integer');
    if (value <= Number.MAX_SAFE_INTEGER) return this.head(UINT, Number(value));
    if (value < TWO_64) return this.bigHead(UINT, value);
    return this.tag(TAG_BIG_POSITIVE).bytes(bigBytes(value));
  }

  negative(value: number | bigint): this {
    const argument = -1n - BigInt(value);
    assert(argument >= 0n, 'a negative integer');
    if (argument <= Number.MAX_SAFE_INTEGER) return this.head(NEGINT, Number(argument));
    if (argument < TWO_64) return this.bigHead(NEGINT, argument);
    return this.tag(TAG_BIG_NEGATIVE).bytes(bigBytes(argument));
  }

  int(value: bigint): this {
    return value < 0n ? this.negative(value) : this.bigUint(value);
  }

  bytes(value: Uint8Array): this {
    return this.head(BYTES, value.length).raw(value);
  }

  text(value: string): this {
    const encoded = new TextEncoder().encode(value);
    return this.head(TEXT, encoded.length).raw(encoded);
  }

  array(count: number): this {
    return this.head(ARRAY, count);
  }

  map(pairs: number): this {
    return this.head(MAP, pairs);
  }

  tag(tag: number): this {
    return this.head(TAG, tag);
  }

  /** CBOR inside CBOR: a byte string under tag 24. */
  encoded(content: Uint8Array): this {
    return this.tag(TAG_ENCODED_CBOR).bytes(content);
  }

  null(): this {
    return this.byte(0xf6);
  }

  bool(value: boolean): this {
    return this.byte(value ? 0xf5 : 0xf4);
  }

  /** Bytes that are CBOR already, as they are. */
  raw(cbor: Uint8Array): this {
    this.reserve(cbor.length);
    this.buffer.set(cbor, this.at);
    this.at += cbor.length;
    return this;
  }

  /** Containers and strings of indefinite length; `end` closes the innermost. */
  startArray(): this {
    return this.byte((ARRAY << 5) | 31);
  }

  startMap(): this {
    return this.byte((MAP << 5) | 31);
  }

  startBytes(): this {
    return this.byte((BYTES << 5) | 31);
  }

  end(): this {
    return this.byte(0xff);
  }

  private byte(value: number): this {
    this.reserve(1);
    this.buffer[this.at++] = value;
    return this;
  }

  private head(major: number, argument: number): this {
    this.reserve(HEAD_BYTES_MAX);
    const { buffer } = this;
    const at = this.at;
    const first = major << 5;
    if (argument < 24) {
      buffer[at] = first | argument;
      this.at = at + 1;
    } else if (argument < 0x100) {
      buffer[at] = first | 24;
      buffer[at + 1] = argument;
      this.at = at + 2;
    } else if (argument < 0x1_0000) {
      buffer[at] = first | 25;
      writeU16(buffer, at + 1, argument);
      this.at = at + 3;
    } else if (argument < 0x1_0000_0000) {
      buffer[at] = first | 26;
      writeU32(buffer, at + 1, argument);
      this.at = at + 5;
    } else {
      buffer[at] = first | 27;
      writeU64(buffer, at + 1, argument);
      this.at = at + HEAD_BYTES_MAX;
    }
    return this;
  }

  /** A head whose argument is above 2^53. */
  private bigHead(major: number, argument: bigint): this {
    this.reserve(HEAD_BYTES_MAX);
    this.buffer[this.at] = (major << 5) | 27;
    writeU32(this.buffer, this.at + 1, Number(argument >> 32n));
    writeU32(this.buffer, this.at + 5, Number(argument & 0xffff_ffffn));
    this.at += HEAD_BYTES_MAX;
    return this;
  }

  private reserve(bytes: number): void {
    const needed = this.at + bytes;
    if (needed <= this.buffer.length) return;
    const grown = room(Math.max(needed, 2 * this.buffer.length));
    grown.set(this.buffer.subarray(0, this.at));
    this.buffer = grown;
  }
}

function bigBytes(value: bigint): Uint8Array {
  const hex = value.toString(16);
  const out = new Uint8Array(Math.ceil(hex.length / 2));
  for (let i = out.length - 1, rest = value; i >= 0; i--, rest >>= 8n) out[i] = Number(rest & 0xffn);
  return out;
}
