/**
 * A Cardano block as the fold needs it: transactions in order, what each spends
 * and what it creates. One pass over the block's own bytes; outputs, inputs and
 * addresses stay where they are and are named by their position.
 *
 * Whatever a person wants to read (assets, datum, fee, mint) is decoded on
 * demand by `transaction.ts` and `describe.ts`.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import { ARRAY, Cursor as CborCursor, type Cursor, MAP, TAG, UINT } from '../../util/cbor.ts';
import { BLOCK_TXS_MAX, DUPLICATE_SCAN_MAX } from '../../util/limits.ts';
import type { Block, Create, Spend, Tx } from '../ledger.ts';
import { OUTPUT_INDEX_MAX } from '../outpoint.ts';
import { ERA, type Header, headerAt } from './header.ts';

/** Bits of `Create.flags`. */
export const OUTPUT_FLAG = { collateralReturn: 1, genesis: 2 } as const;

const NONE: readonly never[] = Object.freeze([]);
const SET_TAG = 258;

/** A transaction of a block. */
export class CardanoTx implements Tx {
  /** 32 bytes. */
  id: Uint8Array = EMPTY_ID;
  /** False: its scripts failed, and `spends` and `creates` are those of its collateral. */
  valid = true;
  /** The outputs it consumes. */
  spends: readonly Spend[] = NONE;
  /** The outputs it makes. */
  creates: readonly Create[] = NONE;
  /** Where its body (Byron: the transaction) begins in the block's bytes. */
  readonly start: number;
  /** Where its body ends. */
  end = 0;
  /** Where its mint (9) stands, or 0. */
  mintAt = 0;
  /** Where its collateral (13) stands, or 0. */
  collateralAt = 0;
  /** Where the return of its collateral (16) stands, or 0. */
  returnAt = 0;

  /** @internal */
  constructor(start: number) {
    this.start = start;
  }
}

/** A block, decoded. */
export class CardanoBlock implements Block {
  /** Its bytes. */
  readonly raw: Uint8Array;
  /** What its header says. */
  readonly header: Header;
  /** Its transactions, in its order. */
  readonly txs: readonly CardanoTx[];
  /** Where each part of the body begins, and the end of the last. */
  readonly parts: readonly number[];
  /** The tag of its era. */
  readonly era: number;
  /** Blocks before it. */
  readonly height: number;
  /** Its slot. */
  readonly slot: number;
  /** Its hash. */
  readonly hash: Uint8Array;
  /** The hash of the block before it; null: there is none. */
  readonly prevHash: Uint8Array | null;
  /** Whether it opens a Byron epoch and has the height of the block before it. */
  readonly boundary: boolean;

  /** @internal */
  constructor(raw: Uint8Array, header: Header, txs: readonly CardanoTx[], parts: readonly number[]) {
    this.raw = raw;
    this.header = header;
    this.txs = txs;
    this.parts = parts;
    this.era = header.era;
    this.height = header.height;
    this.slot = header.slot;
    this.hash = header.hash;
    this.prevHash = header.prevHash;
    this.boundary = header.boundary;
  }

  /** Who made it; empty where the chain does not say. */
  get extra(): Uint8Array {
    return this.header.issuer;
  }

  /** The header as it stands: what the hash is made from. */
  get headerBytes(): Uint8Array {
    return this.header.bytes;
  }
}

const EMPTY_ID = new Uint8Array(32);

/** Decodes a wrapped block `[eraTag, block]`. Throws BLOCK_INVALID with the position of what is wrong. */
export function decodeBlock(raw: Uint8Array, byronEpochSlots: number): CardanoBlock {
  const c = new CborCursor(raw);
  return decodeBody(c, headerAt(c, byronEpochSlots));
}

/** Decodes a block whose header was read before: the cursor stands right behind it. */
export function decodeBody(c: Cursor, header: Header): CardanoBlock {
  const raw = c.bytes;
  const parts: number[] = [c.at];
  const txs = header.era <= ERA.byron ? byronBody(c, header, parts) : shelleyBody(c, header, parts);
  closeBlock(c);
  if (c.at !== raw.length) c.fail('bytes after the end of the block');
  return new CardanoBlock(raw, header, txs, parts);
}

/** The block's own array and the wrapper's, where they are of indefinite length, end with a break each: no more, no less. */
function closeBlock(c: Cursor): void {
  const heads = new CborCursor(c.bytes);
  const wrapper = heads.array();
  heads.uint();
  c.close(heads.array());
  c.close(wrapper);
}

