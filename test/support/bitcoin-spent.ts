/**
 * The outputs that real blocks spend, as the sample data has them in three
 * forms: bcoin's undo files, btcd's store of compressed coins, Floresta's list.
 * And a block that makes exactly these outputs, so that a store can be brought
 * to the point before a real block: its transactions carry ids that were given,
 * not hashed, because nobody has the blocks that made them.
 */
import assert from 'node:assert/strict';
import { compactBytes } from '../../src/ledgers/bitcoin/cursor.ts';
import { BitcoinBlock, BitcoinTx, OUTPUT_FLAG } from '../../src/ledgers/bitcoin/index.ts';
import type { Create } from '../../src/ledgers/ledger.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { sampleBytes } from '../ledgers/bitcoin/samples.ts';
import { nameOf, outputBytes } from './bitcoin-chain.ts';
import { readFixtureText } from './fixtures.ts';

/** Value and script, one after the other, as they stood in their block. */
export type OutputBytes = Uint8Array;

export interface SeedCoin {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly output: OutputBytes;
  readonly coinbase: boolean;
}

/** Of every input of the block in order: its outpoint. */
export function outpointsOf(block: BitcoinBlock): { readonly txId: Uint8Array; readonly index: number; readonly name: string }[] {
  return block.txs.flatMap((tx) =>
    tx.spends.map(({ at, index }) => {
      const txId = block.raw.slice(at, at + 32);
      return { txId, index, name: nameOf(txId, index) };
    }),
  );
}

/** `*-undo.raw`: of every input in order. */
export function readUndoFile(file: string): OutputBytes[] {
  const bytes = sampleBytes(file);
  const outputs: OutputBytes[] = [];
  for (let at = 0; at < bytes.length; ) {
    const short = bytes[at + 8] < 0xfd;
    assert.ok(short || bytes[at + 8] === 0xfd, file);
    const end = at + (short ? 9 + bytes[at + 8] : 11 + (bytes[at + 9] | (bytes[at + 10] << 8)));
    outputs.push(bytes.slice(at, end));
    at = end;
  }
  return outputs;
}

/** `*-spent.json.gz`: of every input in order. */
export function readSpentList(file: string): { readonly output: OutputBytes; readonly coinbase: boolean; readonly height: number }[] {
  const rows = JSON.parse(readFixtureText('bitcoin', 'blocks', file)) as {
    txout: { value: number; script_pubkey: string };
    is_coinbase: boolean;
    creation_height: number;
  }[];
  return rows.map(({ txout, is_coinbase: coinbase, creation_height: height }) => ({
    output: outputBytes(BigInt(txout.value), fromHex(txout.script_pubkey)),
    coinbase,
    height,
  }));
}

/** `*-utxostore.bin`, by name. */
export function readCompressedStore(file: string): ReadonlyMap<string, SeedCoin & { readonly height: number }> {
  const bytes = sampleBytes(file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const coins = new Map<string, SeedCoin & { readonly height: number }>();
  for (let at = 0; at < bytes.length; ) {
    const txId = bytes.slice(at, at + 32);
    const index = view.getUint32(at + 32, true);
    const end = at + 40 + view.getUint32(at + 36, true);
    const entry = new Compressed(bytes.subarray(at + 40, end));
    const code = entry.number();
    const value = amountOf(entry.number());
    const output = outputBytes(value, entry.script());
    coins.set(nameOf(txId, index), { txId, index, output, coinbase: (code & 1n) === 1n, height: Number(code >> 1n) });
    at = end;
  }
  return coins;
}

class Compressed {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Seven bits a byte, highest first; each byte but the last counts one more than it says. */
  number(): bigint {
    for (let n = 0n; ; n++) {
      const byte = this.bytes[this.at++];
      n = (n << 7n) | BigInt(byte & 0x7f);
      if (byte < 0x80) return n;
    }
  }

  /** Six common kinds by a number, all others by their length plus six. */
  script(): Uint8Array {
    const kind = Number(this.number());
    const rest = this.bytes.subarray(this.at);
    if (kind === 0) return concatBytes(fromHex('76a914'), rest, fromHex('88ac'));
    if (kind === 1) return concatBytes(fromHex('a914'), rest, fromHex('87'));
    if (kind < 4) return concatBytes(Uint8Array.of(33, kind), rest, fromHex('ac'));
    if (kind < 6) return concatBytes(Uint8Array.of(65, 4), rest, otherCoordinate(rest, kind === 5), fromHex('ac'));
    assert.equal(rest.length, kind - 6, 'the length of a script');
    return rest.slice();
  }
}

/** Bitcoin Core, compressor.cpp: trailing zeros are taken out, and the last digit before them is named apart. */
function amountOf(compressed: bigint): bigint {
  if (compressed === 0n) return 0n;
  const x = compressed - 1n;
  const zeros = x % 10n;
  const rest = x / 10n;
  return (zeros < 9n ? (rest / 9n) * 10n + (rest % 9n) + 1n : rest + 1n) * 10n ** zeros;
}

/** The y of a point on secp256k1, y^2 = x^3 + 7: the odd one or the even one. */
function otherCoordinate(x: Uint8Array, odd: boolean): Uint8Array {
  const p = 2n ** 256n - 2n ** 32n - 977n;
  const square = (BigInt(`0x${toHex(x)}`) ** 3n + 7n) % p;
  let y = 1n;
  for (let power = (p + 1n) / 4n, base = square; power > 0n; power >>= 1n, base = (base * base) % p)
    if ((power & 1n) === 1n) y = (y * base) % p;
  assert.equal((y * y) % p, square, 'a point on the curve');
  return fromHex(((y & 1n) === (odd ? 1n : 0n) ? y : p - y).toString(16).padStart(64, '0'));
}

/** The block before `block`, which made these outputs and nothing else. */
export function seedBlock(block: BitcoinBlock, coins: readonly SeedCoin[]): BitcoinBlock {
  const byId = Map.groupBy(coins, ({ txId }) => toHex(txId));
  const raw = concatBytes(new Uint8Array(80), compactBytes(byId.size), ...coins.map(({ output }) => output));
  const starts = new Map<SeedCoin, number>();
  let at = raw.length - coins.reduce((sum, { output }) => sum + output.length, 0);
  for (const coin of coins) {
    starts.set(coin, at);
    at += coin.output.length;
  }
  const txs = [...byId.values()].map((own) => {
    const first = starts.get(own[0])!;
    const tx = new BitcoinTx(raw, first);
    tx.end = first + own[0].output.length;
    tx.id = own[0].txId;
    const creates = own.toSorted((a, b) => a.index - b.index).map((coin) => createOf(coin, starts.get(coin)!));
    Object.defineProperties(tx, { spends: { value: [] }, creates: { value: creates } });
    return tx;
  });
  return new BitcoinBlock(raw, block.height - 1, block.prevHash!, txs, raw.length);
}

function createOf({ index, output, coinbase }: SeedCoin, start: number): Create {
  const view = new DataView(output.buffer, output.byteOffset, output.length);
  const end = start + output.length;
  const head = output[8] < 0xfd ? 9 : 11;
  return {
    index,
    start,
    end,
    addressStart: start + head,
    addressEnd: end,
    valueLo: view.getUint32(0, true),
    valueHi: view.getUint32(4, true),
    flags: coinbase ? OUTPUT_FLAG.coinbase : 0,
  };
}
