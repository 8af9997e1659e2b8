/**
 * What a node's `gettxoutsetinfo` says of its set of unspent outputs, computed
 * from ours: count, value and bogosize, kept step by step; MuHash likewise; and
 * the two older hashes, which take a walk over all coins in key order.
 */
import { sha256 as sha2 } from '@noble/hashes/sha2.js';
import { MuHash } from '../../crypto/muhash.ts';
import { sha256 } from '../../crypto/sha256.ts';
import { compareBytes, copyBytes, writeU32LE } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { Cursor } from './cursor.ts';

/** An unspent output: `output` is its value and script as they stood in the block. */
export interface CoinRecord {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly height: number;
  readonly coinbase: boolean;
  readonly output: Uint8Array;
}

const ID_BYTES = 32;
/** Of a coin as it is hashed, before the output. */
export const COIN_HEAD_BYTES = ID_BYTES + 4 + 4;
/** What an output takes besides its script, in a database that no node has: 32 + 4 + 4 + 8 + 2. */
const BOGO_BYTES = 50;

/** A coin as it is hashed: outpoint, height and coinbase flag in four bytes, output (Core's TxOutSer). */
export function coinBytes({ txId, index, height, coinbase, output }: CoinRecord): Uint8Array {
  const bytes = new Uint8Array(COIN_HEAD_BYTES + output.length);
  writeCoinHead(bytes, txId, 0, index, height, coinbase);
  bytes.set(output, COIN_HEAD_BYTES);
  return bytes;
}

/** Writes what stands before the output; the id is at `from[at..]`. */
export function writeCoinHead(to: Uint8Array, from: Uint8Array, at: number, index: number, height: number, coinbase: boolean): void {
  copyBytes(from, at, to, 0, ID_BYTES);
  writeU32LE(to, ID_BYTES, index);
  writeU32LE(to, ID_BYTES + 4, height * 2 + (coinbase ? 1 : 0));
}

/** Of the output at `raw[start..end]`. */
export function bogosizeOf(raw: Uint8Array, start: number, end: number): number {
  const c = new Cursor(raw, start, end);
  c.u64();
  c.span();
  return BOGO_BYTES + c.stop - c.start;
}

/** Totals of the set that follow each coin that comes and goes. */
export class SetTotals {
  count = 0;
  value = 0n;
  bogosize = 0;
  readonly muhash = new MuHash();
  private readonly hashes: boolean;

  /** `hashes` false: MuHash, which costs several times all the rest, is left out. */
  constructor(hashes = true) {
    this.hashes = hashes;
  }

  add(coin: CoinRecord): void {
    this.move(coin, 1);
    if (this.hashes) this.muhash.add(coinBytes(coin));
  }

  remove(coin: CoinRecord): void {
    this.move(coin, -1);
    if (this.hashes) this.muhash.remove(coinBytes(coin));
  }

  private move({ output }: CoinRecord, sign: 1 | -1): void {
    const c = new Cursor(output);
    c.u64();
    const value = (BigInt(c.hi) << 32n) | BigInt(c.lo);
    this.count += sign;
    this.value += sign === 1 ? value : -value;
    this.bogosize += sign * bogosizeOf(output, 0, output.length);
  }
}

/** A running SHA-256, as libraries and platforms have it. */
export interface Hasher {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

/** `hash_serialized_3`: the bytes of all coins, in the order of id and index, hashed twice. */
export class SerializedHash3 {
  private readonly stream: OrderedStream;

  constructor(hasher: Hasher = sha2.create()) {
    this.stream = new OrderedStream(hasher);
  }

  add(coin: CoinRecord): void {
    this.stream.next(coin);
    this.stream.write(coinBytes(coin));
  }

  digest(): Uint8Array {
    return this.stream.digest();
  }
}

/** `hash_serialized_2`: the hash of the tip, then the coins of each id together. */
export class SerializedHash2 {
  private readonly stream: OrderedStream;
  private hasBegun = false;

  constructor(tipHash: Uint8Array, hasher: Hasher = sha2.create()) {
    this.stream = new OrderedStream(hasher);
    this.stream.write(tipHash);
  }

  add(coin: CoinRecord): void {
    if (this.stream.next(coin)) this.begin(coin);
    const c = new Cursor(coin.output);
    c.u64();
    const value = (BigInt(c.hi) << 32n) | BigInt(c.lo);
    this.stream.write(varint(BigInt(coin.index + 1)));
    this.stream.write(coin.output.subarray(8));
    this.stream.write(varint(value));
  }

  private begin({ txId, height, coinbase }: CoinRecord): void {
    if (this.hasBegun) this.stream.write(varint(0n));
    this.hasBegun = true;
    this.stream.write(txId);
    // Meant as twice the height and the flag, but `a * 2 + b ? 1 : 0` is what stands in Core.
    this.stream.write(varint(height > 0 || coinbase ? 1n : 0n));
  }

  digest(): Uint8Array {
    if (this.hasBegun) this.stream.write(varint(0n));
    return this.stream.digest();
  }
}

/** Core's VARINT: seven bits a byte, highest first, and each further byte counts from one. */
function varint(value: bigint): Uint8Array {
  const bytes = [Number(value & 0x7fn)];
  for (let rest = value >> 7n; rest > 0n; rest >>= 7n) {
    rest -= 1n;
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
  return Uint8Array.from(bytes.reverse());
}

const BUFFER_BYTES = 64 * 1024;

/** Gathers short writes, because a call of a hasher costs more than what it is given; and checks that coins come in order. */
class OrderedStream {
  private readonly hasher: Hasher;
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private used = 0;
  private last: CoinRecord | null = null;

  constructor(hasher: Hasher) {
    this.hasher = hasher;
  }

  /** True when the coin is the first of its id. */
  next(coin: CoinRecord): boolean {
    const { last } = this;
    const order = last === null ? 1 : compareBytes(coin.txId, last.txId);
    assert(order > 0 || (order === 0 && last !== null && coin.index > last.index), 'coins are hashed in the order of their keys');
    this.last = coin;
    return order > 0;
  }

  write(bytes: Uint8Array): void {
    if (this.used + bytes.length > BUFFER_BYTES) this.flush();
    if (bytes.length > BUFFER_BYTES) this.hasher.update(bytes);
    else {
      this.buffer.set(bytes, this.used);
      this.used += bytes.length;
    }
  }

  private flush(): void {
    this.hasher.update(this.buffer.subarray(0, this.used));
    this.used = 0;
  }

  digest(): Uint8Array {
    this.flush();
    return sha256(this.hasher.digest());
  }
}
