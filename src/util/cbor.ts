/**
 * A bounds-checked cursor over CBOR (RFC 8949). It allocates nothing, copies
 * nothing and trusts nothing: every head checks the end, every count is bounded
 * by the bytes left, nesting never overflows the stack, indefinite lengths are
 * taken everywhere.
 *
 * Why by hand: docs/adr/0004. Errors carry the position in the given bytes.
 */
import { UnspentError } from './errors.ts';
import { CBOR_BIG_BYTES_MAX, CBOR_RECURSION_MAX } from './limits.ts';

export const UINT = 0;
export const NEGINT = 1;
export const BYTES = 2;
export const TEXT = 3;
export const ARRAY = 4;
export const MAP = 5;
export const TAG = 6;
export const SIMPLE = 7;

/** Count of a container or string of indefinite length. */
export const INDEFINITE = -1;

const BREAK = 0xff;
const TWO_32 = 0x1_0000_0000;

/** Why reading failed, for callers that do not only pass the error on. */
export interface CborFailure {
  readonly what: string;
  /**
   * If the bytes ended too early: how many bytes at least the head before `at` announced, 0 if the end came
   * inside a head. Null: the bytes are wrong, and more of them would not help.
   */
  readonly announced: number | null;
}

/** An open container on the way through deep nesting. */
interface Level {
  /** Items until it ends, or until a break may stand. */
  left: number;
  readonly each: number;
  readonly indefinite: boolean;
}

export class Cursor {
  readonly bytes: Uint8Array;
  at: number;
  readonly end: number;
  /** Of the head read last: its major type, and its argument in two u32 halves. */
  major = 0;
  hi = 0;
  lo = 0;
  /** Of the string read last by `span`: where its content stands. */
  start = 0;
  stop = 0;
  /** Of the error thrown last. */
  failure: CborFailure | null = null;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  fail(what: string, at = this.at, announced: number | null = null): never {
    this.failure = { what, announced };
    throw new UnspentError('BLOCK_INVALID', `${what} at byte ${at}`, { at });
  }

  private failEnd(): never {
    this.fail('unexpected end', this.at, 0);
  }

  /** `count`: what the head read last announced. */
  private failShort(what: string, at: number, count: number): never {
    this.fail(`${what} longer than the bytes left`, at, this.hi === 0 ? count : Number.POSITIVE_INFINITY);
  }

  /** Reads a head into `major`, `hi`, `lo`; returns false when its length is indefinite (or it is a break). */
  head(): boolean {
    const { bytes } = this;
    const at = this.at;
    if (at >= this.end) this.failEnd();
    const first = bytes[at];
    this.major = first >> 5;
    const info = first & 0x1f;
    this.hi = 0;
    if (info < 24) {
      this.lo = info;
      this.at = at + 1;
      return true;
    }
    return this.longHead(info, at);
  }

  private longHead(info: number, at: number): boolean {
    const { bytes } = this;
    if (info === 24) {
      if (at + 2 > this.end) this.failEnd();
      this.lo = bytes[at + 1];
      this.at = at + 2;
      return true;
    }
    if (info === 25) {
      if (at + 3 > this.end) this.failEnd();
      this.lo = (bytes[at + 1] << 8) | bytes[at + 2];
      this.at = at + 3;
      return true;
    }
    if (info === 26 || info === 27) {
      const width = info === 26 ? 4 : 8;
      if (at + 1 + width > this.end) this.failEnd();
      let p = at + 1;
      if (width === 8) {
        this.hi = ((bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3]) >>> 0;
        p += 4;
      }
      this.lo = ((bytes[p] << 24) | (bytes[p + 1] << 16) | (bytes[p + 2] << 8) | bytes[p + 3]) >>> 0;
      this.at = p + 4;
      return true;
    }
    if (
      info === 31 &&
      (this.major === BYTES || this.major === TEXT || this.major === ARRAY || this.major === MAP || this.major === SIMPLE)
    ) {
      this.lo = 0;
      this.at = at + 1;
      return false;
    }
    return this.fail(`malformed head 0x${bytes[at].toString(16)}`);
  }

  /** The major type of the next item, without reading it. */
  peek(): number {
    if (this.at >= this.end) this.failEnd();
    return this.bytes[this.at] >> 5;
  }

