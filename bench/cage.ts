/**
 * What cages cost.
 *
 *   idle   the preview sample from genesis, where nobody uses a cage, without
 *          cages and with them, in turns (--rounds=9): processor time of the
 *          whole process, the best of each and their ratio, and the median of the
 *          ratios of single rounds: where the two differ much, the machine was busy
 *   trie   a trie of 10,000 facts and one of --facts=1000000: an insertion in a
 *          commit of its own, in turns, and a proof, both p50 and p99, and what
 *          listing all facts does to memory
 *   block  500 requests of one token, applied by 50 transactions of one block
 *          (--blocks=5, each of another token), the whole fold of it
 *
 * --part=idle, --part=trie or --part=block runs one of them.
 * Limits: idle 1.03; an insertion and a proof 1 ms at p99; an insertion into the
 * large trie 1.6 x one into the small; a block 60 ms.
 */
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import { openStore } from '../src/store/store.ts';
import { type BlockFigures, measureBlocks } from './cage-block.ts';
import { measureTrie, type Spread, type TrieFigures } from './cage-trie.ts';
import { type BenchOptions, best, option, round, samples, say, temporary, unpackChunks } from './support.ts';

interface IdleFigures {
  /** Seconds of processor time. */
  readonly without: number;
  readonly with: number;
  readonly ratio: number;
  /** Of the ratios of single rounds. */
  readonly medianRatio: number;
}

export async function run(options: BenchOptions): Promise<void> {
  const { args } = options;
  const part = args.find((arg) => arg.startsWith('--part='))?.slice('--part='.length);
  const isWanted = (name: string): boolean => part === undefined || part === name;
  const idle = isWanted('idle') ? await measureIdle(option(args, 'rounds', 9)) : null;
  if (idle !== null) sayIdle(idle, options);
  const trie = isWanted('trie') ? await measureTrie(option(args, 'facts', 1_000_000)) : null;
  if (trie !== null) sayTrie(trie, options);
  const block = isWanted('block') ? await measureBlocks(option(args, 'blocks', 5)) : null;
  if (block !== null) sayBlock(block, options);
  if (options.json) console.log(JSON.stringify({ idle, trie, block }));
}

async function measureIdle(rounds: number): Promise<IdleFigures> {
  const work = temporary('cage');
  try {
    const chunks = join(work.path, 'preview');
    unpackChunks(samples('cardano', 'immutable', 'preview-from-genesis'), /\.(chunk|secondary)\.gz$/, chunks);
    const times = { without: [] as number[], with: [] as number[] };
    for (let i = 0; i < rounds; i++) {
      // Whoever comes second finds warm caches: they take turns at that, too.
      for (const kind of i % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
        times[kind].push(await syncCpuSeconds(chunks, kind === 'with'));
      }
    }
    const [without, withCages] = [best(times.without), best(times.with)];
    const ratios = times.with.map((seconds, i) => seconds / times.without[i]).sort((a, b) => a - b);
    const medianRatio = round(ratios[ratios.length >> 1]);
    return { without: round(without), with: round(withCages), ratio: round(withCages / without), medianRatio };
  } finally {
    work.remove();
  }
}

/** Of all threads: the engine has some of its own. */
async function syncCpuSeconds(chunks: string, cages: boolean): Promise<number> {
  const folder = temporary('store');
  try {
    const { config } = loadConfig({ flags: { set: [`cage.enabled=${cages}`] }, env: {} });
    const store = await openStore({ network: 'preview', data: join(folder.path, 'data'), config });
    const before = process.cpuUsage();
    await store.follow(`immutable:${chunks}`);
    const { user, system } = process.cpuUsage(before);
    await store.close();
    return (user + system) / 1e6;
  } finally {
    folder.remove();
  }
}

function sayIdle(figures: IdleFigures, options: BenchOptions): void {
  say(options, `a chain without cages: ${figures.without} s of processor time, with cages on ${figures.with} s`);
  say(options, `  ${figures.ratio} x (limit 1.03), median of the rounds ${figures.medianRatio} x`);
}

function sayTrie({ sizes, insertGrowth, insertCpuGrowth, cacheMb, listing }: TrieFigures, options: BenchOptions): void {
  const text = ({ p50, p99, interrupted }: Spread): string => `${p50} / ${p99} (${interrupted} interrupted)`;
  say(options, '\ntwo tries, microseconds at p50 / p99 (limit 1000 at p99), without those in which others had the processor');
  for (const { facts, insert, insertCpu, insertReads, proof } of sizes) {
    say(options, `  ${facts} facts: insert ${text(insert)}, proof ${text(proof)}`);
    say(options, `    an insertion takes ${insertCpu} us of processor time on average and reads ${insertReads} nodes from the engine`);
  }
  say(
    options,
    `  an insertion into the large one is ${insertGrowth} x one into the small (limit 1.6), by processor time ${insertCpuGrowth} x`,
  );
  say(options, `  ${cacheMb} MB of nodes of the large one are in memory`);
  say(options, `  ${listing.facts} facts listed, ${listing.perSecond} a second; resident memory grew by ${listing.grownMb} MB meanwhile`);
}

function sayBlock({ requests, transactions, bestMs, medianMs }: BlockFigures, options: BenchOptions): void {
  say(options, `\na block with ${requests} applied requests in ${transactions} transactions: ${medianMs} ms, at best ${bestMs} (limit 60)`);
}
