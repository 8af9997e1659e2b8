/**
 * A block of the Bitcoin family as the fold needs it: transactions in order,
 * what each spends and what it creates. One pass over the block's own bytes;
 * inputs, outputs and scripts stay where they are and are named by position.
 *
 * Hashes and ids are in the order in which they stand in a block; people write
 * them the other way round (`ids.ts`). A block does not say its height before
 * BIP34, so whoever has it says where it stands.
 */

import { sha256d, sha256dWithout } from '../../crypto/sha256.ts';
import { ManyHashes } from '../../crypto/sha256-many.ts';
import { concatBytes, readU32LE, writeU32LE } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { BLOCK_BYTES_MAX, BLOCK_TXS_MAX } from '../../util/limits.ts';
import type { Block, HeaderFacts } from '../ledger.ts';
import { Cursor, compactBytes } from './cursor.ts';
import { BitcoinTx, EXTENDED, LOCK_TIME_BYTES, passOutput } from './transaction.ts';

export const HEADER_BYTES = 80;
const BLOCK_EXTRA_BYTES = 4 + HEADER_BYTES;
const HASH_BYTES = 32;
/** Bytes of the shortest input, output and transaction. */
const INPUT_BYTES_MIN = 41;
const OUTPUT_BYTES_MIN = 9;
const TX_BYTES_MIN = 10;
/** What a coinbase names as the output it spends. */
const NO_OUTPUT = 0xffff_ffff;
/** A block, decoded. */
export class BitcoinBlock implements Block {
  /** Its bytes. */
  readonly raw: Uint8Array;
  /** Blocks before it. */
  readonly height: number;
  /** 32 bytes in the order of a block; `formatId` writes it as people do. */
  readonly hash: Uint8Array;
  /** The hash of the block before it; null: there is none. */
  readonly prevHash: Uint8Array | null;
  /** Its transactions, in its order. */
  readonly txs: readonly BitcoinTx[];
  /** Where the last transaction ends; behind it only Litecoin has something. */
  readonly bodyEnd: number;
  /** Always false: there are no boundary blocks here. */
  readonly boundary = false;
  /** Always 0: there are no eras here. */
  readonly era = 0;

  /** @internal */
  constructor(raw: Uint8Array, height: number, hash: Uint8Array, txs: readonly BitcoinTx[], bodyEnd: number) {
    this.raw = raw;
    this.height = height;
    this.hash = hash;
    this.prevHash = prevHashOf(raw);
    this.txs = txs;
    this.bodyEnd = bodyEnd;
  }

  /** These chains have no clock of their own but their blocks. */
  get slot(): number {
    return this.height;
  }

  /** Its weight and its header: what a reader asks of a block without asking for its transactions. */
  get extra(): Uint8Array {
    return writeExtra(this.weight, this.raw);
  }

  /** BIP141. What Litecoin writes behind the transactions is not counted. */
  get weight(): number {
    let weight = 4 * this.txs[0].start;
    for (const tx of this.txs) weight += tx.weight;
    return weight;
  }

  /** What its header says. */
  get header(): Header {
    return readHeader(this.raw);
  }
}

/** What the header of a block says. */
export interface Header {
  /** The version it states. */
  readonly version: number;
  /** The hash of the block before it, in the order of a block. */
  readonly prevHash: Uint8Array;
  /** The root over the transactions, in the order of a block. */
  readonly merkleRoot: Uint8Array;
  /** Unix seconds, as the miner saw them: not always more than the block before. */
  readonly time: number;
  /** The target of its proof of work in the short form. */
  readonly bits: number;
  /** The number its proof of work was found with. */
  readonly nonce: number;
}

function writeExtra(weight: number, raw: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(BLOCK_EXTRA_BYTES);
  writeU32LE(bytes, 0, weight);
  bytes.set(raw.subarray(0, HEADER_BYTES), 4);
  return bytes;
}

