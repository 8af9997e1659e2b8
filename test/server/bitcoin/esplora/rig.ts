/**
 * A server over a regtest store, without a socket: the test forges blocks and
 * unconfirmed transactions, the store and the model both get them, and every
 * answer can be held against what the model says.
 */
import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import { loadConfig } from '../../../../src/config/load.ts';
import type { Config } from '../../../../src/config/schema.ts';
import { sha256 } from '../../../../src/crypto/sha256.ts';
import type { Engine } from '../../../../src/engine/engine.ts';
import { openMemory } from '../../../../src/engine/memory.ts';
import { needBitcoin } from '../../../../src/families/bitcoin.ts';
import { openNetwork } from '../../../../src/families/networks.ts';
import { decodeTx, genesisBlock, p2pkhScript, p2shScript } from '../../../../src/ledgers/bitcoin/index.ts';
import { selectProjections } from '../../../../src/projections/registry.ts';
import { Mempool } from '../../../../src/query/bitcoin/mempool/mempool.ts';
import { buildApp } from '../../../../src/server/app.ts';
import type { ServerContext } from '../../../../src/server/context.ts';
import { Workload } from '../../../../src/server/http/work/workload.ts';
import { EngineReads } from '../../../../src/server/reads.ts';
import { NOT_FOLLOWING } from '../../../../src/server/thread/live.ts';
import { deltaColumn } from '../../../../src/state/delta.ts';
import { Fold } from '../../../../src/state/fold.ts';
import { pruneStep } from '../../../../src/state/pruned.ts';
import { concatBytes, fromHex } from '../../../../src/util/bytes.ts';
import { UnspentError } from '../../../../src/util/errors.ts';
import {
  type ForgedInput,
  type ForgedOutput,
  forgeBlock,
  forgeCoinbase,
  forgeTx,
  NO_BYTES,
  OP_TRUE,
  u32,
} from '../../../ledgers/bitcoin/forge.ts';
import { CopyMirror, isMirrored } from '../../../support/copy/mirror.ts';
import { keep } from '../../../support/keep.ts';
import { EsploraModel } from './model.ts';

/** A kind of output, and what an input brings along to spend one. */
export interface Lock {
  readonly script: Uint8Array;
  readonly key: Pick<ForgedInput, 'scriptSig' | 'witness'>;
}

const H20 = (seed: number): Uint8Array => new Uint8Array(20).fill(seed);
const WITNESS_SCRIPT = concatBytes(fromHex('0020'), sha256(OP_TRUE));
const SIGNATURE = new Uint8Array(71).fill(0x30);
const PUBLIC_KEY = new Uint8Array(33).fill(2);

/** One of each kind. */
export const LOCKS = {
  p2pkh: { script: p2pkhScript(H20(1)), key: { scriptSig: concatBytes(Uint8Array.of(71), SIGNATURE, Uint8Array.of(33), PUBLIC_KEY) } },
  p2sh: { script: p2shScript(H20(2)), key: { scriptSig: Uint8Array.of(0, 1, 0x51) } },
  wrapped: { script: p2shScript(H20(3)), key: { scriptSig: concatBytes(Uint8Array.of(34), WITNESS_SCRIPT), witness: [NO_BYTES, OP_TRUE] } },
  p2wpkh: { script: concatBytes(fromHex('0014'), H20(4)), key: { witness: [SIGNATURE, PUBLIC_KEY] } },
  p2wsh: { script: WITNESS_SCRIPT, key: { witness: [OP_TRUE] } },
  p2tr: { script: concatBytes(fromHex('5120'), new Uint8Array(32).fill(5)), key: { witness: [new Uint8Array(64).fill(6)] } },
  p2pk: {
    script: concatBytes(Uint8Array.of(33), PUBLIC_KEY, Uint8Array.of(0xac)),
    key: { scriptSig: concatBytes(Uint8Array.of(71), SIGNATURE) },
  },
  bare: { script: OP_TRUE, key: {} },
} as const satisfies Record<string, Lock>;

const ALL_LOCKS: readonly Lock[] = Object.values(LOCKS);
const NOTE: ForgedOutput = { value: 0n, script: fromHex('6a0548656c6c6f') };

interface Coin {
  readonly txId: Uint8Array;
  readonly index: number;
  readonly value: bigint;
  readonly lock: Lock;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  readonly bytes: Uint8Array;
  json<T = unknown>(): T;
}

export interface EsploraOptions {
  readonly history?: boolean;
  readonly server?: Partial<Config['server']>;
  readonly pruneDepth?: number;
  /** Without even the first block. */
  readonly empty?: boolean;
}

