/**
 * The transaction store on the embedded engine, all in one run:
 *
 *   writes   creates and spends in batches of 1,000 beside the floor: the same
 *            keys and bytes, in the same order, to a bare engine
 *            (--txs 300000 that are there first, --blocks 100 of 1,000)
 *   prune    one pass over --candidates 1000000 with 2.5 children each, and the
 *            cost model: what it reads and writes for a parent (--pool 40000
 *            transactions have the unspent outputs)
 *   latency  batches of 1,000 spends, one each --every 25 ms, while a pass runs
 *            and without (--spends 150 batches; --beside 500000 candidates)
 *   storage  bytes on disk while blocks come and a pass follows each
 *            (--long 1000 blocks of 2,000)
 *
 * --database sqlite|postgres|URL: in a database instead (txs-sql.ts).
 *
 * --engine rocks|sqlite. Rates are of the clock and (PerThreadSecond) of the processor time of the thread that calls, which moves
 * less with what else the machine does; ratios to the floor are of the latter.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OwnedEngine, openEngineIn } from '../src/engine/open.ts';
import { TX_STORE_COLUMNS } from '../src/txstore/embedded/columns.ts';
import { EmbeddedTxStore } from '../src/txstore/embedded/index.ts';
import { PruneCounters } from '../src/txstore/prune/counters.ts';
import { runPass } from '../src/txstore/prune/pass.ts';
import { PRUNE_DEFAULTS } from '../src/txstore/prune/settings.ts';
import { TXS_CHUNK_PARENTS } from '../src/util/limits.ts';
import { EngineTape } from './engine-tape.ts';
import { type BenchOptions, option, round, say, temporary, textOption } from './support.ts';
import { batchesOf, CREATES_PER_BATCH, SPENDERS_PER_BATCH, storeBlock, TxStream } from './tx-stream.ts';
import { measureSqlTxs } from './txs-sql.ts';

const SETTINGS = { retention: 10, window: 10 };
const SEED = 1;
/** A block spends outputs of those before it only, so that it must be much smaller than the pool. */
const BLOCKS_PER_POOL = 4;
/** Of the store, then of the floor. */
const BLOCKS_PER_TURN = 10;
const LONG_BLOCK_TXS = 2000;
/** As beside a chain. */
const PASS_SETTINGS = { ...PRUNE_DEFAULTS, chunkParents: TXS_CHUNK_PARENTS, parallelChunks: 1 };

type Figures = Record<string, number>;

export async function run(options: BenchOptions): Promise<void> {
  const database = textOption(options.args, 'database');
  return database === undefined ? runEmbedded(options) : runOnSql(options, database);
}

async function runOnSql(options: BenchOptions, database: string): Promise<void> {
  const sizes = { txs: option(options.args, 'txs', 20_000), blocks: option(options.args, 'blocks', 20) };
  const figures = await measureSqlTxs(database, sizes);
  for (const [name, value] of Object.entries(figures)) say(options, `${name.padEnd(28)} ${value}`);
  if (options.json) console.log(JSON.stringify({ ...figures, ...sizes, database }));
}

async function runEmbedded(options: BenchOptions): Promise<void> {
  const sizes = {
    txs: option(options.args, 'txs', 300_000),
    blocks: option(options.args, 'blocks', 100),
    candidates: option(options.args, 'candidates', 1_000_000),
    spends: option(options.args, 'spends', 150),
    every: option(options.args, 'every', 25),
    long: option(options.args, 'long', 1000),
    pool: option(options.args, 'pool', 40_000),
    beside: option(options.args, 'beside', 500_000),
  };
  const kind = options.args.some((arg) => arg.endsWith('sqlite')) ? 'sqlite' : 'rocks';
  const figures: Figures = {};
  const report = (part: Figures): void => {
    Object.assign(figures, part);
    for (const [name, value] of Object.entries(part)) say(options, `${name.padEnd(28)} ${value}`);
  };
  report(await measureWrites(kind, sizes.txs, sizes.blocks));
  await withStore(kind, 'prune', async (_, store) => {
    const pruned = new PrunedStore(store, sizes.pool);
    if (sizes.candidates > 0) report(await pruned.measurePass(sizes.candidates));
    if (sizes.spends > 0) report(await pruned.measureLatency(sizes.beside, sizes.spends, sizes.every));
    if (sizes.long > 0) report(await pruned.measureStorage(sizes.long));
  });
  if (options.json) console.log(JSON.stringify({ ...figures, ...sizes, engine: kind }));
}

