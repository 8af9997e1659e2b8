/**
 * A random chain with reorganisations through one store that keeps the records of
 * its transactions twice: in its own engine, and in a database that is fed with its
 * blocks. After every step, with the mempool heard and a pass run on both, every
 * record is the same in both.
 *
 * A story is the same each time it is told with the same seed, so that a process
 * that was killed in it can be followed by another that goes on.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '../../../src/chains/random.ts';
import { bitcoinLedger } from '../../../src/ledgers/bitcoin/index.ts';
import type { Point } from '../../../src/ledgers/ledger.ts';
import type { SqlDatabaseOptions } from '../../../src/sql/database.ts';
import { databaseTxs } from '../../../src/store/open-txs.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import type { StoreTxs } from '../../../src/store/store-txs.ts';
import { verifyFedRecords } from '../../../src/store/verify/fed-records.ts';
import type { FedRecords } from '../../../src/txstore/chain/chain-records.ts';
import { eachRecord } from '../../../src/txstore/embedded/reads.ts';
import type { TxRecord } from '../../../src/txstore/records.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { type PlainBlock, PlainChain } from '../../support/bitcoin-chain.ts';

/** R and W. */
const WINDOW = 6;
/** Blocks until a transaction is given up that is in none. */
const UNMINED_BLOCKS = 9;

/** A change of the store: back to a block, or blocks that are one batch. */
export interface FeedStep {
  readonly backTo: Point | null;
  readonly blocks: readonly PlainBlock[];
  /** Heard of before the next step. */
  readonly relayed: readonly Uint8Array[];
}

/** Reorganisations are at most W deep, and never below the first block. */
export function feedSteps(seed: number, count: number): readonly FeedStep[] {
  const chain = new PlainChain(seed, { wide: 0.005, txsMax: 4 });
  const random = new Random(seed, 5);
  const steps: FeedStep[] = [];
  const mine = (blocks: number): void => {
    steps.push({ backTo: null, blocks: Array.from({ length: blocks }, () => chain.mine()), relayed: [] });
  };
  const undo = (depth: number): void => {
    steps.push({ backTo: chain.blocks.at(-1 - depth)!, blocks: [], relayed: [] });
    chain.rollback(depth);
  };
  mine(10);
  // No step of a branch may go below what a pass at the highest height so far has relied on.
  let highest = chain.tip!.height;
  while (steps.length < count) {
    highest = Math.max(highest, chain.tip!.height);
    const lowest = Math.max(1, highest - WINDOW);
    const branches = chain.branchesAbove(lowest);
    if (branches.length > 0 && random.chance(0.15)) {
      // A branch that was left wins again, with some of its blocks and others behind them.
      const branch = random.pick(branches);
      const depth = chain.tip!.height - branch[0].height + 1;
      if (depth > 0) undo(depth);
      const taken = branch.slice(0, 1 + random.int(branch.length));
      for (const block of taken) chain.take(block);
      steps.push({ backTo: null, blocks: taken, relayed: [] });
      mine(Math.max(1, depth + 1 - taken.length));
      continue;
    }
    const depth = random.chance(0.35) ? random.int(Math.max(0, chain.tip!.height - lowest) + 1) : 0;
    if (depth > 0) {
      undo(depth);
      mine(depth + 1);
    } else mine(1 + random.int(3));
  }
  // Some of what the next blocks hold is in the mempool before, now and then behind its children.
  return steps.map((step, n) => {
    const next = steps[n + 1]?.blocks.flatMap(({ txs }) => txs.slice(1).map(({ raw }) => raw)) ?? [];
    const relayed = random.chance(0.5) ? next : [];
    return { ...step, relayed: random.chance(0.3) ? relayed.toReversed() : relayed };
  });
}

export class FeedStory {
  readonly store: OpenStore;
  readonly inDatabase: StoreTxs;
  readonly #file: string;
  readonly #ledger = bitcoinLedger(new PlainChain(0).network);