export class EsploraRig {
  readonly network = needBitcoin(openNetwork('bitcoin-regtest', null), 'this');
  readonly model = new EsploraModel();
  readonly mempool = new Mempool();
  readonly logged: string[] = [];
  /** What was handed to the node, and what it says to each. */
  readonly submitted: Uint8Array[] = [];
  refuse: (raw: Uint8Array) => string | null = () => null;
  readonly engine: Engine;
  readonly reads: EngineReads;
  readonly app: Promise<FastifyInstance>;
  /** A reader of a published copy that is asked the same; null: none. */
  readonly mirror: Promise<CopyMirror> | null;
  private readonly fold: Fold;
  private readonly coinsAt: Coin[][] = [];
  private seed = 7;

  constructor({ history = true, server, pruneDepth = 2160, empty = false }: EsploraOptions = {}) {
    const { ledger } = this.network;
    const projections = selectProjections(keep('index.address', ...(history ? ['history'] : [])), ledger);
    this.engine = openMemory([...projections.flatMap(({ columns }) => columns), deltaColumn]);
    const windows = { pruneDepth, rollbackWindow: 2 * pruneDepth };
    this.fold = new Fold(this.engine, ledger, projections, { utxo: true, partial: false, selfContained: false, ...windows, fsync: false });
    this.reads = new EngineReads(this.engine, ledger);
    this.reads.onMove(() => this.query((query) => this.mempool.settle(query)));
    const { config } = loadConfig({});
    const { network, reads, mempool } = this;
    const context: ServerContext = {
      network,
      config: { ...config, server: { ...config.server, ...server } },
      projections: projections.map(({ name }) => name),
      reads,
      live: { status: NOT_FOLLOWING, onTimings: () => () => true },
      workload: new Workload(),
      mempool,
      submit: (raw) => this.take(raw),
      ledger: () => assert.fail('nobody of this family asks'),
    };
    const log = (line: string): void => void this.logged.push(line);
    this.app = buildApp(context, { log });
    this.mirror = isMirrored ? CopyMirror.open(this.engine, context, log) : null;
    if (!empty) this.apply(genesisBlock(network.parameters), []);
  }

  get height(): number {
    return this.model.blocks.length - 1;
  }

  /** Coins that no block has spent. */
  get coins(): readonly Coin[] {
    return this.coinsAt.at(-1) ?? [];
  }

  /** A block of these transactions, and a coinbase in front of them. */
  mine(txs: readonly Uint8Array[] = [], lock: Lock = LOCKS.p2wpkh): void {
    const height = this.height + 1;
    const reward = [{ value: 50_00000000n, script: lock.script }];
    const made = [forgeCoinbase(height, reward, txs), ...txs];
    const raw = forgeBlock(fromHex(this.model.hash(height - 1)).reverse(), made);
    // Times that go back now and then, and targets of all sizes.
    raw.set(u32(1_700_000_000 + 600 * height - 1500 * (height % 3)), 68);
    raw.set(u32([0x207fffff, 0x1d00ffff, 0x1b0404cb, 0x170331db][height % 4]), 72);
    this.model.mempool = this.model.mempool.filter((unconfirmed) => !txs.includes(unconfirmed));
    this.apply(raw, made);
  }

  /** A block whose coins are left out of `coins`, for transactions with very many outputs. */
  applyPlainly(txs: readonly Uint8Array[]): void {
    const made = [forgeCoinbase(this.height + 1, [], txs), ...txs];
    this.apply(forgeBlock(fromHex(this.model.hash(this.height)).reverse(), made), []);
  }

  /** Takes blocks back; what was in them is gone. */
  back(depth: number): void {
    this.model.blocks.length -= depth;
    this.coinsAt.length -= depth;
    const hash = fromHex(this.model.hash(this.height)).reverse();
    this.fold.rollback({ height: this.height, slot: this.height, hash });
    this.reads.moved();
  }

  prune(): void {
    const { engine, fold } = this;
    while (!pruneStep(engine, fold.projections, fold.head?.height ?? 0, fold.options, 100).done);
    this.reads.moved();
  }

  /** Unconfirmed transactions, as a node tells of them. */
  announce(...txs: readonly Uint8Array[]): void {
    this.query((query) => this.mempool.take({ kind: 'add', txs }, query));
    this.model.mempool = [...this.model.mempool, ...txs];
  }

  /** A transaction that spends some coins of `from` and pays to all kinds; those it spends are left out of `from`. */
  spend(from: Coin[], inputs: number, outputs: readonly Lock[] = [this.pick(ALL_LOCKS), this.pick(ALL_LOCKS)], fee = 1000n): Uint8Array {
    const spent = Array.from({ length: inputs }, () => from.splice(Math.floor(this.random() * from.length), 1)[0]);
    const value = (spent.reduce((sum, coin) => sum + coin.value, 0n) - fee) / BigInt(outputs.length);
    const paid = outputs.map(({ script }) => ({ value, script }));
    return forgeTx({ inputs: spent.map(({ txId, index, lock }) => ({ txId, index, ...lock.key })), outputs: [NOTE, ...paid] });
  }

