/**
 * Transactions as a chain brings them, for the benchmarks of the transaction
 * store: two or three inputs and as many outputs, every transaction in a block.
 * Four of five inputs spend one of the last 100,000 outputs, the others one from
 * anywhere in the unspent set, which stays as large as it was grown.
 */
import { mix32, Random } from '../src/chains/random.ts';
import type { Outpoint } from '../src/ledgers/outpoint.ts';
import type { TxBlock } from '../src/txstore/records.ts';
import type { NewStoredTx, TxStore } from '../src/txstore/store.ts';

const RECENT_OUTPUTS = 100_000;
/** The script of a payment to a key hash has 25 bytes. */
const SCRIPT = Uint8Array.from({ length: 25 }, (_, n) => n + 1);
/** Transactions of one call that spends: they have 1,000 inputs or so. */
export const SPENDERS_PER_BATCH = 400;
export const CREATES_PER_BATCH = 1000;

export class TxStream {
  readonly #random: Random;
  /** Of the unspent outputs. */
  readonly #ids: Uint8Array[] = [];
  readonly #indexes: number[] = [];
  height = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  get liveOutputs(): number {
    return this.#ids.length;
  }

  /** Transactions whose parents nobody knows. */
  grow(count: number): NewStoredTx[] {
    return this.#block(count, () => ({ txId: this.#random.bytes(32), index: 0 }));
  }

  /** Transactions that spend outputs of those before them, but not of each other: the next block. */
  next(count: number): NewStoredTx[] {
    return this.#block(count, () => this.#take());
  }

  #block(count: number, input: () => Outpoint): NewStoredTx[] {
    this.height++;
    const blocks = [this.blockAt(this.height)];
    const txs = Array.from({ length: count }, (): NewStoredTx => {
      const size = 2 + this.#random.int(2);
      const outputs = Array.from({ length: size }, (_, n) => ({ amount: BigInt(1000 + n), script: SCRIPT }));
      return { txId: this.#random.bytes(32), inputs: Array.from({ length: size }, input), outputs, blocks };
    });
    for (const { txId, outputs } of txs) {
      for (let index = 0; index < outputs.length; index++) {
        this.#ids.push(txId);
        this.#indexes.push(index);
      }
    }
    return txs;
  }

  #take(): Outpoint {
    const live = this.#ids.length;
    const recent = Math.min(live, RECENT_OUTPUTS);
    const at = this.#random.chance(0.8) ? live - 1 - this.#random.int(recent) : this.#random.int(live);
    // A block that was just decoded has ids of its own.
    const outpoint = { txId: this.#ids[at].slice(), index: this.#indexes[at] };
    this.#ids[at] = this.#ids[live - 1];
    this.#indexes[at] = this.#indexes[live - 1];
    this.#ids.pop();
    this.#indexes.pop();
    return outpoint;
  }

  blockAt(height: number): TxBlock {
    return { hash: new Random(mix32(height, 1)).bytes(32), height, index: 0, isOnBestChain: true };
  }
}

export function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}

/** A block into the store: its spends, then its transactions. */
export async function storeBlock(store: TxStore, txs: readonly NewStoredTx[], height: number): Promise<void> {
  for (const batch of batchesOf(txs, SPENDERS_PER_BATCH)) await store.spend(batch, height);
  for (const batch of batchesOf(txs, CREATES_PER_BATCH)) await store.create(batch, height);
}
