/**
 * An Electrum server over a regtest store: the test forges blocks and
 * unconfirmed transactions, the store, the mempool and the model all get them,
 * and whatever a client is told can be held against the model.
 */
import assert from 'node:assert/strict';
import { loadConfig } from '../../../../src/config/load.ts';
import type { Config } from '../../../../src/config/schema.ts';
import { openNetwork } from '../../../../src/families/networks.ts';
import { type BitcoinBlock, decodeTx, genesisBlock } from '../../../../src/ledgers/bitcoin/index.ts';
import { Mempool } from '../../../../src/query/bitcoin/mempool/mempool.ts';
import type { ElectrumPorts } from '../../../../src/server/bitcoin/electrum/backend.ts';
import { type ElectrumServer, openElectrum, type SessionTimeouts } from '../../../../src/server/bitcoin/electrum/index.ts';
import type { ServerContext } from '../../../../src/server/context.ts';
import { Workload } from '../../../../src/server/http/work/workload.ts';
import { MempoolKeeper } from '../../../../src/server/mempool/keeper.ts';
import { EngineReads } from '../../../../src/server/reads.ts';
import { NOT_FOLLOWING } from '../../../../src/server/thread/live.ts';
import { concatBytes, equalBytes, fromHex, toHex } from '../../../../src/util/bytes.ts';
import { UnspentError } from '../../../../src/util/errors.ts';
import { forgeBlock, forgeCoinbase, forgeTx, u32 } from '../../../ledgers/bitcoin/forge.ts';
import { type ForgedRig, forgedRig, KEEP_ALL_BITCOIN, type Random, randomFrom } from '../../../support/forged-chain.ts';
import { leaveOut } from '../../../support/keep.ts';
import { ElectrumModel } from './model.ts';

const network = openNetwork('bitcoin-regtest', null);

/** P2WPKH of a made-up key: the kind of script that wallets watch. */
export function watched(seed: number): Uint8Array {
  return concatBytes(fromHex('0014'), new Uint8Array(20).fill(seed));
}

export const SCRIPTS = Array.from({ length: 5 }, (_, i) => watched(i + 1));
/** What nobody asks for. */
const ELSEWHERE = watched(200);

interface Coin {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly value: bigint;
}

export interface RigOptions {
  readonly seed?: number;
  readonly electrum?: Partial<Config['electrum']>;
  readonly ports?: ElectrumPorts;
  readonly history?: boolean;
  readonly patience?: SessionTimeouts;
  readonly workload?: Workload;
}

export class ElectrumRig {
  readonly model = new ElectrumModel();
  readonly logged: string[] = [];
  /** What was handed to the node. */
  readonly submitted: Uint8Array[] = [];
  /** What the node says to one; null: it takes it. */
  refuse: (raw: Uint8Array) => string | null = () => null;
  readonly random: Random;
  readonly store: ForgedRig;
  readonly reads: EngineReads;
  readonly mempool = new Mempool();
  readonly keeper: MempoolKeeper;
  readonly context: ServerContext;
  private server: ElectrumServer | null = null;

  private constructor({ seed = 1, electrum, history = true, workload = new Workload() }: RigOptions) {
    this.random = randomFrom(seed);
    this.store = forgedRig(network.ledger as Parameters<typeof forgedRig>[0], {
      keeps: history ? KEEP_ALL_BITCOIN : leaveOut(KEEP_ALL_BITCOIN, 'history'),
    });
    this.reads = new EngineReads(this.store.engine, network.ledger);
    this.keeper = new MempoolKeeper(this.reads, this.mempool, (raw) => this.hand(raw));
    const { config } = loadConfig({});
    this.context = {
      network,
      reads: this.reads,
      mempool: this.mempool,
      projections: this.store.projections.map(({ name }) => name),
      config: { ...config, electrum: { ...config.electrum, ...electrum } },
      live: { status: NOT_FOLLOWING, onTimings: () => () => true },
      workload,
      submit: (raw) => this.keeper.submit(raw),
      ledger: () => assert.fail('nobody of this family asks'),
    };
    this.apply(genesisBlock(network.parameters as Parameters<typeof genesisBlock>[0]));
  }

  static async open(options: RigOptions = {}): Promise<ElectrumRig> {
    const rig = new ElectrumRig(options);
    try {
      rig.server = await openElectrum(rig.context, options.ports ?? { tcp: 0 }, (line) => rig.logged.push(line), options.patience);
    } catch (error) {
      await rig.close();
      throw error;
    }
    return rig;
  }

  get ports(): ElectrumPorts {
    return this.server?.ports ?? assert.fail('the server is not open');
  }

  /** A block of these transactions, with a coinbase that pays to `script`. */
  mine(txs: readonly Uint8Array[] = [], script = ELSEWHERE): void {
    const height = this.model.height + 1;
    const reward = [{ value: 50_00000000n, script }];
    const raw = forgeBlock(this.model.hash(), [forgeCoinbase(height, reward, txs), ...txs]);
    raw.set(u32(1_700_000_000 + 600 * height), 68);
    const mined = new Set(txs);
    this.model.mempool = this.model.mempool.filter((tx) => !mined.has(tx));
    this.apply(raw);
  }

  /** Takes blocks back. As nodes do, what was in them is unconfirmed again if it still can be, and what hung on their coinbases is gone. */
  back(depth: number): void {
    const undone = this.model.blocks.splice(this.model.blocks.length - depth).map((raw) => network.ledger.decode(raw) as BitcoinBlock);
    const { height } = this.model;
    this.store.fold.rollback({ height, slot: height, hash: this.model.hash() });
    const before = this.model.mempool;
    const returned = undone.flatMap(({ txs, raw }) => txs.slice(1).map(({ start, end }) => raw.slice(start, end)));
    this.model.mempool = this.spendable([...returned, ...before]);
    this.reads.moved();
    const kept = new Set(this.model.mempool);
    this.keeper.take([
      { kind: 'remove', ids: before.filter((tx) => !kept.has(tx)).map((tx) => decodeTx(tx).id) },
      { kind: 'add', txs: returned.filter((tx) => kept.has(tx)) },
    ]);
  }