  /** Blocks with a few transactions each; some spend what was made in the same block. */
  mineSome(count: number): void {
    for (let i = 0; i < count; i++) {
      const coins = [...this.coins];
      const txs: Uint8Array[] = [];
      while (coins.length > 3 && this.random() < 0.7) {
        txs.push(this.spend(coins, 1 + Math.floor(this.random() * 2)));
        coins.push(...coinsOf(txs[txs.length - 1]));
      }
      this.mine(txs, this.pick(ALL_LOCKS));
    }
  }

  random(): number {
    this.seed = (Math.imul(this.seed, 1_103_515_245) + 12_345) >>> 0;
    return (this.seed >>> 8) / 0x100_0000;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)];
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask('GET', path, headers);
  }

  post(path: string, payload: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask('POST', path, headers, payload);
  }

  async ask(method: 'GET' | 'POST' | 'HEAD', path: string, headers: Readonly<Record<string, string>>, payload?: string): Promise<Answer> {
    const app = await this.app;
    const body = payload === undefined ? {} : { payload };
    const asked = { method, url: `/api${path}`, headers: { host: 'localhost', ...headers }, ...body };
    const mirror = await this.mirror;
    const moves = mirror?.moves ?? 0;
    const response = await app.inject(asked);
    if (method !== 'POST') await mirror?.compare(asked, response, moves);
    const given = response.headers as Answer['headers'];
    return {
      status: response.statusCode,
      type: (given['content-type'] ?? '').split(';')[0],
      headers: given,
      text: response.payload,
      bytes: new Uint8Array(response.rawPayload),
      json: () => JSON.parse(response.payload),
    };
  }

  /** The answer is this JSON. */
  async expect(path: string, wanted: unknown): Promise<void> {
    const answer = await this.get(path);
    assert.deepEqual([answer.status, answer.type], [200, 'application/json'], `${path}: ${answer.text}`);
    assert.deepEqual(answer.json(), wanted, path);
  }

  /** The answer is this text, with this status. */
  async expectText(path: string, wanted: string, status = 200): Promise<void> {
    const answer = await this.get(path);
    assert.deepEqual([answer.status, answer.type, answer.text], [status, 'text/plain', wanted], path);
  }

  async close(): Promise<void> {
    await (await this.mirror)?.close();
    await (await this.app).close();
    this.reads.close();
    assert.equal(this.reads.snapshots, 0, 'every lease was released');
    await this.engine.close();
    assert.deepEqual(this.logged, [], 'the server had nothing to log');
  }

  private apply(raw: Uint8Array, txs: readonly Uint8Array[]): void {
    const coins = [...this.coins];
    for (const tx of txs) {
      const spent = new Set(decodeTx(tx).spends.map(({ at, index }) => `${tx.subarray(at, at + 32)}:${index}`));
      const left = coins.filter(({ txId, index }) => !spent.has(`${txId}:${index}`));
      coins.splice(0, coins.length, ...left, ...coinsOf(tx));
    }
    this.model.blocks.push(raw);
    this.coinsAt.push(coins);
    this.fold.apply([this.network.ledger.decode(raw, this.height)]);
    this.reads.moved();
  }

  private take(raw: Uint8Array): Promise<Uint8Array> {
    const words = this.refuse(raw);
    if (words !== null) return Promise.reject(new UnspentError('TX_REFUSED', words));
    this.submitted.push(raw);
    this.announce(raw);
    return Promise.resolve(decodeTx(raw).id);
  }

  private query<T>(body: (query: ReturnType<EngineReads['lease']>['query']) => T): T {
    const lease = this.reads.lease();
    try {
      return body(lease.query);
    } finally {
      lease.release();
    }
  }
}

/** Outputs of a transaction whose lock is one of ours. */
export function coinsOf(raw: Uint8Array): Coin[] {
  const tx = decodeTx(raw);
  return tx.creates.flatMap(({ index, addressStart, addressEnd, valueHi, valueLo }) => {
    const script = raw.subarray(addressStart, addressEnd);
    const lock = ALL_LOCKS.find((one) => Buffer.compare(one.script, script) === 0);
    return lock === undefined ? [] : [{ txId: tx.id, index, value: BigInt(valueHi) * 0x1_0000_0000n + BigInt(valueLo), lock }];
  });
}
