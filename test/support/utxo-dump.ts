/**
 * Files of Core's `dumptxoutset`, read and written in the plainest way and by
 * other code than ours: coins by transaction (version 2) or with an outpoint
 * each (before), amounts and scripts compressed.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export interface DumpedCoin {
  /** In the order of a block. */
  readonly txId: Uint8Array;
  readonly index: number;
  readonly height: number;
  readonly coinbase: boolean;
  readonly value: bigint;
  readonly script: Uint8Array;
}

export interface UtxoDump {
  /** In the order of a header. */
  readonly baseHash: Uint8Array;
  readonly magic: number;
  readonly coins: readonly DumpedCoin[];
}

export function readUtxoDump(path: string): UtxoDump {
  const file = new DumpFile(readFileSync(path));
  assert.equal(file.take(5).toString('hex'), '7574786fff', 'it begins as dumps do');
  assert.equal(file.take(2).readUInt16LE(), 2, 'a version that we know');
  const magic = file.take(4).readUInt32BE();
  const baseHash = file.take(32);
  const count = Number(file.take(8).readBigUInt64LE());
  const coins: DumpedCoin[] = [];
  while (coins.length < count) {
    const txId = file.take(32);
    for (let left = file.compact(); left > 0; left--) coins.push(readCoin(file, txId));
  }
  assert.deepEqual([coins.length, file.left], [count, 0], 'it holds what it says, and nothing else');
  return { baseHash, magic, coins };
}

function readCoin(file: DumpFile, txId: Uint8Array): DumpedCoin {
  const index = file.compact();
  const code = Number(file.variable());
  const value = amountOf(file.variable());
  return { txId, index, height: code >> 1, coinbase: (code & 1) === 1, value, script: readScript(file) };
}

/** Zeros at its end are taken off and counted. */
function amountOf(packed: bigint): bigint {
  if (packed === 0n) return 0n;
  const zeros = (packed - 1n) % 10n;
  const rest = (packed - 1n) / 10n;
  const digits = zeros < 9n ? (rest / 9n) * 10n + (rest % 9n) + 1n : rest + 1n;
  return digits * 10n ** zeros;
}

/** Six kinds have a number of their own; of the others it is their length and six more. */
function readScript(file: DumpFile): Buffer {
  const size = Number(file.variable());
  const hex = (text: string): Buffer => Buffer.from(text, 'hex');
  if (size === 0) return Buffer.concat([hex('76a914'), file.take(20), hex('88ac')]);
  if (size === 1) return Buffer.concat([hex('a914'), file.take(20), hex('87')]);
  if (size === 2 || size === 3) return Buffer.concat([Uint8Array.of(33, size), file.take(32), hex('ac')]);
  assert.ok(size > 5, 'uncompressed keys are not read here: no chain of the tests has one');
  return file.take(size - 6);
}

class DumpFile {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  take(length: number): Buffer {
    assert.ok(length <= this.left, 'the file is cut');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  /** As counts are written in messages. */
  compact(): number {
    const [first] = this.take(1);
    if (first < 0xfd) return first;
    return first === 0xfd ? this.take(2).readUInt16LE() : this.take(4).readUInt32LE();
  }

  /** As Core writes numbers on disk: seven bits a byte, each but the last one more than it says. */
  variable(): bigint {
    for (let number = 0n; ; ) {
      const [byte] = this.take(1);
      number = (number << 7n) | BigInt(byte & 0x7f);
      if ((byte & 0x80) === 0) return number;
      number++;
    }
  }
}

/** Version 2; before it, with the number of the chain's transactions in its head; and without. */
export type DumpForm = 'grouped' | 'counted' | 'plain';

/** In the order of their ids; coins of a transaction in that of LevelDB's keys. */
export function writeUtxoDump(form: DumpForm, { baseHash, magic, coins }: UtxoDump): Buffer {
  const head = form === 'grouped' ? [Buffer.from('7574786fff0200', 'hex'), u32be(magic)] : [];
  const count = Buffer.alloc(8);
  count.writeBigUInt64LE(BigInt(coins.length));
  const parts = [...head, baseHash, count, ...(form === 'counted' ? [u32le(7)] : [])];
  const sorted = coins.toSorted((a, b) => Buffer.compare(a.txId, b.txId) || Buffer.compare(variableBytes(a.index), variableBytes(b.index)));
  const byId = [...Map.groupBy(sorted, ({ txId }) => Buffer.from(txId).toString('hex')).values()];
  for (const group of byId) {
    if (form === 'grouped') parts.push(group[0].txId, compactCount(group.length));
    for (const coin of group) {
      parts.push(...(form === 'grouped' ? [compactCount(coin.index)] : [coin.txId, u32le(coin.index)]));
      parts.push(variableBytes(2 * coin.height + (coin.coinbase ? 1 : 0)), variableBytes(packAmount(coin.value)), packScript(coin.script));
    }
  }
  return Buffer.concat(parts);
}

function u32be(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function u32le(value: number): Buffer {
  return u32be(value).reverse();
}

function compactCount(value: number): Buffer {
  if (value < 0xfd) return Buffer.of(value);
  return value <= 0xffff ? Buffer.of(0xfd, value & 0xff, value >> 8) : Buffer.concat([Buffer.of(0xfe), u32le(value)]);
}

function variableBytes(value: bigint | number): Buffer {
  const bytes = [Number(BigInt(value) & 0x7fn)];
  for (let rest = BigInt(value) >> 7n; rest > 0n; rest >>= 7n) {
    rest--;
    bytes.unshift(Number(rest & 0x7fn) | 0x80);
  }
  return Buffer.from(bytes);
}

function packAmount(value: bigint): bigint {
  if (value === 0n) return 0n;
  let zeros = 0n;
  let rest = value;
  while (rest % 10n === 0n && zeros < 9n) {
    rest /= 10n;
    zeros++;
  }
  return zeros < 9n ? 1n + ((rest / 10n) * 9n + (rest % 10n) - 1n) * 10n + zeros : 1n + (rest - 1n) * 10n + 9n;
}

function packScript(script: Uint8Array): Buffer {
  const hex = Buffer.from(script).toString('hex');
  const kinds: readonly (readonly [RegExp, number | null])[] = [
    [/^76a914(.{40})88ac$/, 0],
    [/^a914(.{40})87$/, 1],
    [/^21(?:02|03)(.{64})ac$/, null],
    [/^4104(.{64}).{64}ac$/, null],
  ];
  for (const [form, kind] of kinds) {
    const match = form.exec(hex);
    if (match === null) continue;
    const own = kind ?? (hex.startsWith('21') ? Number(hex[3]) : 4 + (Number.parseInt(hex.slice(-4, -2), 16) & 1));
    return Buffer.concat([Buffer.of(own), Buffer.from(match[1], 'hex')]);
  }
  return Buffer.concat([variableBytes(script.length + 6), script]);
}

/** Bytes that the count at `at` itself takes. */
export function compactAt(bytes: Uint8Array, at: number): number {
  return bytes[at] < 0xfd ? 1 : bytes[at] === 0xfd ? 3 : 5;
}
