/**
 * The sample blocks of the Bitcoin family and the table that came with them,
 * and the plainest set of unspent outputs there can be: a map, with an undo for
 * each block. What the store will do is compared with this.
 */
import assert from 'node:assert/strict';
import {
  type BitcoinBlock,
  type BitcoinNetwork,
  bitcoinNetwork,
  type CoinRecord,
  formatId,
  OUTPUT_FLAG,
  SerializedHash2,
  SerializedHash3,
  SetTotals,
} from '../../../src/ledgers/bitcoin/index.ts';
import { compareBytes, toHex } from '../../../src/util/bytes.ts';
import { hasFixtures, readFixture, readFixtureText } from '../../support/fixtures.ts';

export const bitcoin = bitcoinNetwork('bitcoin');
export const testnet3 = bitcoinNetwork('bitcoin-testnet3');
export const regtest = bitcoinNetwork('bitcoin-regtest');

export function sampleBytes(file: string): Uint8Array {
  return new Uint8Array(readFixture('bitcoin', 'blocks', file));
}

function tableRows(cells: number): string[][] {
  if (!hasFixtures) return [];
  return readFixtureText('bitcoin', 'blocks', 'README.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter((row) => row.length === cells);
}

/** A single block and what the table says of it. */
export interface Sample {
  readonly file: string;
  readonly network: BitcoinNetwork;
  readonly height: number;
  readonly hash: string;
  readonly bytes: number;
  readonly txs: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly witnessTxs: number;
  readonly inBlock: number;
  /** Outputs by kind, in the table's words. */
  readonly kinds: Readonly<Record<string, number>>;
}

export const samples: readonly Sample[] = tableRows(12)
  .filter(([file]) => file.endsWith('.raw'))
  .map(([file, net, height, hash, bytes, txs, inputs, outputs, witnessTxs, inBlock, , features]) => ({
    file,
    network: net === 'mainnet' ? bitcoin : testnet3,
    height: Number(height),
    hash,
    bytes: Number(bytes),
    txs: Number(txs),
    inputs: Number(inputs),
    outputs: Number(outputs),
    witnessTxs: Number(witnessTxs),
    inBlock: Number(inBlock),
    kinds: kindsOf(features.slice(features.indexOf('outputs: ') + 'outputs: '.length)),
  }));

function kindsOf(text: string): Record<string, number> {
  return Object.fromEntries(text.split(', ').map((pair) => [pair.split(' ')[0], Number(pair.split(' ')[1])]));
}

/** What the set adds up to after a chain, in the words of the table. */
export interface Expected {
  readonly coins: number;
  readonly ids: number;
  readonly value: string;
  readonly bogosize: number;
  readonly hash2: string;
  readonly hash3: string;
  readonly muhash: string;
}

export const expectedSets: ReadonlyMap<string, Expected> = new Map(
  tableRows(8)
    .filter(([, coins]) => /^\d+$/.test(coins))
    .map(([chain, coins, ids, value, bogosize, hash2, hash3, muhash]) => [
      chain,
      { coins: Number(coins), ids: Number(ids), value, bogosize: Number(bogosize), hash2, hash3, muhash },
    ]),
);

/** The blocks of a file of records: magic, length, block. */
export function readRun(file: string): Uint8Array[] {
  const bytes = sampleBytes(file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    assert.equal(view.getUint32(at), bitcoin.magic, file);
    const length = view.getUint32(at + 4, true);
    blocks.push(bytes.slice(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return blocks;
}

interface Undo {
  readonly created: readonly string[];
  readonly spent: readonly CoinRecord[];
}

/** The unspent outputs, kept in a map, with their totals kept beside it step by step. */
export class PlainSet {
  readonly coins = new Map<string, CoinRecord>();
  readonly totals = new SetTotals();
  private readonly undos: Undo[] = [];

  apply(block: BitcoinBlock): void {
    const created: string[] = [];
    const spent: CoinRecord[] = [];
    for (const tx of block.txs) {
      for (const { at, index } of tx.spends) {
        const key = `${toHex(block.raw, at, at + 32)}#${index}`;
        const coin = this.coins.get(key) ?? assert.fail(`${key} is not unspent at height ${block.height}`);
        spent.push(coin);
        this.drop(key, coin);
      }
      for (const { index, start, end, flags } of tx.creates) {
        const coinbase = (flags & OUTPUT_FLAG.coinbase) !== 0;
        const coin = { txId: tx.id, index, height: block.height, coinbase, output: block.raw.slice(start, end) };
        created.push(keyOf(coin));
        this.put(coin);
      }
    }
    this.undos.push({ created, spent });
  }

  /** Takes the newest block back. */
  revert(): void {
    const { created, spent } = this.undos.pop() ?? assert.fail('nothing to undo');
    // What it spent is unspent again first, because it may have spent what it created.
    for (const coin of [...spent].reverse()) this.put(coin);
    for (const key of [...created].reverse()) this.drop(key, this.coins.get(key) ?? assert.fail(key));
  }

  private put(coin: CoinRecord): void {
    const key = keyOf(coin);
    assert.ok(!this.coins.has(key), `${key} is unspent already`);
    this.coins.set(key, coin);
    this.totals.add(coin);
  }

  private drop(key: string, coin: CoinRecord): void {
    this.coins.delete(key);
    this.totals.remove(coin);
  }

  inOrder(): CoinRecord[] {
    return [...this.coins.values()].sort((a, b) => compareBytes(a.txId, b.txId) || a.index - b.index);
  }

  summary(tipHash: Uint8Array): Expected {
    const hash2 = new SerializedHash2(tipHash);
    const hash3 = new SerializedHash3();
    const coins = this.inOrder();
    for (const coin of coins) {
      hash2.add(coin);
      hash3.add(coin);
    }
    const { count, value, bogosize, muhash } = this.totals;
    assert.equal(count, coins.length);
    return {
      coins: count,
      ids: new Set(coins.map(({ txId }) => toHex(txId))).size,
      value: value.toString(),
      bogosize,
      hash2: formatId(hash2.digest()),
      hash3: formatId(hash3.digest()),
      muhash: formatId(muhash.digest()),
    };
  }
}

function keyOf({ txId, index }: CoinRecord): string {
  return `${toHex(txId)}#${index}`;
}