/** From a header alone: its weight is then not known, and 0; that nothing comes before it is all it may say of its place. Throws BLOCK_INVALID. */
export function readFacts(header: Uint8Array): HeaderFacts {
  if (header.length !== HEADER_BYTES) throw new UnspentError('BLOCK_INVALID', `a header has ${HEADER_BYTES} bytes, not ${header.length}`);
  const prevHash = prevHashOf(header);
  const place = prevHash === null ? { height: 0, slot: 0, boundary: false } : null;
  return { hash: headerHash(header), prevHash, place, extra: writeExtra(0, header) };
}

/** What a block's row in the chain carries (`BitcoinBlock.extra`). */
export function readExtra(extra: Uint8Array): { readonly weight: number; readonly header: Uint8Array } {
  return { weight: readU32LE(extra, 0), header: extra.subarray(4, BLOCK_EXTRA_BYTES) };
}

/** The 80 bytes a block begins with. */
export function readHeader(raw: Uint8Array): Header {
  new Cursor(raw).take(HEADER_BYTES);
  return {
    version: readU32LE(raw, 0) | 0,
    prevHash: raw.subarray(4, 36),
    merkleRoot: raw.subarray(36, 68),
    time: readU32LE(raw, 68),
    bits: readU32LE(raw, 72),
    nonce: readU32LE(raw, 76),
  };
}

/** The hash of the block whose header this is, or begins with: 32 bytes in the order of a block. */
export function headerHash(raw: Uint8Array): Uint8Array {
  new Cursor(raw).take(HEADER_BYTES);
  return sha256d(raw, 0, HEADER_BYTES);
}

/** What a header names as the block before it; null for the first, which names none. */
export function prevHashOf(raw: Uint8Array): Uint8Array | null {
  for (let i = 4; i < 36; i++) if (raw[i] !== 0) return raw.subarray(4, 36);
  return null;
}

/** `mweb`: the chain has Litecoin's extension blocks. Throws BLOCK_INVALID with the position of what is wrong. */
export function decodeBlock(raw: Uint8Array, height: number, mweb = false): BitcoinBlock {
  const c = new Cursor(raw);
  if (raw.length > BLOCK_BYTES_MAX) c.fail(`a block of ${raw.length} bytes; the longest there can be has ${BLOCK_BYTES_MAX}`);
  c.take(HEADER_BYTES);
  const count = c.count(TX_BYTES_MIN, 'transactions');
  if (count === 0 || count > BLOCK_TXS_MAX) c.fail(`a block of ${count} transactions`);
  const txs: BitcoinTx[] = [];
  for (let i = 0; i < count; i++) txs.push(transaction(c, i === 0, height === 0, mweb));
  // Litecoin writes the extension block behind a last transaction that says so.
  if (c.left > 0 && !(count > 1 && txs[count - 1].hasMweb)) c.fail('bytes after the end of the block');
  nameTxs(raw, txs);
  return new BitcoinBlock(raw, height, sha256d(raw, 0, HEADER_BYTES), txs, c.at);
}

/** The ids of a block's transactions, side by side in memory of their own. */
function nameTxs(raw: Uint8Array, txs: readonly BitcoinTx[]): void {
  const ids = new Uint8Array(HASH_BYTES * txs.length);
  txIds ??= new ManyHashes(true);
  txIds.clear();
  for (let i = 0; i < txs.length; i++) {
    const tx = txs[i];
    const at = HASH_BYTES * i;
    tx.id = ids.subarray(at, at + HASH_BYTES);
    if (tx.extended === 0) txIds.add(raw, tx.start, tx.end, ids, at);
    else txIds.addWithout(raw, tx.start, tx.end, markerOf(tx), [tx.bodyEnd, tx.lockTimeAt], ids, at);
  }
  txIds.finish();
}

/** In the order in which a transaction has them: the marker and flags of the extended form, which its id does not cover. */
function markerOf({ start, bodyStart }: BitcoinTx): readonly [number, number] {
  return [start + 4, bodyStart];
}

let txIds: ManyHashes | null = null;

