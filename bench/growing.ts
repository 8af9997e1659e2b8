/**
 * A store that grows: a synthetic chain folded into an engine, pruned as a real
 * one is, and what a block costs it at a size. What is kept is up to whoever
 * measures.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import type { Engine } from '../src/engine/engine.ts';
import { type EngineOptions, engineOptions, openEngineIn } from '../src/engine/open.ts';
import type { Block } from '../src/ledgers/ledger.ts';
import { selectProjections } from '../src/projections/registry.ts';
import { deltaColumn } from '../src/state/delta.ts';
import { Fold } from '../src/state/fold.ts';
import { PruneSchedule } from '../src/state/prune-schedule.ts';
import { COMPACT_MEMTABLE_BYTES } from '../src/util/limits.ts';
import { ownProcessorSeconds, round, timed } from './support.ts';
import { CARDANO_FORM, type ChainForm, OUTPUTS_PER_TX, SyntheticChain } from './synthetic.ts';

const GROW = { txs: 400, spends: 120 };
const REAL = { txs: 117, spends: 300 };
/** What GROUP_BYTES_MAX makes of blocks of these sizes. */
export const GROUP = 100;
const GROW_GROUP = 50;
/** Compaction goes on behind us; the size counts when it has not changed for this long. */
const SETTLE_MS = 4000;
const SETTLE_CHECKS_MAX = 150;
export const MEASURED_BLOCKS = 600;

/** The unspent set and two indexes. */
export const PLAIN: readonly string[] = ['chain', 'transactions', 'utxo', 'index.address', 'index.payment'];

export interface GrowingOptions {
  /** Names of the projections to keep. Default: PLAIN. */
  readonly keeps?: readonly string[];
  readonly kind?: NonNullable<EngineOptions['kind']>;
  /** Of which family the chain is. Default: Cardano. */
  readonly form?: ChainForm;
  /** Default: those of stores. */
  readonly memtableBytes?: number;
  readonly memoryBytes?: number;
}

/** What an output costs that comes or goes, in microseconds. */
export interface OutputCost {
  /** By the clock. */
  readonly micros: number;
  /** Of processor time of this process: the fold, the thread that writes, flushes and compactions meanwhile. */
  readonly cpuMicros: number;
}

/** What writes wait for, as the engine tells it: of all columns, but for what is said of the unspent set. */
export interface Waits {
  /** Writes have stood still for so long since the database was opened. */
  readonly stalledMs: number;
  /** Of the unspent set: bytes that are to be merged, and tables that every lookup may have to look into. */
  readonly pendingMegabytes: number;
  readonly levelZeroTables: number;
  /** Tables of each column. */
  readonly tables: Readonly<Record<string, number>>;
}

/** What a column takes on disk. */
export interface ColumnBytes {
  readonly column: string;
  readonly rows: number;
  readonly bytes: number;
}

export class GrowingStore {
  readonly chain: SyntheticChain;
  private readonly directory: string;
  private readonly keeps: readonly string[];
  private readonly kind: NonNullable<EngineOptions['kind']>;
  private readonly form: ChainForm;
  private readonly memtableBytes: number | undefined;
  private readonly memoryBytes: number | undefined;
  private opened: Engine | null = null;
  private fold: Fold | null = null;
  private prune: PruneSchedule | null = null;

  constructor(
    directory: string,
    largest: number,
    { keeps = PLAIN, kind = 'auto', form = CARDANO_FORM, memtableBytes, memoryBytes }: GrowingOptions = {},
  ) {
    this.directory = directory;
    this.keeps = keeps;
    this.kind = kind;
    this.form = form;
    this.memtableBytes = memtableBytes;
    this.memoryBytes = memoryBytes;
    this.chain = new SyntheticChain(Math.ceil(1.2 * largest) + 2_000_000, 0, form);
  }

  get engine(): Engine {
    if (this.opened === null) throw new Error('not open');
    return this.opened;
  }

  async open(memtableBytes = this.memtableBytes): Promise<void> {
    const { engine: settings, utxo } = loadConfig({ env: {} }).config;
    const { ledger } = this.form;
    const projections = selectProjections(this.keeps, ledger);
    this.opened = await openEngineIn(this.directory, [...projections.flatMap((projection) => projection.columns), deltaColumn], {
      ...engineOptions(settings),
      ...(this.memoryBytes === undefined ? {} : { memoryBytes: this.memoryBytes }),
      ...(memtableBytes === undefined ? {} : { memtableBytes }),
      createIfMissing: true,
      kind: this.kind,
    });
    this.fold = new Fold(this.opened, ledger, projections, {
      pruneDepth: 2160,
      rollbackWindow: 4320,
      utxo: true,
      partial: false,
      selfContained: false,
      fsync: false,
    });
    this.prune = new PruneSchedule(this.fold, { batchBlocks: utxo.pruneBatchSize, intervalMs: 1000 * utxo.pruneScheduleSeconds });
  }

