/**
 * A made-up life of one wallet: payments that it gets and payments that it makes,
 * block by block, as the feed of a chain tells them. Ids and amounts are random,
 * and the bytes of a transaction are as many as usual but say nothing: no wallet
 * store looks into them.
 *
 * What a life remembers, the coins that it may still spend, is bytes: as objects
 * they would be what the garbage collector walks through while a store is measured
 * that has nothing to do with them.
 */
import { Random } from '../src/chains/random.ts';
import type { Outpoint } from '../src/ledgers/outpoint.ts';
import { readU32, writeU32 } from '../src/util/bytes.ts';
import type { WalletBlock, WalletId, WalletTx } from '../src/wallet/records.ts';
import type { NewTx } from '../src/wallet/store.ts';

const RAW_BYTES = 222;
const FOREIGN_SCRIPT = Uint8Array.from([0x00, 0x14, ...new Uint8Array(20).fill(7)]);
const FIRST_TIMESTAMP = 1_700_000_000;
const BLOCK_SECONDS = 600;
/** Between the seeds of a life and of the same life taken up again. */
const RESUMED_SEEDS = 1_000_000;

/** Where a life is: enough to go on with it, with other ids and amounts than those it had. */
export interface ChainState {
  readonly height: number;
  /** Its coins, in base64. */
  readonly coins: string;
}

export class WalletChain {
  readonly #random: Random;
  readonly #scripts: readonly Uint8Array[];
  readonly #isOwn: ReadonlySet<Uint8Array>;
  readonly #amounts: { readonly least: number; readonly most: number };
  readonly #raw: Uint8Array;
  readonly #coins: OutpointStack;
  #height: number;

  /** Coins go to the scripts in turns by chance, and are worth between `least` and `most` satoshi. */
  constructor(
    seed: number,
    scripts: readonly Uint8Array[],
    amounts: { readonly least: number; readonly most: number },
    { height, coins }: ChainState = { height: 0, coins: '' },
  ) {
    this.#random = new Random(height === 0 && coins === '' ? seed : RESUMED_SEEDS + seed);
    this.#height = height;
    this.#coins = new OutpointStack(Buffer.from(coins, 'base64'));
    this.#scripts = scripts;
    this.#isOwn = new Set(scripts);
    this.#amounts = amounts;
    this.#raw = this.#random.bytes(RAW_BYTES + 64);
  }

  get coinCount(): number {
    return this.#coins.count;
  }

  get height(): number {
    return this.#height;
  }

  get state(): ChainState {
    return { height: this.#height, coins: Buffer.from(this.#coins.bytes).toString('base64') };
  }

  block(): WalletBlock {
    const height = ++this.#height;
    return { height, hash: this.#random.bytes(32), timestamp: FIRST_TIMESTAMP + BLOCK_SECONDS * height };
  }

  /** Somebody pays so many coins to the wallet. */
  receive(coins = 1): WalletTx {
    const outputs = Array.from({ length: coins }, () => this.#ownOutput());
    return this.#tx([{ txId: this.#random.bytes(32), index: 0 }], [...outputs, this.#foreignOutput()]);
  }

  /** The wallet spends a coin by chance: one output goes to somebody else, the other comes back. */
  spend(): WalletTx {
    const coin = this.#coins.take(this.#random.int(this.#coins.count));
    return this.#tx([coin], [this.#foreignOutput(), this.#ownOutput()]);
  }

  /** So many transactions, each of which spends what the one before sent back. The wallet's other coins stay as they are. */
  chain(length: number): WalletTx[] {
    const txs = [this.receive()];
    while (txs.length < length) txs.push(this.#tx([this.#coins.takeLast()], [this.#ownOutput(), this.#foreignOutput()]));
    this.#coins.takeLast();
    return txs;
  }

  /** As the feed tells the store of it. */
  news(walletId: WalletId, tx: WalletTx, received: number, block?: WalletBlock): NewTx {
    const own = tx.outputs.flatMap(({ script }, index): [number, null][] => (this.#isOwn.has(script) ? [[index, null]] : []));
    return { walletId, tx, received, block, status: 'published', credits: new Map(own) };
  }

  #ownOutput() {
    const { least, most } = this.#amounts;
    return { script: this.#random.pick(this.#scripts), amount: BigInt(least + this.#random.int(most - least + 1)) };
  }

  #foreignOutput() {
    return { script: FOREIGN_SCRIPT, amount: BigInt(10_000 + this.#random.int(1_000_000)) };
  }

  #tx(inputs: readonly Outpoint[], outputs: WalletTx['outputs']): WalletTx {
    const id = this.#random.bytes(32);
    for (const [index, { script }] of outputs.entries()) if (this.#isOwn.has(script)) this.#coins.push({ txId: id, index });
    const from = this.#random.int(64);
    return { id, raw: this.#raw.subarray(from, from + RAW_BYTES), inputs, outputs, isCoinbase: false };
  }
}

const ID_BYTES = 32;
const OUTPOINT_BYTES = ID_BYTES + 4;

class OutpointStack {
  #bytes: Uint8Array;
  #count: number;

  constructor(bytes: Uint8Array) {
    this.#count = bytes.length / OUTPOINT_BYTES;
    this.#bytes = new Uint8Array(Math.max(2 * bytes.length, 1000 * OUTPOINT_BYTES));
    this.#bytes.set(bytes);
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#count * OUTPOINT_BYTES);
  }

  get count(): number {
    return this.#count;
  }

  push({ txId, index }: Outpoint): void {
    const at = this.#count++ * OUTPOINT_BYTES;
    if (at === this.#bytes.length) {
      const before = this.#bytes;
      this.#bytes = new Uint8Array(2 * before.length);
      this.#bytes.set(before);
    }
    this.#bytes.set(txId, at);
    writeU32(this.#bytes, at + ID_BYTES, index);
  }

  /** The last one takes its place. */
  take(i: number): Outpoint {
    const at = i * OUTPOINT_BYTES;
    const taken = { txId: this.#bytes.slice(at, at + ID_BYTES), index: readU32(this.#bytes, at + ID_BYTES) };
    const last = --this.#count * OUTPOINT_BYTES;
    this.#bytes.copyWithin(at, last, last + OUTPOINT_BYTES);
    return taken;
  }

  takeLast(): Outpoint {
    return this.take(this.#count - 1);
  }
}
