/**
 * What an output costs as the set grows: to 1, 5 and 20 million unspent outputs
 * (--sizes=1,5,20), then, at each size and at rest, realistic blocks (300 spends, 351
 * creates) in groups and one a commit. Two indexes, pruning on. Reports
 * microseconds per output touched, and bytes on disk per live output.
 */
import { join } from 'node:path';
import { GROUP, GrowingStore } from './growing.ts';
import { type BenchOptions, round, say, temporary } from './support.ts';

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
  const store = new GrowingStore(join(folder.path, 'db'), sizes[sizes.length - 1]);
  try {
    await store.open();
    const figures: SizeFigures[] = [];
    for (const size of sizes) {
      figures.push(await measureAt(store, size));
      if (!options.json) say(options, line(figures[figures.length - 1]));
    }
    const [first, last] = [figures[0], figures[figures.length - 1]];
    const grouped = round(last.groupedMicros / first.groupedMicros, 2);
    const single = round(last.singleMicros / first.singleMicros, 2);
    if (options.json) console.log(JSON.stringify({ sizes: figures, groupedGrowth: grouped, singleGrowth: single }));
    else say(options, `from ${first.live} to ${last.live}: grouped x ${grouped}, one by one x ${single}`);
  } finally {
    await store.close();
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

async function measureAt(store: GrowingStore, size: number): Promise<SizeFigures> {
  const growing = await store.grow(size);
  // What growing left to compact is part of growing; a block at this size is measured on a store at rest.
  const bytesPerLive = await store.settle();
  const grouped = await store.measure(GROUP);
  const single = await store.measure(1);
  return {
    live: store.chain.liveCount,
    groupedMicros: round(grouped, 2),
    singleMicros: round(single, 2),
    growMicros: round(growing, 2),
    bytesPerLive: round(bytesPerLive, 1),
    rssMegabytes: round(process.memoryUsage().rss / 1e6, 0),
  };
}
