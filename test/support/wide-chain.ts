/**
 * A chain of large blocks in no real encoding: thousands of small outputs a
 * block, made and spent by counters. For what shows only with many outputs, and
 * for tests that bring their own blocks.
 */
import assert from 'node:assert/strict';
import { blake2b256 } from '../../src/crypto/hash.ts';
import { cardanoLeaf } from '../../src/ledgers/cardano/leaf.ts';
import type { Block, Create, Ledger, Spend, Tx } from '../../src/ledgers/ledger.ts';
import { concatBytes, toHex, writeU32 } from '../../src/util/bytes.ts';
import { type Random, randomFrom } from './forged-chain.ts';

const nothing = (): never => assert.fail('not asked here');

/** Blocks mean what they say, and outputs are what their bytes are. */
export const plainLedger: Ledger = {
  family: 'cardano',
  hasSlots: true,
  traits: null,
  keyKinds: [],
  indexRows: 'id',
  leaf: cardanoLeaf,
  formatId: (id) => toHex(id),
  transition: () => null,
  isFirst: (block) => block.prevHash === null,
  verify: () => {},
  findKeys: (_raw, _create, keys) => {
    keys.mask = 0;
  },
  ownerKey: nothing,
  readOutput: (_raw, start, end) => create(0, start, end),
  decode: nothing,
  setHash: { from: nothing, summary: nothing },
  headers: { inExtra: nothing, read: nothing },
};

function create(index: number, start: number, end: number): Create {
  return { index, start, end, addressStart: start, addressEnd: start, valueHi: 0, valueLo: 0, flags: 0 };
}

export interface PlainTx {
  readonly id: Uint8Array;
  readonly spends: readonly { readonly id: Uint8Array; readonly index: number }[];
  readonly outputs: readonly { readonly index: number; readonly bytes: Uint8Array }[];
}

export function plainBlock(height: number, hash: Uint8Array, prevHash: Uint8Array | null, txs: readonly PlainTx[]): Block {
  const parts: Uint8Array[] = [];
  let length = 0;
  const put = (bytes: Uint8Array): number => {
    parts.push(bytes);
    length += bytes.length;
    return length - bytes.length;
  };
  const written = txs.map(({ id, spends, outputs }): Tx => {
    const spent: Spend[] = spends.map((spend) => ({ at: put(spend.id), index: spend.index }));
    const creates = outputs.map(({ index, bytes }) => create(index, put(bytes), length));
    return { id, valid: true, spends: spent, creates };
  });
  const point = { height, slot: height, hash, prevHash };
  return { ...point, boundary: false, era: 0, extra: new Uint8Array(0), txs: written, raw: concatBytes(...parts) };
}

interface Owned {
  readonly id: Uint8Array;
  readonly index: number;
}

const OUTPUTS_PER_TX = 500;

export class WideChain {
  readonly chain: Block[] = [];
  private readonly unspent: Owned[][] = [[]];
  private readonly random: Random;
  private made = 0;

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  fork(kept: number): void {
    this.chain.length = kept;
    this.unspent.length = kept + 1;
  }

  /** One transaction in two spends most of what there is, so that parts are spent whole. */
  mine(): Block {
    const height = this.chain.length;
    const unspent = [...this.unspent[height]];
    const txs = Array.from({ length: 1 + this.random(6) }, () => this.tx(unspent));
    const block = plainBlock(height, this.id(), this.chain.at(-1)?.hash ?? null, txs);
    this.chain.push(block);
    this.unspent.push(unspent);
    return block;
  }

  private tx(unspent: Owned[]): PlainTx {
    const spends: Owned[] = [];
    const from = this.random(unspent.length + 1);
    if (this.random(2) === 0) spends.push(...unspent.splice(from, this.random(800)));
    for (let n = this.random(30); n > 0 && unspent.length > 0; n--) spends.push(...unspent.splice(this.random(unspent.length), 1));
    const id = this.id();
    const outputs = Array.from({ length: this.random(2 * OUTPUTS_PER_TX) }, (_, index) => ({ index, bytes: this.output() }));
    unspent.push(...outputs.map(({ index }) => ({ id, index })));
    return { id, spends, outputs };
  }

  private id(): Uint8Array {
    return blake2b256(this.output());
  }

  /** An array, as outputs are. */
  private output(): Uint8Array {
    const bytes = Uint8Array.of(0x81, 0x44, 0, 0, 0, 0);
    writeU32(bytes, 2, this.made++);
    return bytes;
  }
}