function shelleyBody(c: Cursor, header: Header, parts: number[]): readonly CardanoTx[] {
  const txs = transactionBodies(c);
  for (let i = 1; i < header.bodyParts; i++) {
    parts.push(c.at);
    if (i === 3) applyInvalid(c, txs);
    else c.skip();
  }
  parts.push(c.at);
  return txs;
}

function transactionBodies(c: Cursor): readonly CardanoTx[] {
  const count = c.array();
  if (count === 0) return NONE;
  const txs: CardanoTx[] = [];
  for (let i = 0; c.more(count, i); i++) {
    if (i === BLOCK_TXS_MAX) c.fail(`more than ${BLOCK_TXS_MAX} transactions`);
    txs.push(transactionBody(c));
  }
  return txs;
}

/** Reads a body of Shelley or later, as if its transaction were valid. */
export function transactionBody(c: Cursor): CardanoTx {
  const tx = new CardanoTx(c.at);
  const count = c.map();
  let seen = 0;
  for (let i = 0; c.more(count, i); i++) {
    const key = c.uint();
    if (key < 32) {
      if (seen & (1 << key)) c.fail(`transaction body has key ${key} twice`);
      seen |= 1 << key;
    }
    if (key === 0) tx.spends = inputs(c);
    else if (key === 1) tx.creates = outputs(c);
    else {
      if (key === 13) tx.collateralAt = c.at;
      else if (key === 9) tx.mintAt = c.at;
      else if (key === 16) tx.returnAt = c.at;
      c.skip();
    }
  }
  tx.end = c.at;
  tx.id = blake2b256(c.bytes, tx.start, tx.end);
  return tx;
}

/** Phase-2 invalid: the collateral is spent, its return (if any) comes after the declared outputs, and nothing else counts. */
function applyInvalid(c: Cursor, txs: readonly CardanoTx[]): void {
  const count = c.array();
  for (let i = 0; c.more(count, i); i++) {
    const at = c.at;
    const tx = txs[c.uint()];
    if (tx === undefined) c.fail('invalid-transaction index out of range', at);
    if (tx.valid) withCollateral(c.bytes, tx);
  }
}

/** Makes the transaction, whose body was read as that of a valid one, the invalid one that it is. */
export function withCollateral(bytes: Uint8Array, tx: CardanoTx): CardanoTx {
  tx.valid = false;
  const declared = tx.creates.length;
  tx.spends = tx.collateralAt === 0 ? NONE : inputs(new CborCursor(bytes, tx.collateralAt, tx.end));
  tx.creates = tx.returnAt === 0 ? NONE : [output(new CborCursor(bytes, tx.returnAt, tx.end), declared, OUTPUT_FLAG.collateralReturn)];
  return tx;
}

function inputs(c: Cursor): readonly Spend[] {
  if (c.peek() === TAG && c.tag() !== SET_TAG) c.fail('expected a set of inputs');
  const count = c.array();
  if (count === 0) return NONE;
  const spends: Spend[] = [];
  for (let i = 0; c.more(count, i); i++) {
    const pair = c.tuple(2, 'input');
    c.span(32);
    const at = c.start;
    const index = c.uint();
    if (index > OUTPUT_INDEX_MAX) c.fail('an output index of more than 32 bits');
    c.close(pair);
    spends.push({ at, index });
  }
  return withoutRepeats(c.bytes, spends);
}