  uint(): number {
    const at = this.at;
    if (!this.head() || this.major !== UINT) this.fail('expected an unsigned integer', at);
    if (this.hi >= 0x20_0000) this.fail('integer above 2^53', at);
    return this.hi * TWO_32 + this.lo;
  }

  /** Reads an unsigned integer of up to 64 bits into `hi` and `lo`. */
  uint64(): void {
    const at = this.at;
    if (!this.head() || this.major !== UINT) this.fail('expected an unsigned integer', at);
  }

  bigUint(): bigint {
    this.uint64();
    return (BigInt(this.hi) << 32n) | BigInt(this.lo);
  }

  /** A signed integer, big numbers (tags 2 and 3) included. */
  bigInt(): bigint {
    const at = this.at;
    if (!this.head()) this.fail('expected an integer', at);
    const value = (BigInt(this.hi) << 32n) | BigInt(this.lo);
    if (this.major === UINT) return value;
    if (this.major === NEGINT) return -1n - value;
    if (this.major === TAG && (value === 2n || value === 3n)) {
      const bytes = this.byteString();
      if (bytes.length > CBOR_BIG_BYTES_MAX) this.fail(`integer of ${bytes.length} bytes`, at);
      let big = 0n;
      for (const byte of bytes) big = (big << 8n) | BigInt(byte);
      return value === 2n ? big : -1n - big;
    }
    return this.fail('expected an integer', at);
  }

  private count(major: number, what: string, bytesEach: number): number {
    const at = this.at;
    const definite = this.head();
    if (this.major !== major) this.fail(`expected ${what}`, at);
    if (!definite) return INDEFINITE;
    if (this.hi !== 0 || this.lo * bytesEach > this.end - this.at) this.failShort(what, at, this.lo * bytesEach);
    return this.lo;
  }

  /** Elements of the array that begins here, or INDEFINITE. */
  array(): number {
    return this.count(ARRAY, 'an array', 1);
  }

  /** Pairs of the map that begins here, or INDEFINITE. */
  map(): number {
    return this.count(MAP, 'a map', 2);
  }

  /** `for (let i = 0, n = c.array(); c.more(n, i); i++)`: true while there is an element; eats the break. */
  more(count: number, i: number): boolean {
    if (count !== INDEFINITE) return i < count;
    if (this.at >= this.end) this.failEnd();
    if (this.bytes[this.at] !== BREAK) return true;
    this.at++;
    return false;
  }

  /** An array of exactly `n` elements; pair it with `close`. */
  tuple(n: number, what: string): number {
    const at = this.at;
    const count = this.array();
    if (count !== INDEFINITE && count !== n) this.fail(`${what} has ${count} fields, expected ${n}`, at);
    return count;
  }

  /** Ends a tuple: eats the break of an indefinite one. */
  close(count: number): void {
    if (count !== INDEFINITE) return;
    if (this.at >= this.end || this.bytes[this.at] !== BREAK) this.fail('expected the end of an array');
    this.at++;
  }

  tag(): number {
    const at = this.at;
    if (!this.head() || this.major !== TAG) this.fail('expected a tag', at);
    if (this.hi !== 0) this.fail('tag out of range', at);
    return this.lo;
  }

  /** A definite byte string; leaves its place in `start` and `stop` and stands behind it. */
  span(length = -1): void {
    const at = this.at;
    if (!this.head() || this.major !== BYTES) this.fail('expected a byte string', at);
    if (this.hi !== 0 || this.lo > this.end - this.at) this.failShort('byte string', at, this.lo);
    if (length >= 0 && this.lo !== length) this.fail(`expected ${length} bytes, found ${this.lo}`, at);
    this.start = this.at;
    this.stop = this.at + this.lo;
    this.at = this.stop;
  }

  /** A byte string, definite or in pieces, as bytes: a view where it can be one. */
  byteString(): Uint8Array {
    if (this.peek() === BYTES && (this.bytes[this.at] & 0x1f) !== 31) {
      this.span();
      return this.bytes.subarray(this.start, this.stop);
    }
    const at = this.at;
    this.head();
    if (this.major !== BYTES) this.fail('expected a byte string', at);
    const pieces: Uint8Array[] = [];
    let length = 0;
    while (this.more(INDEFINITE, 0)) {
      this.span();
      pieces.push(this.bytes.subarray(this.start, this.stop));
      length += this.stop - this.start;
    }
    const out = new Uint8Array(length);
    let to = 0;
    for (const piece of pieces) {
      out.set(piece, to);
      to += piece.length;
    }
    return out;
  }

