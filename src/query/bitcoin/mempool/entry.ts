/**
 * One transaction of the mempool: what it spends, which script keys it funds,
 * and what its inputs were found to be. There may be hundreds of thousands, so
 * only what every change asks for is kept beside the bytes; everything else is
 * taken apart when a reader wants it.
 */

import { sha256Into } from '../../../crypto/sha256.ts';
import { Cursor } from '../../../ledgers/bitcoin/cursor.ts';
import {
  type BitcoinTx,
  type DescribedOutput,
  type DescribedTx,
  decodeTx,
  describeTx,
  isUnspendable,
} from '../../../ledgers/bitcoin/index.ts';
import { KEY_BYTES } from '../../../ledgers/ledger.ts';
import { bufferOf, hexOf } from '../../dialect.ts';

export interface MempoolTx {
  readonly id: Uint8Array;
  readonly raw: Uint8Array;
  readonly described: DescribedTx;
  readonly weight: number;
  readonly virtualSize: number;
  /** Null: an input is unknown. */
  readonly fee: bigint | null;
  /** What each input spends; null: unknown. */
  readonly prevouts: readonly (DescribedOutput | null)[];
  /** Unix seconds, when it was seen first. */
  readonly time: number;
  /** An input is not in a block that the store has. */
  readonly hasUnconfirmedParents: boolean;
}

const HASH_BYTES = 32;

/** Height of a coin that is in no block. */
const NO_HEIGHT = -1;

/** What an input was found to spend. */
export interface SpentCoin extends DescribedOutput {
  /** Hex of its script key; null: of an output that nothing can spend. */
  readonly key: string | null;
  /** Of its block; negative: it is an output of the mempool. */
  readonly height: number;
}

interface EntryInput {
  /** Where the id it names stands in the bytes. */
  readonly at: number;
  readonly index: number;
  /** Hex of that id. */
  readonly parent: string;
}

export class Entry implements MempoolTx {
  readonly id: Uint8Array;
  readonly hexId: string;
  readonly raw: Uint8Array;
  readonly time: number;
  readonly weight: number;
  readonly coinbase: boolean;
  readonly inputs: readonly EntryInput[];
  /** Hex of the script key of each output; null: nothing can spend it. */
  readonly outputKeys: readonly (string | null)[];
  /** Of arrival. */
  readonly number: number;
  coins: readonly (SpentCoin | null)[];
  /** Sum of its outputs. */
  private readonly paid: bigint;
  private readonly mweb: boolean;
  private seen: WeakRef<DescribedTx> | null = null;

  /** Throws BLOCK_INVALID where the bytes are not a transaction. */
  constructor(bytes: Uint8Array, mweb: boolean, time: number, number: number) {
    // A copy, also of a Buffer: what it came in may hold a thousand others.
    this.raw = new Uint8Array(bytes);
    this.mweb = mweb;
    this.time = time;
    this.number = number;
    const tx = decodeTx(this.raw, mweb);
    this.id = tx.id;
    this.hexId = hexOf(tx.id);
    this.weight = tx.weight;
    this.coinbase = tx.coinbase;
    ({ inputs: this.inputs, outputKeys: this.outputKeys, paid: this.paid } = bodyOf(tx));
    this.coins = this.inputs.map(() => null);
  }

  /** Decoded when first asked for, and kept as long as something refers to it. */
  get described(): DescribedTx {
    let described = this.seen?.deref();
    if (described === undefined) {
      described = describeTx(decodeTx(this.raw, this.mweb));
      this.seen = new WeakRef(described);
    }
    return described;
  }

  get virtualSize(): number {
    return Math.ceil(this.weight / 4);
  }

  get fee(): bigint | null {
    let fee = -this.paid;
    for (const coin of this.coins) {
      if (coin === null) return null;
      fee += coin.value;
    }
    return fee;
  }

  get prevouts(): readonly (DescribedOutput | null)[] {
    return this.coins;
  }

  get hasUnconfirmedParents(): boolean {
    return this.coins.some((coin) => coin === null || coin.height < 0);
  }

  /** Satoshi for each virtual byte; 0 where the fee is unknown. */
  get rate(): number {
    return Number(this.fee ?? 0n) / this.virtualSize;
  }

  /** The id that an input names. */
  parentId({ at }: EntryInput): Uint8Array {
    return this.raw.subarray(at, at + HASH_BYTES);
  }

  /** An output as another transaction of the mempool spends it; null: there is none. */
  coin(index: number): SpentCoin | null {
    if (index >= this.outputKeys.length) return null;
    const { value, script } = this.described.outputs[index];
    return { value, script, key: this.outputKeys[index], height: NO_HEIGHT };
  }

  /** Script keys it funds or spends, each perhaps more than once. */
  *keys(): Iterable<string> {
    for (const key of this.outputKeys) if (key !== null) yield key;
    for (const coin of this.coins) if (coin !== null && coin.key !== null) yield coin.key;
  }
}

const keyScratch = bufferOf(new Uint8Array(KEY_BYTES));

function bodyOf({ raw, bodyStart, bodyEnd }: BitcoinTx): { inputs: EntryInput[]; outputKeys: (string | null)[]; paid: bigint } {
  const c = new Cursor(raw, bodyStart, bodyEnd);
  const text = bufferOf(raw);
  const inputs: EntryInput[] = [];
  for (let count = c.compact(); count > 0; count--) {
    const at = c.take(HASH_BYTES);
    inputs.push({ at, index: c.u32(), parent: text.toString('hex', at, at + HASH_BYTES) });
    c.span();
    c.take(4);
  }
  const outputKeys: (string | null)[] = [];
  let paid = 0n;
  for (let count = c.compact(); count > 0; count--) {
    c.u64();
    paid += (BigInt(c.hi) << 32n) | BigInt(c.lo);
    c.span();
    outputKeys.push(isUnspendable(raw, c.start, c.stop) ? null : keyIn(raw, c.start, c.stop));
  }
  return { inputs, outputKeys, paid };
}

function keyIn(raw: Uint8Array, start: number, end: number): string {
  sha256Into(raw, start, end, keyScratch, 0, KEY_BYTES);
  return keyScratch.toString('hex');
}