/** Inputs are a set: the eras before Conway let an encoding name one twice, and it is spent once. */
function withoutRepeats(bytes: Uint8Array, spends: Spend[]): readonly Spend[] {
  if (spends.length < 2) return spends;
  if (spends.length > DUPLICATE_SCAN_MAX) {
    const seen = new Set<string>();
    return spends.filter((spend) => {
      const key = `${String.fromCharCode(...bytes.subarray(spend.at, spend.at + 32))}${spend.index}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
  }
  for (let i = 1; i < spends.length; i++) {
    for (let j = 0; j < i; j++) {
      if (spends[i].index === spends[j].index && same32(bytes, spends[i].at, spends[j].at)) {
        spends.splice(i--, 1);
        break;
      }
    }
  }
  return spends;
}

function same32(bytes: Uint8Array, a: number, b: number): boolean {
  for (let i = 0; i < 32; i++) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

function outputs(c: Cursor): readonly Create[] {
  const count = c.array();
  if (count === 0) return NONE;
  const creates: Create[] = [];
  for (let i = 0; c.more(count, i); i++) creates.push(output(c, i, 0));
  return creates;
}

/** Reads one output of the Shelley family, legacy array or map form. */
export function output(c: Cursor, index: number, flags: number): Create {
  const start = c.at;
  let addressStart = -1;
  let addressEnd = -1;
  let valueHi = -1;
  let valueLo = 0;
  const isMap = c.peek() === MAP;
  const count = isMap ? c.map() : c.array();
  for (let i = 0; c.more(count, i); i++) {
    const field = isMap ? c.uint() : i;
    if (field === 0) {
      // The owner of an output must be one whoever looks for it.
      if (addressStart >= 0) c.fail('output with two addresses', start);
      c.span();
      addressStart = c.start;
      addressEnd = c.stop;
    } else if (field === 1) {
      coin(c);
      valueHi = c.hi;
      valueLo = c.lo;
      if (c.major === ARRAY) c.fail('malformed value');
    } else c.skip();
  }
  if (addressStart < 0 || valueHi < 0) c.fail('output without address or value', start);
  return { index, start, end: c.at, addressStart, addressEnd, valueHi, valueLo, flags };
}

/** Reads `coin` or `[coin, assets]`, leaving the coin in `hi` and `lo`. */
function coin(c: Cursor): void {
  const major = c.peek();
  if (major === UINT) {
    c.uint64();
    return;
  }
  const pair = c.tuple(2, 'value');
  c.uint64();
  const { hi, lo } = c;
  if (c.peek() !== MAP) c.fail('expected a map of assets');
  c.skip();
  c.close(pair);
  c.major = UINT;
  c.hi = hi;
  c.lo = lo;
}

function byronBody(c: Cursor, header: Header, parts: number[]): readonly CardanoTx[] {
  let txs: readonly CardanoTx[] = NONE;
  if (header.boundary) c.skip();
  else {
    const body = c.tuple(4, 'Byron body');
    txs = byronTransactions(c);
    for (let i = 0; i < 3; i++) c.skip();
    c.close(body);
  }
  parts.push(c.at);
  c.skip();
  parts.push(c.at);
  return txs;
}

function byronTransactions(c: Cursor): readonly CardanoTx[] {
  const count = c.array();
  if (count === 0) return NONE;
  const txs: CardanoTx[] = [];
  for (let i = 0; c.more(count, i); i++) {
    if (i === BLOCK_TXS_MAX) c.fail(`more than ${BLOCK_TXS_MAX} transactions`);
    const pair = c.tuple(2, 'transaction with witnesses');
    txs.push(byronTransaction(c));
    c.skip();
    c.close(pair);
  }
  return txs;
}

/** Reads a transaction of Byron, without its witnesses. */
export function byronTransaction(c: Cursor): CardanoTx {
  const tx = new CardanoTx(c.at);
  const fields = c.tuple(3, 'Byron transaction');
  tx.spends = byronInputs(c);
  tx.creates = byronOutputs(c);
  c.skip();
  c.close(fields);
  tx.end = c.at;
  tx.id = blake2b256(c.bytes, tx.start, tx.end);
  return tx;
}

function byronInputs(c: Cursor): readonly Spend[] {
  const spends: Spend[] = [];
  const count = c.array();
  for (let i = 0; c.more(count, i); i++) {
    const pair = c.tuple(2, 'Byron input');
    if (c.uint() !== 0) c.fail('unknown kind of Byron input');
    if (c.tag() !== 24) c.fail('expected encoded CBOR');
    c.span();
    const inner = new CborCursor(c.bytes, c.start, c.stop);
    const fields = inner.tuple(2, 'Byron input');
    inner.span(32);
    const at = inner.start;
    const index = inner.uint();
    if (index > OUTPUT_INDEX_MAX) inner.fail('an output index of more than 32 bits');
    inner.close(fields);
    c.close(pair);
    spends.push({ at, index });
  }
  return withoutRepeats(c.bytes, spends);
}

function byronOutputs(c: Cursor): readonly Create[] {
  const creates: Create[] = [];
  const count = c.array();
  for (let i = 0; c.more(count, i); i++) creates.push(byronOutput(c, i, 0));
  return creates;
}

/** Reads `[address, lovelace]`; the address is the whole array `[tag 24 payload, crc]`. */
export function byronOutput(c: Cursor, index: number, flags: number): Create {
  const start = c.at;
  const pair = c.tuple(2, 'Byron output');
  const addressStart = c.at;
  if (c.peek() !== ARRAY) c.fail('expected a Byron address');
  c.skip();
  const addressEnd = c.at;
  c.uint64();
  const { hi: valueHi, lo: valueLo } = c;
  c.close(pair);
  return { index, start, end: c.at, addressStart, addressEnd, valueHi, valueLo, flags };
}
