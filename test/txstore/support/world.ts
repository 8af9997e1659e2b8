/**
 * A transaction store with transactions in it, for tests that tell stories:
 * transactions have names, and what they spend is written as `P:0`, output 0 of
 * transaction P. Ids, scripts and blocks follow from names and numbers, so every
 * store sees the same.
 */
import assert from 'node:assert/strict';
import type { Outpoint } from '../../../src/ledgers/outpoint.ts';
import { type PassOutcome, Pruner, type PrunerOptions } from '../../../src/txstore/prune/pruner.ts';
import type { PassSettings } from '../../../src/txstore/prune/settings.ts';
import type { TxBlock, TxRecord } from '../../../src/txstore/records.ts';
import type { ChainConditions } from '../../../src/txstore/rules/gates.ts';
import type { ReorganisationLimit } from '../../../src/txstore/rules/settings.ts';
import type { NewStoredTx, SpendingTx, SpendOptions, TxStore, TxStoreSettings } from '../../../src/txstore/store.ts';
import { type ErrorCode, isUnspentError } from '../../../src/util/errors.ts';

/** A store that is empty and nobody else's. */
export interface OpenedTxStore {
  readonly store: TxStore;
  /** Every record, by id. */
  records(): Promise<readonly TxRecord[]>;
  /** Throws if an index disagrees with the records. */
  checkIndexes(): Promise<void>;
  /** The store as it is after the process has ended and begun again. */
  reopen(): Promise<OpenedTxStore>;
  close(): Promise<void>;
}
export type OpenTxStore = (settings: TxStoreSettings, limit: ReorganisationLimit) => Promise<OpenedTxStore>;

export const SETTINGS: TxStoreSettings = { retention: 288, window: 288 };

/** 32 bytes that begin with the name. */
export function idOf(name: string): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(new TextEncoder().encode(name));
  return bytes;
}

export function nameOf(id: Uint8Array): string {
  return new TextDecoder().decode(id.subarray(0, (id.indexOf(0) + 33) % 33));
}

export function outpointOf(text: string): Outpoint {
  const [, name, index] = /^(.*):(\d+)$/.exec(text)!;
  return { txId: idOf(name), index: Number(index) };
}

export function blockAt(height: number, branch = 'best'): TxBlock {
  return { hash: idOf(`${branch} ${height}`), height, index: 0, isOnBestChain: branch === 'best' };
}

/** Pays to anybody; OP_RETURN: nobody can spend it. */
export const ANYBODY = Uint8Array.of(0x51);
export const NOBODY = Uint8Array.of(0x6a, 1, 2);

export interface Story extends Partial<Omit<NewStoredTx, 'txId' | 'inputs' | 'outputs'>> {
  /** The height of the chain when it comes. */
  readonly at: number;
  readonly spends?: readonly string[];
  /** How many it has; 1 unless said. */
  readonly outputs?: number;
  /** The height of the block of the best chain that holds it, from the beginning. */
  readonly mined?: number;
  /** It competes: it is stored without spending what it names. */
  readonly competes?: boolean;
}

export class TxWorld {
  opened: OpenedTxStore;
  pruner: Pruner;
  readonly conditions: { -readonly [K in keyof ChainConditions]: ChainConditions[K] } = {
    isIndexReady: true,
    isReorganising: false,
    isResetting: false,
    isCatchingUp: false,
    tipHeight: 0xffff_ffff,
    appliedHeight: 0xffff_ffff,
  };

  private constructor(opened: OpenedTxStore) {
    this.opened = opened;
    this.pruner = this.newPruner();
  }

  static async open(open: OpenTxStore, settings = SETTINGS, limit: ReorganisationLimit = { depthMax: settings.window }): Promise<TxWorld> {
    return new TxWorld(await open(settings, limit));
  }

  get store(): TxStore {
    return this.opened.store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.opened.checkIndexes();
    await this.opened.close();
  }

  newPruner(settings: Partial<PassSettings> = {}, options: Partial<PrunerOptions> = {}): Pruner {
    return new Pruner({ store: this.store, settings, conditions: async () => this.conditions, ...options });
  }

