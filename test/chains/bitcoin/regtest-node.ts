/**
 * What a node would ask of each block of a regtest chain, in the plainest way
 * and by other code: bitcoinjs-lib reads the block and checks its trees, this
 * checks work, time, locks, maturity, value and what unlocks each coin.
 */
import assert from 'node:assert/strict';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { Block, type Transaction } from 'bitcoinjs-lib';
import type { RegtestDevnet } from '../../../src/chains/bitcoin/regtest/index.ts';
import { toHex } from '../../../src/util/bytes.ts';

const COIN = 100_000_000n;
const TARGET = 0x7fffffn << (8n * 29n);
const FINAL = 0xffffffff;
const TRUE = '51';

export interface NodeCoin {
  readonly value: bigint;
  readonly script: string;
  readonly height: number;
  readonly coinbase: boolean;
}

export interface Checked {
  readonly coins: Map<string, NodeCoin>;
  readonly txs: number;
  readonly fees: bigint;
  /** Spends of what the same block made. */
  readonly inside: number;
  /** How often each kind of script was spent and paid. */
  readonly spent: Map<string, number>;
  readonly paid: Map<string, number>;
}

/** The whole chain from its first block. Throws at the first thing a node would not take. */
export function checkChain(devnet: RegtestDevnet, now: number): Checked {
  const state = { coins: new Map(), txs: 0, fees: 0n, inside: 0, spent: new Map(), paid: new Map() };
  const headers: Block[] = [];
  for (let height = 0; height <= devnet.height; height++) {
    const block = Block.fromBuffer(Buffer.from(devnet.block(devnet.hashAt(height)!)!));
    if (height > 0) checkBlock(state, headers, block, height, now);
    headers.push(block);
  }
  return state;
}

type State = { -readonly [K in keyof Checked]: Checked[K] };

function checkBlock(state: State, headers: readonly Block[], block: Block, height: number, now: number): void {
  const times = headers.slice(-11).map(({ timestamp }) => timestamp);
  const median = times.sort((a, b) => a - b)[times.length >> 1];
  assert.ok(Buffer.from(block.prevHash!).equals(Buffer.from(headers[height - 1].getHash())), 'follows the one before');
  assert.equal(block.bits, 0x207fffff);
  assert.ok(BigInt(`0x${block.getId()}`) <= TARGET && block.checkProofOfWork(), 'has its proof of work');
  assert.ok(block.timestamp > median && block.timestamp <= now + 7200, 'is in time');
  assert.ok(block.checkTxRoots(), 'has the trees its header and coinbase say');
  assert.ok(block.weight() <= 4_000_000, 'is not too heavy');
  const [coinbase, ...txs] = block.transactions!;
  assert.ok(coinbase.isCoinbase() && coinbase.outs.some(({ script }) => toHex(script).startsWith('6a24aa21a9ed')), 'commits to witnesses');
  assert.ok(toHex(coinbase.ins[0].script).startsWith(heightPush(height)), 'says its height');
  assert.ok(coinbase.ins[0].script.length <= 100);
  const born = new Set<string>();
  let fees = 0n;
  for (const tx of txs) fees += checkTx(state, tx, height, median, born);
  const subsidy = (50n * COIN) >> BigInt(Math.floor(height / 150));
  const paid = coinbase.outs.reduce((sum, { value }) => sum + BigInt(value), 0n);
  assert.equal(paid, subsidy + fees, 'pays the subsidy and the fees');
  create(state, coinbase, height, born);
  state.fees += fees;
}

