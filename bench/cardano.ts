/**
 * How far the block path is from its floor, in one run on the sample chains:
 *
 *   decode  the blocks decoded, nothing else
 *   floor   the same final keys and values written to a bare engine in large
 *           batches, in the order the chain brings them
 *   sync    the whole path: files, checksums, decode, fold, all default indexes
 *   ratio   sync / (decode + floor)
 *
 * Also one block a commit against groups, and undoing blocks against applying them.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import type { Config } from '../src/config/schema.ts';
import { decodeBlock } from '../src/ledgers/cardano/index.ts';
import { type OpenOptions, type OpenStore, openStore } from '../src/store/store.ts';
import { UnspentError } from '../src/util/errors.ts';
import { type FinalRows, finalRows, floor } from './floor.ts';
import { type BenchOptions, best, option, rawBlocks, round, samples, say, temporary, timed, unpackChunks } from './support.ts';

const ROLLBACK_BLOCKS = 2000;

interface Chain {
  readonly name: string;
  readonly chunks: string;
  readonly byronEpochSlots: number;
  readonly open: OpenOptions;
}

interface Figures {
  readonly blocks: number;
  readonly megabytes: number;
  readonly decode: { readonly seconds: number; readonly megabytesPerSecond: number };
  readonly floor: { readonly seconds: number; readonly keys: number; readonly megabytes: number };
  readonly sync: { readonly seconds: number; readonly blocksPerSecond: number; readonly megabytesPerSecond: number };
  readonly ratio: number;
  readonly oneByOne: { readonly seconds: number; readonly blocksPerSecond: number; readonly toGrouped: number };
  readonly rollback: { readonly blocks: number; readonly seconds: number; readonly applySeconds: number; readonly toApply: number };
}

export async function run(options: BenchOptions): Promise<void> {
  const rounds = option(options.args, 'rounds', 5);
  const work = temporary('cardano');
  try {
    const preview = join(work.path, 'preview');
    const conway = join(work.path, 'conway');
    unpackChunks(samples('cardano', 'immutable', 'preview-from-genesis'), /\.(chunk|secondary)\.gz$/, preview);
    unpackChunks(samples('cardano', 'immutable', 'mainnet'), /^06189\.(chunk|secondary)\.gz$/, conway);
    const chains: Chain[] = [
      { name: 'preview, 280 chunks from genesis', chunks: preview, byronEpochSlots: 4320, open: { network: 'preview' } },
      { name: 'mainnet, one Conway chunk', chunks: conway, byronEpochSlots: 21600, open: { network: 'mainnet', partial: true } },
    ];
    const figures: Figures[] = [];
    for (const chain of chains) figures.push(await measure(chain, rounds, options));
    const memory = { peakMegabytes: Math.max(...chains.map(peakOfOwnProcess)) };
    if (options.json) console.log(JSON.stringify({ ...figures[0], mainnet: figures[1], memory, rounds }));
    else say(options, `\npeak memory of a sync in a process of its own: ${memory.peakMegabytes} MB`);
  } finally {
    work.remove();
  }
}

async function measure(chain: Chain, rounds: number, options: BenchOptions): Promise<Figures> {
  const blocks = rawBlocks(chain.chunks);
  const megabytes = blocks.reduce((sum, block) => sum + block.length, 0) / 1e6;
  const rows = await rowsOf(chain);
  const times = {
    decode: [] as number[],
    floor: [] as number[],
    sync: [] as number[],
    single: [] as number[],
    back: [] as number[],
    again: [] as number[],
  };
  for (let i = 0; i < rounds; i++) {
    times.decode.push((await timed(() => decodeAll(blocks, chain.byronEpochSlots))).seconds);
    times.floor.push(await floor(rows, settings(1).engine));
    times.sync.push(await sync(chain, 1000));
    times.single.push(
      await sync(chain, 1, async (store) => {
        const { back, again } = await backAndForth(store, chain);
        times.back.push(back);
        times.again.push(again);
      }),
    );
  }
  const figures = summarise(blocks.length, megabytes, rows, times);
  print(chain, figures, options);
  return figures;
}

function summarise(
  blocks: number,
  megabytes: number,
  rows: FinalRows,
  times: Readonly<Record<'decode' | 'floor' | 'sync' | 'single' | 'back' | 'again', readonly number[]>>,
): Figures {
  const [decode, floorSeconds, grouped, single, back, again] = [
    times.decode,
    times.floor,
    times.sync,
    times.single,
    times.back,
    times.again,
  ].map(best);
  return {
    blocks,
    megabytes: round(megabytes, 1),
    decode: { seconds: round(decode), megabytesPerSecond: round(megabytes / decode, 0) },
    floor: { seconds: round(floorSeconds), keys: rows.count, megabytes: round(rows.bytes / 1e6, 1) },
    sync: { seconds: round(grouped), blocksPerSecond: round(blocks / grouped, 0), megabytesPerSecond: round(megabytes / grouped, 0) },
    ratio: round(grouped / (decode + floorSeconds), 2),
    oneByOne: { seconds: round(single), blocksPerSecond: round(blocks / single, 0), toGrouped: round(single / grouped, 2) },
    rollback: {
      blocks: Math.min(ROLLBACK_BLOCKS, blocks - 1),
      seconds: round(back),
      applySeconds: round(again),
      toApply: round(back / again, 2),
    },
  };
}

function print(chain: Chain, f: Figures, options: BenchOptions): void {
  if (options.json) return;
  say(options, `\n${chain.name}: ${f.blocks} blocks, ${f.megabytes} MB`);
  say(options, `  decode      ${f.decode.seconds} s   ${f.decode.megabytesPerSecond} MB/s`);
  say(options, `  floor       ${f.floor.seconds} s   ${f.floor.keys} keys, ${f.floor.megabytes} MB, in chain order`);
  say(options, `  sync        ${f.sync.seconds} s   ${f.sync.blocksPerSecond} blocks/s, ${f.sync.megabytesPerSecond} MB/s`);
  say(options, `  ratio       ${f.ratio}   sync / (decode + floor)`);
  say(
    options,
    `  one by one  ${f.oneByOne.seconds} s   ${f.oneByOne.blocksPerSecond} blocks/s, ${f.oneByOne.toGrouped} x the grouped sync`,
  );
  say(options, `  undo ${f.rollback.blocks}   ${f.rollback.seconds} s   ${f.rollback.toApply} x applying them one by one`);
}

function decodeAll(blocks: readonly Uint8Array[], byronEpochSlots: number): number {
  let outputs = 0;
  for (const raw of blocks) for (const tx of decodeBlock(raw, byronEpochSlots).txs) outputs += tx.creates.length;
  return outputs;
}

/** A window that holds what is undone, on every network. */
function settings(groupBlocks: number): Config {
  const set = [`sync.groupBlocks=${groupBlocks}`, 'utxo.pruneDepth=2160', `utxo.rollbackWindow=${2 * 2160}`];
  return loadConfig({ flags: { set }, env: {} }).config;
}

