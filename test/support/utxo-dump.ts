/**
 * A file of Core's `dumptxoutset` (version 2), read in the plainest way and by
 * other code than ours: coins by transaction, amounts and scripts compressed.
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