  /** A text string, definite or in pieces. What is not UTF-8 becomes U+FFFD. */
  text(): string {
    const at = this.at;
    if (this.peek() !== TEXT) this.fail('expected a text', at);
    const definite = this.head();
    if (definite) {
      if (this.hi !== 0 || this.lo > this.end - this.at) this.failShort('text', at, this.lo);
      this.at += this.lo;
      return new TextDecoder().decode(this.bytes.subarray(this.at - this.lo, this.at));
    }
    const pieces: string[] = [];
    while (this.more(INDEFINITE, 0)) {
      if ((this.bytes[this.at] & 0x1f) === 31) this.fail('expected a definite piece of a text');
      pieces.push(this.text());
    }
    return pieces.join('');
  }

  /** True, and eaten, when the next byte is null (f6) or undefined (f7). */
  nullish(): boolean {
    if (this.at >= this.end) this.failEnd();
    if (this.bytes[this.at] !== 0xf6 && this.bytes[this.at] !== 0xf7) return false;
    this.at++;
    return true;
  }

  /** Steps over one whole item. The commonest items are stepped over without a call. */
  skip(depth = 0): void {
    const { bytes, end } = this;
    const first = this.at < end ? bytes[this.at] : this.failEnd();
    if (first < 0x18 || (first >= 0x20 && first < 0x38)) {
      this.at++;
      return;
    }
    const at = this.at;
    const definite = this.head();
    const major = this.major;
    if (major === BYTES || major === TEXT) {
      if (!definite) {
        this.skipPieces(major);
        return;
      }
      if (this.hi !== 0 || this.lo > end - this.at) this.failShort('string', at, this.lo);
      this.at += this.lo;
      return;
    }
    if (major === ARRAY || major === MAP) {
      const each = major === MAP ? 2 : 1;
      if (definite && (this.hi !== 0 || this.lo * each > end - this.at)) this.failShort('container', at, this.lo * each);
      this.skipItems(definite ? this.lo * each : INDEFINITE, each, depth + 1);
    } else if (major === TAG) this.skipItems(1, 1, depth + 1);
    else if (major === SIMPLE && !definite) this.fail('unexpected break', at);
  }

  private skipPieces(major: number): void {
    while (this.more(INDEFINITE, 0)) {
      const at = this.at;
      if (!this.head() || this.major !== major) this.fail('expected a definite piece of a string', at);
      if (this.hi !== 0 || this.lo > this.end - this.at) this.failShort('string', at, this.lo);
      this.at += this.lo;
    }
  }

  private skipItems(count: number, each: number, depth: number): void {
    if (depth > CBOR_RECURSION_MAX) this.skipDeep(count, each);
    else if (count !== INDEFINITE) for (let i = 0; i < count; i++) this.skip(depth);
    else while (this.more(INDEFINITE, 0)) for (let i = 0; i < each; i++) this.skip(depth);
  }

  /** The same without recursion. A level takes a byte at least, so there are no more of them than bytes. */
  private skipDeep(count: number, each: number): void {
    const open: Level[] = [{ left: count === INDEFINITE ? 0 : count, each, indefinite: count === INDEFINITE }];
    while (open.length > 0) {
      const level = open[open.length - 1];
      if (level.left === 0) {
        if (!level.indefinite || !this.more(INDEFINITE, 0)) {
          open.pop();
          continue;
        }
        level.left = level.each;
      }
      level.left--;
      const inner = this.peek() === ARRAY || this.peek() === MAP || this.peek() === TAG ? this.level() : null;
      if (inner === null) this.skip();
      else open.push(inner);
    }
  }

  /** Opens the array, map or tag that begins here. */
  private level(): Level {
    if (this.peek() === TAG) {
      this.head();
      return { left: 1, each: 1, indefinite: false };
    }
    const each = this.peek() === MAP ? 2 : 1;
    const count = each === 2 ? this.map() : this.array();
    return { left: count === INDEFINITE ? 0 : count * each, each, indefinite: count === INDEFINITE };
  }
}