  async close(): Promise<void> {
    await this.opened?.close();
    this.opened = null;
  }

  /** To so many unspent outputs. Nothing when it was there already. */
  async grow(size: number): Promise<OutputCost> {
    let touched = 0;
    let seconds = 0;
    const before = ownProcessorSeconds();
    while (this.chain.liveCount < size) {
      const blocks = this.make(GROW, GROW_GROUP);
      touched += GROW_GROUP * (GROW.spends + GROW.txs * OUTPUTS_PER_TX);
      seconds += await this.apply(blocks, GROW_GROUP);
    }
    return costOf(seconds, ownProcessorSeconds() - before, touched);
  }

  private make(shape: { txs: number; spends: number }, count: number): Block[] {
    return Array.from({ length: count }, () => this.chain.block(shape.txs, shape.spends));
  }

  /** Seconds to apply and prune; making the blocks is not counted. */
  private async apply(blocks: readonly Block[], group: number): Promise<number> {
    const { fold, prune } = this;
    if (fold === null || prune === null) throw new Error('not open');
    const { seconds } = await timed(() => {
      for (let i = 0; i < blocks.length; i += group) {
        fold.apply(blocks.slice(i, i + group));
        prune.tick();
      }
    });
    return seconds;
  }

  /** Over realistic blocks. */
  async measure(group: number, blocks = MEASURED_BLOCKS): Promise<OutputCost> {
    let [seconds, cpuSeconds] = [0, 0];
    for (let done = 0; done < blocks; done += GROUP) {
      const made = this.make(REAL, GROUP);
      const before = ownProcessorSeconds();
      seconds += await this.apply(made, group);
      cpuSeconds += ownProcessorSeconds() - before;
    }
    return costOf(seconds, cpuSeconds, blocks * (REAL.spends + REAL.txs * OUTPUTS_PER_TX));
  }

  waits(): Waits {
    const { properties } = this.engine.stats();
    const tables = this.engine.columns.map(({ name }) => [name, Number(this.engine.stats(name).properties['rocksdb.num-sst-files'])]);
    return {
      stalledMs: Number(properties['unspent.stalled-ms'] ?? 0),
      pendingMegabytes: Math.round(Number(properties['rocksdb.estimate-pending-compaction-bytes'] ?? 0) / 1e6),
      levelZeroTables: Number(properties['rocksdb.num-files-at-level0'] ?? 0),
      tables: Object.fromEntries(tables),
    };
  }

  /** Prunes, writes out what is only in the log and waits for compaction; then the files are what the set costs: bytes per live output. */
  async settle(): Promise<number> {
    while (this.prune !== null && !this.prune.step().done) await new Promise((resolve) => setImmediate(resolve));
    return this.reopen();
  }

  /** What each column takes when all its tables are merged, as `unspent compact` does it. */
  async compacted(): Promise<readonly ColumnBytes[]> {
    await this.settle();
    await this.reopen(COMPACT_MEMTABLE_BYTES);
    await this.reopen();
    return this.engine.columns.map(({ name: column }) => {
      const { bytes, properties } = this.engine.stats(column);
      return { column, rows: Number(properties['rocksdb.estimate-num-keys']), bytes };
    });
  }

  /** Returns when nothing is merged any more. */
  private async reopen(memtableBytes?: number): Promise<number> {
    await this.close();
    await this.open(memtableBytes);
    let bytes = -1;
    for (let i = 0; i < SETTLE_CHECKS_MAX && bytes !== this.bytesOnDisk(); i++) {
      bytes = this.bytesOnDisk();
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    }
    return bytes / this.chain.liveCount;
  }

  private bytesOnDisk(): number {
    let bytes = 0;
    for (const name of readdirSync(this.directory)) bytes += statSync(join(this.directory, name), { throwIfNoEntry: false })?.size ?? 0;
    return bytes;
  }
}

function costOf(seconds: number, cpuSeconds: number, outputs: number): OutputCost {
  const each = (all: number): number => round((1e6 * all) / Math.max(1, outputs), 2);
  return { micros: each(seconds), cpuMicros: each(cpuSeconds) };
}