async function withStore<T>(
  kind: 'rocks' | 'sqlite',
  name: string,
  body: (engine: OwnedEngine, store: EmbeddedTxStore) => Promise<T>,
): Promise<T> {
  const folder = temporary(`txs-${name}`);
  const engine = await openEngineIn(join(folder.path, 'db'), TX_STORE_COLUMNS, { createIfMissing: true, kind });
  try {
    return await body(engine, new EmbeddedTxStore(engine, SETTINGS, { depthMax: SETTINGS.window }));
  } finally {
    await engine.close();
    folder.remove();
  }
}

/** Seconds of the clock and of the thread, over several calls. */
class Watch {
  wall = 0;
  thread = 0;

  async time<T>(body: () => T | Promise<T>): Promise<T> {
    const [began, before] = [performance.now(), process.threadCpuUsage()];
    const result = await body();
    const { user, system } = process.threadCpuUsage(before);
    this.wall += (performance.now() - began) / 1000;
    this.thread += (user + system) / 1e6;
    return result;
  }

  rates(name: string, count: number): Figures {
    return { [`${name}PerSecond`]: round(count / this.wall, 0), [`${name}PerThreadSecond`]: round(count / this.thread, 0) };
  }
}

/**
 * Growing, then blocks: of each block the spends and the creates are timed. The store and the floor take turns, so that
 * whatever else the machine does befalls both.
 */
async function measureWrites(kind: 'rocks' | 'sqlite', txs: number, blocks: number): Promise<Figures> {
  const tape = await withStore(kind, 'tape', async (engine) => {
    const recorded = new EngineTape(engine);
    const feed = new Feed(new EmbeddedTxStore(recorded.recording(engine), SETTINGS, { depthMax: SETTINGS.window }));
    await feed.grow(txs);
    await feed.blocks(blocks);
    return recorded;
  });
  return withStore(kind, 'store', (_, store) =>
    withStore(kind, 'floor', async (engine) => {
      const [feed, floor] = [new Feed(store), new Floor(engine, tape)];
      floor.grow(await feed.grow(txs));
      for (let done = 0; done < blocks; done += BLOCKS_PER_TURN) {
        const turn = Math.min(BLOCKS_PER_TURN, blocks - done);
        await feed.blocks(turn);
        await floor.blocks(turn);
      }
      return {
        ...feed.create.rates('creates', feed.creates),
        ...floor.create.rates('floorCreates', feed.creates),
        createsToFloor: round(feed.create.thread / floor.create.thread, 2),
        ...feed.spend.rates('spends', feed.spends),
        ...floor.spend.rates('floorSpends', feed.spends),
        spendsToFloor: round(feed.spend.thread / floor.spend.thread, 2),
        bytesPerOperation: round(tape.bytes / tape.operations, 0),
      };
    }),
  );
}

/** Transactions into a store, timed but for those it grows by. */
class Feed {
  readonly #store: EmbeddedTxStore;
  readonly #stream = new TxStream(SEED);
  readonly spend = new Watch();
  readonly create = new Watch();
  spends = 0;
  creates = 0;

  constructor(store: EmbeddedTxStore) {
    this.#store = store;
  }

