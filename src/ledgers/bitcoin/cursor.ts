/**
 * A cursor over the bytes of a block or a transaction as this family writes
 * them: little-endian numbers, compact sizes, runs. Every read is checked
 * against the end and every count against the bytes left, so that damaged bytes
 * end in BLOCK_INVALID with the position, never in a hang or in much memory.
 */
import { readU32LE, writeU32LE } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';

export class Cursor {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;
  /** The run that `span` passed last, and the halves that `u64` read last. */
  start = 0;
  stop = 0;
  hi = 0;
  lo = 0;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get left(): number {
    return this.end - this.at;
  }

  u8(): number {
    if (this.at >= this.end) this.fail('the bytes end here');
    return this.bytes[this.at++];
  }

  u16(): number {
    const at = this.take(2);
    return this.bytes[at] | (this.bytes[at + 1] << 8);
  }

  u32(): number {
    return readU32LE(this.bytes, this.take(4));
  }

  /** Leaves the number in `hi` and `lo`. */
  u64(): void {
    const at = this.take(8);
    this.lo = readU32LE(this.bytes, at);
    this.hi = readU32LE(this.bytes, at + 4);
  }

  /** A count or a length: one byte, or a mark and two, four or eight. Only the shortest form is allowed, as nodes do. */
  compact(): number {
    const from = this.at;
    const first = this.u8();
    if (first < 0xfd) return first;
    if (first === 0xfd) return this.atLeast(0xfd, this.u16(), from);
    if (first === 0xfe) return this.atLeast(0x1_0000, this.u32(), from);
    this.u64();
    // More than any block has, and so more than a number here need hold.
    if (this.hi > 0x1f_ffff) this.fail('a compact size above 2^53', from);
    return this.atLeast(0x1_0000_0000, this.hi * 0x1_0000_0000 + this.lo, from);
  }

  private atLeast(least: number, value: number, from: number): number {
    if (value < least) this.fail('a compact size that is longer than it need be', from);
    return value;
  }

  /** A number of things that take at least `bytesEach` each: no more of them than fit in what is left. */
  count(bytesEach: number, what: string): number {
    const from = this.at;
    const count = this.compact();
    if (count * bytesEach > this.left) this.fail(`${count} ${what} do not fit in the ${this.left} bytes left`, from);
    return count;
  }

  /** Passes over so many bytes; returns where they begin. */
  take(length: number): number {
    const at = this.at;
    if (length > this.end - at) this.fail(`${length} bytes are wanted, ${this.end - at} are left`);
    this.at = at + length;
    return at;
  }

  /** Passes over a run with its length before it; it is then at `start..stop`. */
  span(): void {
    const length = this.compact();
    this.start = this.take(length);
    this.stop = this.at;
  }

  /** A view of a run with its length before it. */
  run(): Uint8Array {
    this.span();
    return this.bytes.subarray(this.start, this.stop);
  }

  fail(reason: string, at = this.at): never {
    throw new UnspentError('BLOCK_INVALID', `${reason} (at byte ${at})`, { at });
  }
}

/** A compact size as it is written. */
export function compactBytes(value: number): Uint8Array {
  if (value < 0xfd) return Uint8Array.of(value);
  if (value <= 0xffff) return Uint8Array.of(0xfd, value, value >>> 8);
  const bytes = new Uint8Array(5);
  bytes[0] = 0xfe;
  writeU32LE(bytes, 1, value);
  return bytes;
}
