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
import { concatBytes, readU32LE, writeU32LE } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { BLOCK_BYTES_MAX, BLOCK_TXS_MAX } from '../../util/limits.ts';
import type { Block, Create, HeaderFacts, Spend, Tx } from '../ledger.ts';
import { Cursor, compactBytes } from './cursor.ts';

/** Bits of `Create.flags`. */
export const OUTPUT_FLAG = { coinbase: 1 } as const;

export const HEADER_BYTES = 80;
const BLOCK_EXTRA_BYTES = 4 + HEADER_BYTES;
const HASH_BYTES = 32;
/** Bits of the byte behind the marker of an extended transaction (BIP144; Litecoin's LIP-0003). */
const EXTENDED = { witness: 1, mweb: 8 } as const;
/** Bytes of the shortest input, output and transaction. */
const INPUT_BYTES_MIN = 41;
const OUTPUT_BYTES_MIN = 9;
const TX_BYTES_MIN = 10;
/** What a coinbase names as the output it spends. */
const NO_OUTPUT = 0xffff_ffff;
/** Core's MAX_SCRIPT_SIZE: nothing can spend an output whose script is longer. */
const SCRIPT_BYTES_MAX = 10_000;
const OP_RETURN = 0x6a;
const NONE: readonly never[] = Object.freeze([]);
const NO_BYTES = new Uint8Array(0);

/** A transaction, in a block or alone. */
export class BitcoinTx implements Tx {
  /** The bytes it stands in. */
  readonly raw: Uint8Array;
  /** Where it begins in them. */
  readonly start: number;
  /** Where it ends. */
  end = 0;
  /** 32 bytes in the order of a block; `formatId` writes it as people do. */
  id: Uint8Array = NO_BYTES;
  /** Always true. */
  readonly valid = true;
  /** The outputs it consumes; none of a coinbase. */
  spends: readonly Spend[] = NONE;
  /** Outputs that can ever be spent. */
  creates: readonly Create[] = NONE;
  /** Where its inputs and outputs begin. */
  bodyStart = 0;
  /** Where its witnesses (or its lock time) begin. */
  bodyEnd = 0;
  /** Where its witnesses end. */
  witnessEnd = 0;
  /** Where its lock time is: four bytes before the end. */
  lockTimeAt = 0;
  /** Bits of EXTENDED; 0: the old form. */
  extended = 0;
  /** Whether it is a block's reward. */
  coinbase = false;

  /** @internal */
  constructor(raw: Uint8Array, start: number) {
    this.raw = raw;
    this.start = start;
  }

  /** Whether it has witnesses. */
  get hasWitness(): boolean {
    return (this.extended & EXTENDED.witness) !== 0;
  }

  /** Litecoin: it has a part in the extension block. Inside a block that is the last one, which moves what enters and leaves. */
  get hasMweb(): boolean {
    return (this.extended & EXTENDED.mweb) !== 0;
  }

  /** The hash that covers the witnesses too. Recomputed each time it is asked for. */
  get witnessId(): Uint8Array {
    if (!this.hasWitness) return this.id;
    if (!this.hasMweb) return sha256d(this.raw, this.start, this.end);
    // Without the extension: the byte of flags says so, and what stands before the lock time is not there.
    const plain = this.raw.slice(this.start, this.end);
    plain[5] = EXTENDED.witness;
    const nothing = [plain.length, plain.length] as const;
    return sha256dWithout(plain, 0, plain.length, [this.witnessEnd - this.start, this.lockTimeAt - this.start], nothing);
  }

  /** Bytes without the witnesses: what the id covers. */
  get strippedSize(): number {
    return 8 + this.bodyEnd - this.bodyStart;
  }

  /** Its bytes. */
  get size(): number {
    return this.end - this.start;
  }

  /** BIP141: a byte outside the witnesses counts four times. */
  get weight(): number {
    return 3 * this.strippedSize + this.size;
  }
}

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
  return new BitcoinBlock(raw, height, sha256d(raw, 0, HEADER_BYTES), txs, c.at);
}

/** A transaction that stands alone, as nodes relay it. Throws BLOCK_INVALID. */
export function decodeTx(raw: Uint8Array, mweb = false): BitcoinTx {
  const c = new Cursor(raw);
  const tx = readTx(c, mweb);
  // What the extension adds has no length of its own, but nothing else follows than the lock time.
  if (tx.hasMweb && c.left > 4) c.at = c.end - 4;
  lockTime(c, tx);
  if (c.left > 0) c.fail('bytes after the end of the transaction');
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
  if (genesis) tx.creates = NONE;
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
  const inputs = readInputs(c, tx);
  readOutputs(c, tx);
  tx.bodyEnd = c.at;
  if (tx.hasWitness) skipWitnesses(c, inputs);
  tx.witnessEnd = c.at;
  return tx;
}

function lockTime(c: Cursor, tx: BitcoinTx): void {
  tx.lockTimeAt = c.take(4);
  tx.end = c.at;
  const { bytes } = c;
  if (tx.extended === 0) tx.id = sha256d(bytes, tx.start, tx.end);
  else tx.id = sha256dWithout(bytes, tx.start, tx.end, [tx.start + 4, tx.bodyStart], [tx.bodyEnd, tx.lockTimeAt]);
}

function readInputs(c: Cursor, tx: BitcoinTx): number {
  const count = c.count(INPUT_BYTES_MIN, 'inputs');
  if (count === 0) c.fail('a transaction without inputs', tx.start);
  const spends: Spend[] = [];
  for (let i = 0; i < count; i++) {
    const at = c.take(HASH_BYTES);
    const index = c.u32();
    if (index === NO_OUTPUT && isZero(c.bytes, at)) {
      if (count > 1) c.fail('a null outpoint among other inputs', at);
      tx.coinbase = true;
    } else spends.push({ at, index });
    c.span();
    c.take(4);
  }
  tx.spends = spends;
  return count;
}

function isZero(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < HASH_BYTES; i++) if (bytes[at + i] !== 0) return false;
  return true;
}

function readOutputs(c: Cursor, tx: BitcoinTx): void {
  const count = c.count(OUTPUT_BYTES_MIN, 'outputs');
  if (count === 0) c.fail('a transaction without outputs', tx.start);
  const flags = tx.coinbase ? OUTPUT_FLAG.coinbase : 0;
  const creates: Create[] = [];
  for (let index = 0; index < count; index++) {
    const create = readOutput(c, index, flags);
    if (!isUnspendable(c.bytes, create.addressStart, create.addressEnd)) creates.push(create);
  }
  tx.creates = creates;
}

/** The output of that number, if it can ever be spent. They stand in order, with gaps where some cannot. */
export function createOf({ creates }: Tx, index: number): Create | undefined {
  let [low, high] = [0, creates.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (creates[middle].index < index) low = middle + 1;
    else high = middle;
  }
  return creates[low]?.index === index ? creates[low] : undefined;
}

/** Value and script: what is stored, byte for byte. The script is what an address is to other chains. */
export function readOutput(c: Cursor, index: number, flags: number): Create {
  const start = c.at;
  c.u64();
  const { hi: valueHi, lo: valueLo } = c;
  if (valueHi > 0x7fff_ffff) c.fail('an output of less than nothing', start);
  c.span();
  return { index, start, end: c.at, addressStart: c.start, addressEnd: c.stop, valueHi, valueLo, flags };
}

/** Core's `CScript::IsUnspendable`: such an output never enters the set. */
export function isUnspendable(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start > SCRIPT_BYTES_MAX || (end > start && bytes[start] === OP_RETURN);
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