/** A transaction that stands alone, as nodes relay it. Throws BLOCK_INVALID. */
export function decodeTx(raw: Uint8Array, mweb = false): BitcoinTx {
  const c = new Cursor(raw);
  const tx = readTx(c, mweb);
  // What the extension adds has no length of its own, but nothing else follows than the lock time.
  if (tx.hasMweb && c.left > 4) c.at = c.end - 4;
  lockTime(c, tx);
  if (c.left > 0) c.fail('bytes after the end of the transaction');
  if (tx.extended === 0) tx.id = sha256d(raw, tx.start, tx.end);
  else tx.id = sha256dWithout(raw, tx.start, tx.end, markerOf(tx), [tx.bodyEnd, tx.lockTimeAt]);
  return tx;
}

function transaction(c: Cursor, first: boolean, genesis: boolean, mweb: boolean): BitcoinTx {
  const tx = readTx(c, mweb);
  if (tx.coinbase !== first)
    c.fail(first ? 'the first transaction is not a coinbase' : 'a coinbase behind the first transaction', tx.start);
  // In a block the extension of a transaction is one byte that says "none".
  if (tx.hasMweb && c.u8() !== 0) c.fail('a transaction in a block with data of the extension', c.at - 1);
  lockTime(c, tx);
  // The output of the first block of all was never in the set (Core's CreateGenesisBlock).
  if (genesis) tx.createsNothing = true;
  return tx;
}

/** All but what stands between the witnesses and the end. */
function readTx(c: Cursor, mweb: boolean): BitcoinTx {
  const tx = new BitcoinTx(c.bytes, c.at);
  c.take(4);
  // A marker where a number of inputs would be zero: the form with more in it.
  if (c.left > 1 && c.bytes[c.at] === 0) {
    c.at++;
    tx.extended = c.u8();
    const known = EXTENDED.witness | (mweb ? EXTENDED.mweb : 0);
    if (tx.extended === 0 || (tx.extended & ~known) !== 0) c.fail(`an extended transaction of unknown kind ${tx.extended}`, c.at - 1);
  }
  tx.bodyStart = c.at;
  const inputs = passInputs(c, tx);
  passOutputs(c, tx);
  tx.bodyEnd = c.at;
  if (tx.hasWitness) skipWitnesses(c, inputs);
  tx.witnessEnd = c.at;
  return tx;
}

function lockTime(c: Cursor, tx: BitcoinTx): void {
  c.take(LOCK_TIME_BYTES);
  tx.end = c.at;
}

/** Checks them; what they spend is read when it is asked for. */
function passInputs(c: Cursor, tx: BitcoinTx): number {
  const count = c.count(INPUT_BYTES_MIN, 'inputs');
  if (count === 0) c.fail('a transaction without inputs', tx.start);
  for (let i = 0; i < count; i++) {
    const at = c.take(HASH_BYTES);
    if (c.u32() === NO_OUTPUT && isZero(c.bytes, at)) {
      if (count > 1) c.fail('a null outpoint among other inputs', at);
      tx.coinbase = true;
    }
    c.span();
    c.take(4);
  }
  return count;
}

function isZero(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < HASH_BYTES; i++) if (bytes[at + i] !== 0) return false;
  return true;
}

/** The same of its outputs. */
function passOutputs(c: Cursor, tx: BitcoinTx): void {
  tx.outputs = c.count(OUTPUT_BYTES_MIN, 'outputs');
  if (tx.outputs === 0) c.fail('a transaction without outputs', tx.start);
  tx.outputsStart = c.at;
  for (let i = 0; i < tx.outputs; i++) passOutput(c);
}

function skipWitnesses(c: Cursor, inputs: number): void {
  const from = c.at;
  let items = 0;
  for (let i = 0; i < inputs; i++) {
    const count = c.count(1, 'witness items');
    for (let j = 0; j < count; j++) c.span();
    items += count;
  }
  if (items === 0) c.fail('witnesses that are all empty', from);
}

/** A block as it came: its header from what its row carries, its transactions, and what stood behind them. */
export function joinBlock(extra: Uint8Array, txs: readonly Uint8Array[], tail: Uint8Array | undefined): Uint8Array {
  return concatBytes(readExtra(extra).header, compactBytes(txs.length), ...txs, ...(tail === undefined ? [] : [tail]));
}