function checkTx(state: State, tx: Transaction, height: number, median: number, born: Set<string>): bigint {
  assert.ok(!tx.isCoinbase() && tx.ins.length > 0 && tx.outs.length > 0);
  const now = tx.locktime < 500_000_000 ? height : median;
  assert.ok(tx.locktime === 0 || tx.locktime < now || tx.ins.every(({ sequence }) => sequence === FINAL), 'is final');
  assert.ok(tx.byteLength(false) >= 65);
  let sum = 0n;
  for (const input of tx.ins) {
    const key = `${toHex(input.hash)}:${input.index}`;
    const coin = state.coins.get(key);
    assert.ok(coin !== undefined, `${key} is unspent`);
    assert.ok(!coin.coinbase || height - coin.height >= 100, 'the coinbase is mature');
    assert.ok((input.sequence & 0x80000000) !== 0, 'no relative lock is made up');
    unlock(
      coin.script,
      toHex(input.script),
      input.witness.map((item) => toHex(item)),
    );
    state.coins.delete(key);
    if (born.has(key)) state.inside++;
    count(state.spent, kindOf(coin.script));
    sum += coin.value;
  }
  create(state, tx, height, born);
  state.txs++;
  const fee = sum - tx.outs.reduce((total, { value }) => total + BigInt(value), 0n);
  assert.ok(fee >= BigInt(tx.virtualSize()), `a fee of ${fee} for ${tx.virtualSize()} vB`);
  return fee;
}

function create(state: State, tx: Transaction, height: number, born: Set<string>): void {
  const id = toHex(tx.getHash());
  tx.outs.forEach(({ value, script }, index) => {
    const hex = toHex(script);
    count(state.paid, kindOf(hex));
    if (hex.startsWith('6a')) return;
    const key = `${id}:${index}`;
    assert.ok(!state.coins.has(key), `${key} is new`);
    state.coins.set(key, { value: BigInt(value), script: hex, height, coinbase: tx.isCoinbase() });
    born.add(key);
  });
}

/** The three ways, with or without a name before OP_TRUE. */
function unlock(script: string, scriptSig: string, witness: readonly string[]): void {
  const isOpen = (hex: string): boolean => hex === TRUE || /^04[0-9a-f]{8}7551$/.test(hex);
  const overWitness = (program: string): void => {
    assert.equal(witness.length, 1);
    assert.ok(isOpen(witness[0]));
    assert.equal(`0020${toHex(sha256(Buffer.from(witness[0], 'hex')))}`, program);
  };
  if (script.startsWith('0020')) {
    assert.equal(scriptSig, '');
    overWitness(script);
    return;
  }
  if (!script.startsWith('a914')) {
    assert.deepEqual([script, scriptSig, witness], [TRUE, '', []]);
    return;
  }
  const redeem = scriptSig.slice(2);
  assert.equal(Number.parseInt(scriptSig.slice(0, 2), 16), redeem.length / 2);
  assert.equal(`a914${toHex(ripemd160(sha256(Buffer.from(redeem, 'hex'))))}87`, script);
  if (redeem.startsWith('0020')) overWitness(redeem);
  else assert.deepEqual([redeem, witness], [TRUE, []]);
}

function kindOf(hex: string): string {
  if (hex === TRUE) return 'bare';
  if (hex.startsWith('6a')) return 'data';
  if (hex.startsWith('a914')) return 'p2sh';
  if (hex.startsWith('0020')) return 'p2wsh';
  if (hex.startsWith('0014')) return 'p2wpkh';
  if (hex.startsWith('76a914')) return 'p2pkh';
  if (hex.startsWith('5120') && hex.length === 68) return 'p2tr';
  if (hex.endsWith('53ae')) return 'multisig';
  return hex.endsWith('ac') && hex.length === 70 ? 'p2pk' : 'future';
}

function count(counts: Map<string, number>, kind: string): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}

/** BIP34, as Core's `CScript() << height` writes it. */
function heightPush(height: number): string {
  if (height <= 16) return (0x50 + height).toString(16);
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(height);
  let length = 4;
  while (length > 0 && bytes[length - 1] === 0) length--;
  if ((bytes[length - 1] & 0x80) !== 0) length++;
  return `0${length}${toHex(bytes.subarray(0, length))}`;
}
