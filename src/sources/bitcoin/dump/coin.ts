/**
 * A coin as Core writes it into its database and into a dump: height and
 * coinbase flag in one number, the amount without the zeros at its end, the
 * script in a short form where it is of a known kind.
 *
 * Source: Bitcoin Core, coins.h, compressor.cpp, serialize.h (VARINT); Litecoin
 * Core, coins.h (the top bit of the number: an output of the extension block).
 */
import { ECDH } from 'node:crypto';
import { isUnspendable } from '../../../ledgers/bitcoin/transaction.ts';
import { writeU32LE } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';

/** Bytes that a coin has at most in a dump: two numbers, and a script that can be spent. */
export const COIN_BYTES_MAX = 10 + 10 + 5 + 10_000;
/** Bytes that `OutputWriter` needs at most. */
export const OUTPUT_BYTES_MAX = 8 + 3 + 10_000;

/** Number of a kind of script; from here on it is the script's length and this. */
const SCRIPT_KINDS = 6;
const SCRIPT_BYTES_MAX = 10_000;
const HASH_BYTES = 20;
const KEY_BYTES = 32;
/** Litecoin's mark of an output that came out of the extension block; a height has 30 bits there, and 31 anywhere. */
const PEGOUT = 2 ** 31;
const CODE_MAX = 2 ** 32;

/** Reads one coin after another from bytes that the caller refills. */
export class CoinReader {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  end = 0;
  height = 0;
  coinbase = false;
  private readonly mweb: boolean;

  /** `mweb`: of a network with extension blocks. */
  constructor(mweb: boolean) {
    this.mweb = mweb;
  }

  /** Reads a coin; writes its output, value and script as in a block, at `to[at..]`, and returns where that ends. Throws SNAPSHOT_INVALID. */
  coin(to: Uint8Array, at: number): number {
    const code = this.variable();
    if (code >= (this.mweb ? CODE_MAX : PEGOUT)) throw damaged('a height that no block has');
    const place = code >= PEGOUT ? code - PEGOUT : code;
    this.height = Math.floor(place / 2);
    this.coinbase = place % 2 === 1;
    const value = this.amount();
    writeU32LE(to, at, value % 2 ** 32);
    writeU32LE(to, at + 4, Math.floor(value / 2 ** 32));
    return this.script(to, at + 8);
  }

  /** Core's VARINT, up to what a double holds exactly. */
  variable(): number {
    const value = this.wide();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw damaged('a number that is too large');
    return Number(value);
  }

  /** As counts stand in messages; only the shortest form. */
  compact(): number {
    const first = this.byte();
    if (first < 0xfd) return first;
    let value = 0;
    const length = first === 0xfd ? 2 : 4;
    if (first === 0xff) throw damaged('a count that is too large');
    for (let i = 0, scale = 1; i < length; i++, scale *= 256) value += this.byte() * scale;
    if (value < (length === 2 ? 0xfd : 0x1_0000)) throw damaged('a count in a longer form than it needs');
    return value;
  }

  /** Where the next bytes begin; they are stepped over. */
  take(length: number): number {
    const start = this.at;
    if (length > this.end - start) throw cut();
    this.at += length;
    return start;
  }

  private byte(): number {
    if (this.at >= this.end) throw cut();
    return this.bytes[this.at++];
  }

  private wide(): bigint | number {
    let value = 0;
    for (;;) {
      const byte = this.byte();
      if (value > 2 ** 44) return this.wider(BigInt(value), byte);
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return value;
      value++;
    }
  }

  /** Goes on where a double would lose digits. */
  private wider(before: bigint, first: number): bigint {
    let value = before;
    for (let byte = first; ; byte = this.byte()) {
      value = (value << 7n) | BigInt(byte & 0x7f);
      if (byte < 0x80) return value;
      value++;
      if (value > 2n ** 64n) throw damaged('a number that is too large');
    }
  }

  /** Zeros at its end are taken off and counted. */
  private amount(): number {
    const packed = this.wide();
    const value = typeof packed === 'number' ? unpacked(packed) : widelyUnpacked(packed);
    if (value > Number.MAX_SAFE_INTEGER) throw damaged('an amount that is more than there can be');
    return value;
  }

  private script(to: Uint8Array, at: number): number {
    const kind = this.variable();
    if (kind === 0) return this.wrapped(to, at, [0x76, 0xa9, HASH_BYTES], HASH_BYTES, [0x88, 0xac]);
    if (kind === 1) return this.wrapped(to, at, [0xa9, HASH_BYTES], HASH_BYTES, [0x87]);
    if (kind === 2 || kind === 3) return this.wrapped(to, at, [KEY_BYTES + 1, kind], KEY_BYTES, [0xac]);
    if (kind < SCRIPT_KINDS) return this.wholeKey(to, at, kind - 2);
    const length = kind - SCRIPT_KINDS;
    if (length > SCRIPT_BYTES_MAX) throw damaged('a script that nothing can spend');
    const start = this.take(length);
    if (isUnspendable(this.bytes, start, start + length)) throw damaged('an output that nothing can spend');
    let next = at;
    if (length < 0xfd) to[next++] = length;
    else {
      to[next++] = 0xfd;
      to[next++] = length & 0xff;
      to[next++] = length >>> 8;
    }
    to.set(this.bytes.subarray(start, start + length), next);
    return next + length;
  }

  /** A script of `before`, that many bytes, and `after`, with its length in front. */
  private wrapped(to: Uint8Array, at: number, before: readonly number[], length: number, after: readonly number[]): number {
    const start = this.take(length);
    let next = at;
    to[next++] = before.length + length + after.length;
    for (const byte of before) to[next++] = byte;
    for (let i = 0; i < length; i++) to[next++] = this.bytes[start + i];
    for (const byte of after) to[next++] = byte;
    return next;
  }

  /** A public key of which only half was written: the other half follows from the curve. `sign`: 2 or 3. */
  private wholeKey(to: Uint8Array, at: number, sign: number): number {
    const start = this.take(KEY_BYTES);
    const half = new Uint8Array(KEY_BYTES + 1);
    half[0] = sign;
    half.set(this.bytes.subarray(start, start + KEY_BYTES), 1);
    let key: Uint8Array;
    try {
      key = ECDH.convertKey(half, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer;
    } catch (cause) {
      throw damaged('a public key that is not on the curve', cause);
    }
    to[at] = key.length + 2;
    to[at + 1] = key.length;
    to.set(key, at + 2);
    to[at + 2 + key.length] = 0xac;
    return at + 3 + key.length;
  }
}

function unpacked(packed: number): number {
  if (packed === 0) return 0;
  const zeros = (packed - 1) % 10;
  const rest = Math.floor((packed - 1) / 10);
  const digits = zeros < 9 ? Math.floor(rest / 9) * 10 + (rest % 9) + 1 : rest + 1;
  return digits * 10 ** zeros;
}

/** The same of a number that a double does not hold. */
function widelyUnpacked(packed: bigint): number {
  const zeros = (packed - 1n) % 10n;
  const rest = (packed - 1n) / 10n;
  const digits = zeros < 9n ? (rest / 9n) * 10n + (rest % 9n) + 1n : rest + 1n;
  return Number(digits * 10n ** zeros);
}

export function damaged(what: string, cause?: unknown): UnspentError {
  return new UnspentError('SNAPSHOT_INVALID', `it has ${what}`, {}, cause);
}

export function cut(): UnspentError {
  return new UnspentError('SNAPSHOT_INVALID', 'it is cut off in the middle of an output', { cut: true });
}
