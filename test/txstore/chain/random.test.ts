/**
 * Random chains of the Bitcoin family through a fold that keeps the transaction
 * store: blocks in groups, reorganisations up to the window, branches that come
 * again, a mempool that is ahead, prune passes. At every tip the records say
 * exactly what the unspent set says (`TxsCheck`), and the set is the producer's.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type SettingKey, settingValue } from '../../../src/config/schema.ts';
import { openMemory } from '../../../src/engine/memory.ts';
import { openEngineIn } from '../../../src/engine/open.ts';
import { openNetwork } from '../../../src/families/networks.ts';
import { bitcoinLedger } from '../../../src/ledgers/bitcoin/index.ts';
import { selectProjections } from '../../../src/projections/registry.ts';
import { deltaColumn } from '../../../src/state/delta.ts';
import { Fold } from '../../../src/state/fold.ts';
import { ChainConsumers } from '../../../src/store/consumers.ts';
import { embeddedTxs } from '../../../src/store/open-txs.ts';
import { storeProjections } from '../../../src/store/projections.ts';
import type { StoreTxs } from '../../../src/store/store-txs.ts';
import { verifyStore } from '../../../src/store/verify/verify.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import { type PlainBlock, PlainChain } from '../../support/bitcoin-chain.ts';
import { TEST_SEED } from '../../support/harness.ts';

const W = 6;
const PROJECTIONS = ['chain', 'transactions', 'utxo', 'txs'];

class TxsLife {
  readonly chain: PlainChain;
  readonly fold: Fold;
  readonly txs: StoreTxs;
  readonly random: Random;
  readonly table = storeProjections();
  deepest = 0;

  private constructor(chain: PlainChain, random: Random, fold: Fold, txs: StoreTxs) {
    this.chain = chain;
    this.random = random;
    this.fold = fold;
    this.txs = txs;
  }

  static async begin(seed: number, unminedBlocks: number, directory: string | null): Promise<TxsLife> {
    const chain = new PlainChain(seed, { wide: 0.005 });
    const set = ['txs.store=embedded', `txs.retention=${W}`, `txs.unminedBlocks=${unminedBlocks}`];
    const { config } = loadConfig({ flags: { set } });
    const ledger = bitcoinLedger(chain.network);
    const projections = selectProjections(PROJECTIONS, ledger, storeProjections(), (key) => settingValue(config, key as SettingKey));
    const columns = [...projections.flatMap((projection) => projection.columns), deltaColumn];
    const engine =
      directory === null
        ? openMemory(columns)
        : await openEngineIn(directory, columns, { kind: 'rocks', createIfMissing: true, memtableBytes: 8 << 20, cacheBytes: 8 << 20 });
    const options = { utxo: true, partial: false, selfContained: false, pruneDepth: 50, rollbackWindow: 100, fsync: false };
    const fold = new Fold(engine, ledger, projections, options);
    const network = openNetwork('bitcoin-regtest', null);
    const txs = embeddedTxs({ fold, config, network, following: null, consumers: new ChainConsumers() });
    return new TxsLife(chain, new Random(seed, 3), fold, txs);
  }

  apply(blocks: readonly PlainBlock[]): void {
    const ledger = bitcoinLedger(this.chain.network);
    this.fold.apply(blocks.map(({ raw, height }) => ledger.decode(raw, height)));
  }

  async mine(count: number): Promise<void> {
    const blocks = Array.from({ length: count }, () => this.chain.mine());
    if (this.random.chance(0.5)) await this.relay(blocks);
    if (this.random.chance(0.5)) this.apply(blocks);
    else for (const block of blocks) this.apply([block]);
  }

  /** Their transactions are heard of before the blocks, some of them behind their children. */
  async relay(blocks: readonly PlainBlock[]): Promise<void> {
    const txs = blocks.flatMap((block) => block.txs.slice(1).map(({ raw }) => raw));
    if (this.random.chance(0.3)) txs.reverse();
    await this.txs.take({ kind: 'add', txs }, false);
  }

  async reorganise(): Promise<void> {
    const tip = this.chain.tip!.height;
    const lowest = Math.max(1, this.fold.horizonHeight ?? 1, tip - W);
    const branches = this.chain.branchesAbove(lowest);
    if (branches.length > 0 && this.random.chance(0.6)) return this.goBackTo(this.random.pick(branches));
    const depth = this.random.int(tip - lowest + 1);
    if (depth === 0) return;
    this.deepest = Math.max(this.deepest, depth);
    const undone = this.chain.blocks.slice(-depth);
    assert.equal(this.fold.rollback(this.chain.blocks.at(-1 - depth)!), depth);
    if (this.random.chance(0.3)) {
      this.verify();
      this.apply(undone);
      return;
    }
    this.chain.rollback(depth);
    this.verify();
    await this.mine(depth + 1);
  }

  /** A branch that was left wins again, with some of its blocks and others behind them. */
  async goBackTo(branch: readonly PlainBlock[]): Promise<void> {
    const depth = this.chain.tip!.height - branch[0].height + 1;
    this.fold.rollback(this.chain.blocks.at(-1 - depth)!);
    this.chain.rollback(depth);
    const taken = branch.slice(0, 1 + this.random.int(branch.length));
    for (const block of taken) this.chain.take(block);
    this.apply(taken);
    this.verify();
    await this.mine(Math.max(1, depth + 1 - taken.length));
  }

  verify(): void {
    const { engine } = this.fold;
    const { faults, utxos } = verifyStore(engine, bitcoinLedger(this.chain.network), { projections: PROJECTIONS, table: this.table });
    assert.deepEqual(faults, []);
    const isUndone = this.fold.head!.height < this.chain.tip!.height;
    if (!isUndone) assert.equal(utxos, this.chain.utxos.size);
  }

  get records(): number {
    return [...eachRecord(this.fold.engine)].length;
  }
}

describe('random chains with a transaction store', () => {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-txs-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  // RocksDB gives rows as Buffers, whose `slice` is a view.
  const kinds = [
    { unminedBlocks: 2016, where: directory },
    { unminedBlocks: 8, where: null },
    { unminedBlocks: 3, where: null },
    // A loser whose child was deleted won again, and its output stayed spent.
    { unminedBlocks: 8, where: null, seed: 9 },
  ];
  for (const [n, { unminedBlocks, where, seed = TEST_SEED + n }] of kinds.entries()) {
    const engine = where === null ? 'in memory' : 'on RocksDB';
    test(`what is in no block is given up after ${unminedBlocks} blocks, ${engine} (seed ${seed})`, async () => {
      const life = await TxsLife.begin(seed, unminedBlocks, where);
      await life.mine(10);
      for (let step = 0; step < 70; step++) {
        const what = life.random.int(10);
        if (what < 5) await life.mine(1 + life.random.int(3));
        else if (what < 8) await life.reorganise();
        else if (what < 9) await life.txs.take(life.random.chance(0.5) ? { kind: 'reset' } : { kind: 'remove', ids: [] }, false);
        if (life.random.chance(0.7)) await life.txs.pass();
        if (step % 4 === 3) life.verify();
      }
      const counters = life.txs.pruner.counters;
      assert.ok(counters.get('prune_deleted_total') > 50, 'records were deleted');
      assert.ok(life.deepest > 3, 'some reorganisations were deep');
      await life.fold.engine.close();
    });
  }
});