  async restart(): Promise<void> {
    this.opened = await this.opened.reopen();
    this.pruner = this.newPruner();
  }

  /** Spends, then stores, as a node does with what it has validated. */
  async add(name: string, story: Story): Promise<void> {
    const { at, spends = [], outputs = 1, mined, competes = false, ...rest } = story;
    const inputs = spends.map(outpointOf);
    if (!competes) await this.store.spend([{ txId: idOf(name), inputs }], at);
    const blocks = mined === undefined ? [] : [blockAt(mined)];
    const paid = Array.from({ length: outputs }, (_, n) => ({ amount: BigInt(n + 1), script: ANYBODY }));
    await this.store.create([{ txId: idOf(name), inputs, outputs: paid, blocks, ...rest }], at);
  }

  async spend(name: string, spends: readonly string[], at: number, options?: SpendOptions): Promise<void> {
    const tx: SpendingTx = { txId: idOf(name), inputs: spends.map(outpointOf) };
    await this.store.spend([tx], at, options);
  }

  async unspend(outpoint: string, by: string, at: number, vin = 0): Promise<void> {
    await this.store.unspend([{ outpoint: outpointOf(outpoint), spender: { txId: idOf(by), vin } }], at);
  }

  async mine(names: readonly string[], height: number, branch = 'best'): Promise<void> {
    const txs = names.map((name, index) => ({ txId: idOf(name), index }));
    await this.store.setMined(txs, blockAt(height, branch), branch === 'best', height);
  }

  async unmine(names: readonly string[], blockHeight: number, at: number, branch = 'best'): Promise<void> {
    await this.store.unsetMined(names.map(idOf), blockAt(blockHeight, branch).hash, at);
  }

  /** Which of the transactions a pass at that height deletes. */
  async pass(height: number, pruner = this.pruner): Promise<readonly string[]> {
    const before = await this.names();
    const outcome = await pruner.prune(height);
    assert.equal(outcome.end, 'completed', `${outcome.reason} ${outcome.error}`);
    const after = await this.names();
    await this.opened.checkIndexes();
    return before.filter((name) => !after.includes(name));
  }

  async outcome(height: number, pruner = this.pruner): Promise<PassOutcome> {
    return pruner.prune(height);
  }

  async names(): Promise<readonly string[]> {
    return (await this.opened.records()).map(({ txId }) => nameOf(txId));
  }

  async find(name: string): Promise<TxRecord | null> {
    return (await this.store.batchGet([idOf(name)]))[0];
  }

  async get(name: string): Promise<TxRecord> {
    const record = await this.find(name);
    assert.ok(record, `${name} is stored`);
    return record;
  }

  async dueAt(name: string): Promise<number | null> {
    return (await this.get(name)).deleteAtHeight;
  }

  async tombstones(name: string): Promise<readonly string[]> {
    return (await this.get(name)).tombstones.map(({ txId }) => nameOf(txId));
  }

  kept(reason: string, pruner = this.pruner): number {
    return pruner.counters.get(`prune_kept_total{reason="${reason}"}`);
  }

  /** The call fails with that code, and nothing is changed. */
  async refused(code: ErrorCode, call: () => Promise<unknown>): Promise<void> {
    const before = await this.opened.records();
    await assert.rejects(call, (error) => isUnspentError(error, code) || assert.fail(`not ${code}: ${error}`));
    assert.deepEqual(await this.opened.records(), before);
  }
}

/** What a pass asks of a store that does not decide by itself. */
const PASS_METHODS = ['dueParents', 'readParents', 'readChildren', 'readTombstones', 'removeParents'];

/** The store with some of its methods replaced. */
export function withMethods(store: TxStore, methods: Partial<TxStore>): TxStore {
  const decides = PASS_METHODS.some((name) => name in methods);
  return new Proxy(store, {
    get(target, name) {
      // A store that does it all by itself would not ask these.
      if (decides && name === 'removeNext') return undefined;
      const value = Reflect.get(name in methods ? methods : target, name) as unknown;
      return typeof value === 'function' && !(name in methods) ? value.bind(target) : value;
    },
  });
}