  private constructor(data: string, store: OpenStore, inDatabase: StoreTxs) {
    this.#file = join(data, 'step');
    this.store = store;
    this.inDatabase = inDatabase;
  }

  static async open(data: string, url: string, options: SqlDatabaseOptions = {}): Promise<FeedStory> {
    const settings = { 'txs.store': 'embedded', 'txs.retention': WINDOW, 'txs.unminedBlocks': UNMINED_BLOCKS, 'utxo.history': true };
    const store = await openStore({ data, network: 'bitcoin-regtest', settings });
    return new FeedStory(data, store, await databaseTxs(store, url, { isDurable: false, ...options }));
  }

  get records(): FedRecords {
    return this.inDatabase.records as FedRecords;
  }

  /** Changes the store, and remembers that. */
  change({ backTo, blocks }: FeedStep): void {
    const { fold } = this.store;
    if (backTo !== null) fold.rollback(backTo);
    if (blocks.length > 0) fold.apply(blocks.map(({ raw, height }) => this.#ledger.decode(raw, height)));
  }

  /** What both do after a change. It can be done again. */
  async settle({ relayed }: FeedStep): Promise<void> {
    await this.inDatabase.catchUp();
    for (const txs of [this.inDatabase, this.store.txs!]) {
      await txs.take({ kind: 'add', txs: relayed }, false);
      await txs.pass();
    }
  }

  /**
   * Goes on from where a process before was. With `isQuiet` nobody is killed: the records are compared after each step.
   * Otherwise a pass that was killed is run again, which can delete a parent one pass earlier, because its child is gone.
   */
  async tell(steps: readonly FeedStep[], isQuiet: boolean): Promise<void> {
    const done = existsSync(this.#file) ? Number(readFileSync(this.#file, 'utf8')) : 0;
    if (done > 0) await this.settle(steps[done - 1]);
    for (const [n, step] of steps.entries()) {
      if (n < done) continue;
      this.change(step);
      // Processes are killed between statements of the database: the store and this file cannot differ.
      writeFileSync(this.#file, String(n + 1));
      await this.settle(step);
      if (isQuiet) await this.#compare(`after step ${n}`, comparable);
    }
    if (!isQuiet) for (const txs of [this.inDatabase, this.store.txs!]) await deleteAll(txs);
    await this.#compare('in the end', isQuiet ? comparable : withoutPasses);
    await this.verify();
  }

  async #compare(when: string, form: (record: TxRecord) => unknown): Promise<void> {
    const fed: unknown[] = [];
    for await (const record of this.records.records()) fed.push(form(record));
    assert.deepEqual(fed, [...eachRecord(this.store.engine)].map(form), when);
  }

  /** The records of the database against the unspent set. */
  async verify(): Promise<void> {
    const { engine, fold } = this.store;
    const { faults, records } = await verifyFedRecords(this.records, { reader: engine, utxos: fold.head!.utxos, isPartial: false });
    assert.deepEqual(faults, []);
    assert.ok(records > 0);
  }

  async close(): Promise<void> {
    await this.inDatabase.close();
    await this.store.close();
  }
}

/** Passes at the same height, until one finds nothing that may go. */
async function deleteAll(txs: StoreTxs): Promise<void> {
  const { records } = txs;
  do {
    await records.setPassProgress({ ...(await records.pruneProgress()), lastCompleted: 0 });
  } while ((await txs.pass()).deleted > 0);
}

/** Versions count changes: blocks that are one change here may be several there. */
function comparable({ version: _, ...record }: TxRecord): unknown {
  return plain(record);
}

/** Without the heights of the passes that deleted children. */
function withoutPasses(record: TxRecord): unknown {
  return comparable({ ...record, tombstones: record.tombstones.map(({ txId }) => ({ txId, height: 0 })) });
}

/** Bytes as hex: engines give them as Buffers, databases do not. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plain(part)]));
}
