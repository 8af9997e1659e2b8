/**
 * What an output costs as the set grows: to 1, 5 and 20 million unspent outputs
 * (--sizes=1,5,20), then, at each size and at rest, realistic blocks (300 spends, 351
 * creates) in groups and one a commit, of both families (--family=cardano or
 * bitcoin: only that one) with the indexes that their stores keep by default;
 * pruning on. Reports microseconds per output touched and bytes on disk per live
 * output, at rest and, column by column, when all tables are merged. --blocks=0:
 * only bytes. --memtables=4000000: with memtables of so many bytes, for the bytes of
 * a set below a million, which else is too small for RocksDB to compress it.
 * --memory=1000000000: `engine.memoryBytes` (0: its default). What writes waited for
 * is told too; the binding does not tell how often the cache had what was read.
 */
import { join } from 'node:path';
import { SPENT } from '../src/projections/utxo.ts';
import { deltaColumn } from '../src/state/delta.ts';
import { UnspentError } from '../src/util/errors.ts';
import { type ColumnBytes, GROUP, GrowingStore, MEASURED_BLOCKS, type OutputCost, type Waits } from './growing.ts';
import { type BenchOptions, option, round, say, temporary, textOption } from './support.ts';
import { BITCOIN_FORM, CARDANO_FORM, type ChainForm } from './synthetic.ts';

const FORMS: Readonly<Record<string, { readonly form: ChainForm; readonly keeps: readonly string[] }>> = {
  cardano: { form: CARDANO_FORM, keeps: ['chain', 'transactions', 'utxo', 'index.address', 'index.payment', 'index.stake'] },
  bitcoin: { form: BITCOIN_FORM, keeps: ['chain', 'transactions', 'utxo', 'index.address'] },
};

/** They hold what the last blocks did, and have as many rows in a small set as in a large one. */
const WINDOW: readonly string[] = [SPENT, deltaColumn.name];

interface SizeFigures {
  readonly live: number;
  readonly grouped: OutputCost;
  readonly single: OutputCost;
  readonly growing: OutputCost;
  /** After growing and after the blocks. */
  readonly waits: { readonly growing: Waits; readonly measured: Waits };
  readonly bytesPerLive: number;
  /** Merged, and without the rows of the window. */
  readonly ownBytesPerLive: number;
  readonly columns: readonly ColumnBytes[];
  readonly rssMegabytes: number;
}

export async function run(options: BenchOptions): Promise<void> {
  const named = textOption(options.args, 'family');
  const families = named === undefined ? Object.keys(FORMS) : [named];
  const results: Record<string, unknown> = {};
  for (const family of families) results[family] = await measureFamily(family, options);
  if (options.json) console.log(JSON.stringify(results));
}

async function measureFamily(family: string, options: BenchOptions): Promise<unknown> {
  const known = FORMS[family];
  if (known === undefined) throw new UnspentError('USAGE', `--family is ${Object.keys(FORMS).join(' or ')}, not '${family}'`);
  const sizes = sizesOf(options.args);
  const memtableBytes = option(options.args, 'memtables', 0);
  const memoryBytes = option(options.args, 'memory', 0);
  const folder = temporary('growth');
  const store = new GrowingStore(join(folder.path, 'db'), sizes[sizes.length - 1], {
    ...known,
    memoryBytes,
    ...(memtableBytes === 0 ? {} : { memtableBytes }),
  });
  try {
    await store.open();
    const figures: SizeFigures[] = [];
    for (const size of sizes) {
      figures.push(await measureAt(store, size, option(options.args, 'blocks', MEASURED_BLOCKS)));
      say(options, `${family}, ${text(figures[figures.length - 1])}`);
    }
    const [first, last] = [figures[0], figures[figures.length - 1]];
    const growth = { grouped: growthOf(first.grouped, last.grouped), single: growthOf(first.single, last.single) };
    if (figures.length > 1) say(options, `from ${first.live} to ${last.live}: grouped ${growth.grouped}, one by one ${growth.single}`);
    return { sizes: figures, growth };
  } finally {
    await store.close();
    folder.remove();
  }
}

function growthOf(first: OutputCost, last: OutputCost): string {
  return `x ${round(last.micros / first.micros, 2)} (CPU x ${round(last.cpuMicros / first.cpuMicros, 2)})`;
}

function sizesOf(args: readonly string[]): number[] {
  return (textOption(args, 'sizes') ?? '1,5,20').split(',').map((text) => Math.round(Number(text) * 1e6));
}

function text(f: SizeFigures): string {
  const micros = `grouped ${costText(f.grouped)}, one by one ${costText(f.single)}, growing ${costText(f.growing)} per output`;
  const waits = `  waits: growing ${waitsText(f.waits.growing)}; then ${waitsText(f.waits.measured)}`;
  const bytes = `${f.bytesPerLive} bytes on disk per live output, merged and beside the window ${f.ownBytesPerLive}`;
  const columns = f.columns.map((column) => `  ${columnText(column, f.live)}`);
  return [`${f.live} live: ${micros}; ${bytes}; ${f.rssMegabytes} MB resident`, waits, ...columns].join('\n');
}

function costText({ micros, cpuMicros }: OutputCost): string {
  return `${micros} us (CPU ${cpuMicros})`;
}

function waitsText({ stalledMs, pendingMegabytes, levelZeroTables, tables }: Waits): string {
  const counts = Object.entries(tables).map(([column, count]) => `${column} ${count}`);
  return `${stalledMs} ms stalled, unspent set: ${pendingMegabytes} MB to be merged, ${levelZeroTables} tables in level 0; tables: ${counts.join(', ')}`;
}

function columnText({ column, rows, bytes }: ColumnBytes, live: number): string {
  const perRow = rows === 0 ? '' : `, ${round(bytes / rows, 1)} a row`;
  return `${column}: ${round(bytes / live, 1)} per live output${perRow}${WINDOW.includes(column) ? ' (window)' : ''}`;
}

async function measureAt(store: GrowingStore, size: number, blocks: number): Promise<SizeFigures> {
  const growing = await store.grow(size);
  const grownWaits = store.waits();
  // What growing left to compact is part of growing; a block at this size is measured on a store at rest.
  const bytesPerLive = await store.settle();
  const grouped = await store.measure(GROUP, blocks);
  const single = await store.measure(1, blocks);
  const rssMegabytes = round(process.memoryUsage().rss / 1e6, 0);
  const waits = { growing: grownWaits, measured: store.waits() };
  const columns = await store.compacted();
  const live = store.chain.liveCount;
  const own = columns.filter(({ column }) => !WINDOW.includes(column)).reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    live,
    grouped,
    single,
    growing,
    waits,
    bytesPerLive: round(bytesPerLive, 1),
    ownBytesPerLive: round(own / live, 1),
    columns,
    rssMegabytes,
  };
}