  /** Unconfirmed transactions, as a node tells of them. */
  announce(...txs: readonly Uint8Array[]): void {
    this.model.mempool = [...this.model.mempool, ...txs];
    this.keeper.take([{ kind: 'add', txs }]);
  }

  /** One that leaves the mempool, with all that spend what it makes. */
  evict(tx: Uint8Array): void {
    const kept = this.spendable(this.model.mempool.filter((other) => other !== tx));
    const gone = this.model.mempool.filter((other) => !kept.includes(other));
    this.model.mempool = kept;
    this.keeper.take([{ kind: 'remove', ids: gone.map((other) => decodeTx(other).id) }]);
  }

  /** A transaction that spends one to three of what is unspent, in blocks or not; null: nothing is. */
  forge(outputs = this.somePay(), fee = BigInt(200 + this.random(5000))): Uint8Array | null {
    const coins = this.coins();
    const spent: Coin[] = [];
    for (let n = 1 + this.random(3); n > 0 && coins.length > 0; n--) spent.push(...coins.splice(this.random(coins.length), 1));
    const total = spent.reduce((sum, { value }) => sum + value, 0n) - fee;
    if (total < 1000n) return null;
    const share = total / BigInt(outputs.length);
    const witness = [new Uint8Array(71).fill(this.random(256)), new Uint8Array(33).fill(2)];
    return forgeTx({
      inputs: spent.map(({ txId, index }) => ({ txId, index, witness })),
      outputs: outputs.map((script, i) => ({ value: i === 0 ? total - share * BigInt(outputs.length - 1) : share, script })),
    });
  }

  /** Something happens: a block, a transaction, one that leaves, or a reorganisation. */
  step(): void {
    const what = this.random(10);
    const { mempool, height } = this.model;
    if (what < 4) {
      const tx = this.forge();
      if (tx !== null) this.announce(tx);
    } else if (what < 8) this.mine(this.spendable(mempool.filter(() => this.random(3) > 0)), this.pay());
    else if (what === 8 && mempool.length > 0) this.evict(mempool[this.random(mempool.length)]);
    else if (height > 4) {
      this.back(1 + this.random(3));
      if (this.random(2) === 0) this.mine([], this.pay());
    }
  }

  async close(): Promise<void> {
    await this.server?.close();
    this.keeper.close();
    this.reads.close();
    assert.equal(this.reads.snapshots, 0, 'every lease was released');
    await this.store.close();
    assert.deepEqual(this.logged, [], 'the server had nothing to log');
  }

  private pay(): Uint8Array {
    return this.random(3) === 0 ? ELSEWHERE : SCRIPTS[this.random(SCRIPTS.length)];
  }

  private somePay(): Uint8Array[] {
    return Array.from({ length: 1 + this.random(3) }, () => this.pay());
  }

  /** Of the chain and of these unconfirmed transactions. */
  private coins(mempool = this.model.mempool): Coin[] {
    const txs = [...this.model.blocks.slice(1).flatMap((raw) => txsOf(raw)), ...mempool];
    const spent = new Set(txs.flatMap(inputNames));
    return txs.flatMap(coinsOf).filter((coin) => !spent.has(nameOf(coin)));
  }

  /** Those whose inputs are all there, in an order in which parents come first. */
  private spendable(txs: readonly Uint8Array[]): Uint8Array[] {
    const chain = this.coins([]).map(nameOf);
    const unspent = new Set(chain);
    const found: Uint8Array[] = [];
    for (let left = [...txs], before = -1; found.length > before; left = left.filter((tx) => !found.includes(tx))) {
      before = found.length;
      for (const tx of left) {
        if (!inputNames(tx).every((name) => unspent.has(name))) continue;
        for (const name of inputNames(tx)) unspent.delete(name);
        for (const coin of coinsOf(tx)) unspent.add(nameOf(coin));
        found.push(tx);
      }
    }
    return found;
  }

  private apply(raw: Uint8Array): void {
    this.model.blocks.push(raw);
    this.store.apply([network.ledger.decode(raw, this.model.height) as BitcoinBlock]);
    this.reads.moved();
  }

  private hand(raw: Uint8Array): Promise<Uint8Array> {
    const words = this.refuse(raw);
    if (words !== null) return Promise.reject(new UnspentError('TX_REFUSED', words));
    this.submitted.push(raw);
    if (!this.model.mempool.some((tx) => equalBytes(tx, raw))) this.model.mempool = [...this.model.mempool, raw];
    return Promise.resolve(decodeTx(raw).id);
  }
}

function txsOf(raw: Uint8Array): Uint8Array[] {
  return (network.ledger.decode(raw) as BitcoinBlock).txs.map(({ start, end }) => raw.slice(start, end));
}

function coinsOf(raw: Uint8Array): Coin[] {
  const { id, creates } = decodeTx(raw);
  return creates.map(({ index, valueHi, valueLo }) => ({ txId: id, index, value: (BigInt(valueHi) << 32n) | BigInt(valueLo) }));
}

function inputNames(raw: Uint8Array): string[] {
  return decodeTx(raw).spends.map(({ at, index }) => `${toHex(raw, at, at + 32)}:${index}`);
}

function nameOf({ txId, index }: Coin): string {
  return `${toHex(txId)}:${index}`;
}
