/**
 * What an output costs as the set grows: to 1, 5 and 20 million unspent outputs
 * (--sizes=1,5,20), then, at each size and at rest, realistic blocks (300 spends, 351
 * creates) in groups and one a commit. Two indexes, pruning on. Reports
 * microseconds per output touched, and bytes on disk per live output.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import type { Engine } from '../src/engine/engine.ts';
import { openRocks } from '../src/engine/rocks.ts';
import { cardanoLedger, cardanoNetwork } from '../src/ledgers/cardano/index.ts';
import type { Block } from '../src/ledgers/ledger.ts';
import { type Selection, selectProjections } from '../src/projections/registry.ts';
import { deltaColumn } from '../src/state/delta.ts';
import { Fold } from '../src/state/fold.ts';
import { PruneSchedule } from '../src/state/prune-schedule.ts';
import { type BenchOptions, round, say, temporary, timed } from './support.ts';
import { OUTPUTS_PER_TX, SyntheticChain } from './synthetic.ts';

const GROW = { txs: 400, spends: 120 };
const REAL = { txs: 117, spends: 300 };
/** What GROUP_BYTES_MAX makes of blocks of these sizes. */
const GROUP = 100;
const GROW_GROUP = 50;
/** Compaction goes on behind us; the size counts when it has not changed for this long. */
const SETTLE_MS = 4000;
const SETTLE_CHECKS_MAX = 150;
const MEASURED_BLOCKS = 600;

const KEPT: Selection = {
  utxo: true,
  indexes: { address: true, payment: true, stake: false, policy: false, asset: false, datum: false, script: false },
  ...{ balances: false, datums: false, scripts: false },
};

interface SizeFigures {
  readonly live: number;
  readonly groupedMicros: number;
  readonly singleMicros: number;
  readonly growMicros: number;
  readonly bytesPerLive: number;
  readonly rssMegabytes: number;
}

export async function run(options: BenchOptions): Promise<void> {
  const sizes = sizesOf(options.args);
  const folder = temporary('growth');
  const bench = new Growth(join(folder.path, 'db'), sizes[sizes.length - 1]);
  try {
    await bench.open();
    const figures: SizeFigures[] = [];
    for (const size of sizes) {
      figures.push(await bench.at(size));
      if (!options.json) say(options, line(figures[figures.length - 1]));
    }
    const [first, last] = [figures[0], figures[figures.length - 1]];
    const grouped = round(last.groupedMicros / first.groupedMicros, 2);
    const single = round(last.singleMicros / first.singleMicros, 2);
    if (options.json) console.log(JSON.stringify({ sizes: figures, groupedGrowth: grouped, singleGrowth: single }));
    else say(options, `from ${first.live} to ${last.live}: grouped x ${grouped}, one by one x ${single}`);
  } finally {
    await bench.close();
    folder.remove();
  }
}

function sizesOf(args: readonly string[]): number[] {
  const given = args.find((arg) => arg.startsWith('--sizes='))?.slice(8);
  return (given ?? '1,5,20').split(',').map((text) => Math.round(Number(text) * 1e6));
}

function line(f: SizeFigures): string {
  const micros = `grouped ${f.groupedMicros} us, one by one ${f.singleMicros} us, growing ${f.growMicros} us per output`;
  return `${f.live} live: ${micros}; ${f.bytesPerLive} bytes on disk per live output; ${f.rssMegabytes} MB resident`;
}

class Growth {
  private readonly directory: string;
  private readonly chain: SyntheticChain;
  private engine: Engine | null = null;
  private fold: Fold | null = null;
  private prune: PruneSchedule | null = null;

  constructor(directory: string, largest: number) {
    this.directory = directory;
    this.chain = new SyntheticChain(Math.ceil(1.2 * largest) + 2_000_000);
  }

  async open(): Promise<void> {
    const { engine: settings, utxo } = loadConfig({ env: {} }).config;
    const ledger = cardanoLedger(cardanoNetwork('devnet'), { utxos: { byron: [], shelley: [] }, byronHash: null });
    const projections = selectProjections(KEPT, ledger);
    this.engine = await openRocks(this.directory, [...projections.flatMap((projection) => projection.columns), deltaColumn], {
      createIfMissing: true,
      ...settings,
    });
    this.fold = new Fold(this.engine, ledger, projections, { ...utxo, utxo: true, partial: false, selfContained: false, fsync: false });
    this.prune = new PruneSchedule(
      this.fold,
      { batchBlocks: utxo.pruneBatchSize, intervalMs: 1000 * utxo.pruneScheduleSeconds },
      Date.now(),
    );
  }

  async close(): Promise<void> {
    await this.engine?.close();
    this.engine = null;
  }

  async at(size: number): Promise<SizeFigures> {
    let touched = 0;
    let growSeconds = 0;
    while (this.chain.liveCount < size) {
      const blocks = this.make(GROW, GROW_GROUP);
      touched += GROW_GROUP * (GROW.spends + GROW.txs * OUTPUTS_PER_TX);
      growSeconds += await this.apply(blocks, GROW_GROUP);
    }
    // What growing left to compact is part of growing; a block at this size is measured on a store at rest.
    const bytesPerLive = await this.settle();
    const grouped = await this.measure(GROUP);
    const single = await this.measure(1);
    return {
      live: this.chain.liveCount,
      groupedMicros: round(grouped, 2),
      singleMicros: round(single, 2),
      growMicros: round((1e6 * growSeconds) / Math.max(1, touched), 2),
      bytesPerLive: round(bytesPerLive, 1),
      rssMegabytes: round(process.memoryUsage().rss / 1e6, 0),
    };
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
        prune.applied(fold.apply(blocks.slice(i, i + group)).blocks);
        prune.tick(Date.now());
      }
    });
    return seconds;
  }

  /** Microseconds per output touched, over realistic blocks. */
  private async measure(group: number): Promise<number> {
    let seconds = 0;
    for (let done = 0; done < MEASURED_BLOCKS; done += GROUP) seconds += await this.apply(this.make(REAL, GROUP), group);
    return (1e6 * seconds) / (MEASURED_BLOCKS * (REAL.spends + REAL.txs * OUTPUTS_PER_TX));
  }

  /** Prunes, writes out what is only in the log and waits for compaction; then the files are what the set costs: bytes per live output. */
  private async settle(): Promise<number> {
    while (this.prune !== null && !this.prune.step().done) await new Promise((resolve) => setImmediate(resolve));
    await this.close();
    await this.open();
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