  /** Returns the number of commits. */
  async grow(txs: number): Promise<number> {
    const batches = batchesOf(this.#stream.grow(txs), CREATES_PER_BATCH);
    for (const batch of batches) await this.#store.create(batch, this.#stream.height);
    return batches.length;
  }

  async blocks(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      const block = this.#stream.next(CREATES_PER_BATCH);
      for (const batch of batchesOf(block, SPENDERS_PER_BATCH)) {
        await this.spend.time(() => this.#store.spend(batch, this.#stream.height));
        this.spends += batch.reduce((sum, { inputs }) => sum + inputs.length, 0);
      }
      await this.create.time(() => this.#store.create(block, this.#stream.height));
      this.creates += block.length;
    }
  }
}

/** What a store has written, into a bare engine. */
class Floor {
  readonly #engine: OwnedEngine;
  readonly #tape: EngineTape;
  #at = 0;
  readonly spend = new Watch();
  readonly create = new Watch();

  constructor(engine: OwnedEngine, tape: EngineTape) {
    this.#engine = engine;
    this.#tape = tape;
  }

  grow(commits: number): void {
    this.#replay(commits);
  }

  async blocks(count: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      await this.spend.time(() => this.#replay(Math.ceil(CREATES_PER_BATCH / SPENDERS_PER_BATCH)));
      await this.create.time(() => this.#replay(1));
    }
  }

  #replay(commits: number): void {
    this.#tape.replay(this.#engine, this.#at, this.#at + commits);
    this.#at += commits;
  }
}

/** A store whose unspent set stays as it is while blocks come and passes delete. */
class PrunedStore {
  readonly #store: EmbeddedTxStore;
  readonly #poolTxs: number;
  readonly #stream = new TxStream(SEED + 1);

  constructor(store: EmbeddedTxStore, poolTxs: number) {
    this.#store = store;
    this.#poolTxs = poolTxs;
  }

  get #blockTxs(): number {
    return Math.floor(this.#poolTxs / BLOCKS_PER_POOL);
  }

  async #blocks(txs: number): Promise<void> {
    if (this.#stream.height === 0) {
      for (const batch of batchesOf(this.#stream.grow(this.#poolTxs), CREATES_PER_BATCH))
        await this.#store.create(batch, this.#stream.height);
    }
    for (let left = txs; left > 0; left -= this.#blockTxs) await this.#block(Math.min(left, this.#blockTxs));
  }

  async #block(txs: number): Promise<void> {
    await storeBlock(this.#store, this.#stream.next(txs), this.#stream.height);
  }

  /** Over all that is due, at a height at which every spender is stable. */
  #pass(counters: PruneCounters): ReturnType<typeof runPass> {
    const requested = this.#stream.height + SETTINGS.window;
    this.#stream.height = requested;
    const heights = { requested, allowed: requested, window: SETTINGS.window };
    return runPass({ store: this.#store, settings: PASS_SETTINGS, heights, counters, now: () => performance.now() });
  }

  async measurePass(candidates: number): Promise<Figures> {
    await this.#blocks(candidates);
    const [counters, watch] = [new PruneCounters(), new Watch()];
    const bytes = (await this.#store.stats()).bytes;
    const { deleted, kept } = await watch.time(() => this.#pass(counters));
    const count = (name: string): number => counters.get(name);
    return {
      candidates: count('prune_candidates_total'),
      deleted: deleted,
      keptShare: round(kept / (kept + deleted), 4),
      ...watch.rates('parents', deleted),
      childReadsPerParent: round(count('prune_children_verified_total') / deleted, 2),
      childBatches: count('prune_child_batches_total'),
      tombstonesPerParent: round(count('prune_tombstones_written_total') / deleted, 3),
      megabytesBefore: round(bytes / 2 ** 20, 0),
    };
  }

  /** The same batches on the same schedule, with nothing beside them and with a pass. */
  async measureLatency(candidates: number, batches: number, everyMs: number): Promise<Figures> {
    await this.#blocks(candidates);
    const alone = await this.#spendOnSchedule(everyMs, (done) => done < batches);
    let isRunning = true;
    const pass = this.#pass(new PruneCounters()).finally(() => {
      isRunning = false;
    });
    const beside = await this.#spendOnSchedule(everyMs, () => isRunning);
    await pass;
    const [p99, passP99] = [quantile(alone, 0.99), quantile(beside, 0.99)];
    return {
      spendP50: quantile(alone, 0.5),
      spendP99: p99,
      passSpendP50: quantile(beside, 0.5),
      passSpendP99: passP99,
      passSpendP99Ratio: round(passP99 / p99, 2),
      passSpendBatches: beside.length,
    };
  }

  /** Milliseconds from the moment that each batch was due until it was stored. */
  async #spendOnSchedule(everyMs: number, goesOn: (done: number) => boolean): Promise<number[]> {
    const latencies: number[] = [];
    let due = performance.now();
    while (goesOn(latencies.length)) {
      const txs = this.#stream.next(SPENDERS_PER_BATCH);
      // One that is late does not make all behind it late.
      due = Math.max(due + everyMs, performance.now());
      await sleep(Math.max(0, due - performance.now()));
      await this.#store.spend(txs, this.#stream.height);
      latencies.push(performance.now() - due);
      await this.#store.create(txs, this.#stream.height);
    }
    return latencies;
  }

  /**
   * Compaction lets the bytes rise to three times the least and fall again, every forty blocks or so: means are of many
   * such rounds, and the least of each half shows what cannot be given back.
   */
  async measureStorage(blocks: number): Promise<Figures> {
    const sizes: number[] = [];
    await this.#blocks(0);
    for (let n = 0; n < blocks; n++) {
      await this.#block(Math.min(LONG_BLOCK_TXS, this.#blockTxs));
      await this.#pass(new PruneCounters());
      sizes.push((await this.#store.stats()).bytes);
    }
    const settled = sizes.slice(Math.floor(blocks / 5));
    const half = Math.floor(settled.length / 2);
    const [before, after] = [settled.slice(0, half), settled.slice(-half)];
    const mean = (part: readonly number[]): number => part.reduce((a, b) => a + b, 0) / part.length;
    return {
      storageMegabytes: round(mean(after) / 2 ** 20, 1),
      storageGrowth: round(mean(after) / mean(before), 3),
      storageMegabytesLeast: round(Math.min(...after) / 2 ** 20, 1),
      storageLeastGrowth: round(Math.min(...after) / Math.min(...before), 3),
      storageRecords: (await this.#store.stats()).records,
    };
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))], 2);
}