async function sync(chain: Chain, groupBlocks: number, then?: (store: OpenStore) => Promise<void>): Promise<number> {
  const folder = temporary('store');
  try {
    const store = await openStore({ ...chain.open, data: join(folder.path, 'data'), config: settings(groupBlocks) });
    const { seconds } = await timed(() => store.follow(`immutable:${chain.chunks}`));
    await then?.(store);
    await store.close();
    return seconds;
  } finally {
    folder.remove();
  }
}

/** Megabytes. This process holds the blocks and rows it compares with, so the sync is run once more in another. */
function peakOfOwnProcess(chain: Chain): number {
  const folder = temporary('memory');
  try {
    const { network, partial } = chain.open;
    const args = [
      'sync',
      '--network',
      `${network}`,
      '--data',
      join(folder.path, 'data'),
      '--source',
      `immutable:${chain.chunks}`,
      '--json',
    ];
    const launcher = join(import.meta.dirname, '..', 'bin', 'unspent');
    const { status, stdout, stderr } = spawnSync(launcher, [...args, ...(partial === true ? ['--partial'] : [])], { encoding: 'utf8' });
    if (status !== 0) throw new UnspentError('IO', `the sync in its own process failed: ${stderr}`);
    return JSON.parse(stdout).peakMegabytes;
  } finally {
    folder.remove();
  }
}

async function backAndForth(store: OpenStore, chain: Chain): Promise<{ back: number; again: number }> {
  const tip = store.fold.head;
  if (tip === null) return { back: 0, again: 0 };
  const blocks = Math.min(ROLLBACK_BLOCKS, tip.height, store.status().head === null ? 0 : blocksOf(chain) - 1);
  const to = store.locate(`height:${tip.height - blocks}`);
  const { seconds: back } = await timed(() => store.rollback(to));
  // The blocks are decoded before the clock starts: undoing does not decode either.
  const again = rawBlocks(chain.chunks)
    .slice(-blocks)
    .map((raw) => store.network.ledger.decode(raw));
  const { seconds } = await timed(() => {
    for (const block of again) store.fold.apply([block]);
  });
  return { back, again: seconds };
}

function blocksOf(chain: Chain): number {
  return rawBlocks(chain.chunks).length;
}

async function rowsOf(chain: Chain): Promise<FinalRows> {
  const folder = temporary('record');
  try {
    const store = await openStore({ ...chain.open, data: join(folder.path, 'data'), config: settings(1) });
    const rows = await finalRows(store.engine, () => store.follow(`immutable:${chain.chunks}`));
    await store.close();
    return rows;
  } finally {
    folder.remove();
  }
}
