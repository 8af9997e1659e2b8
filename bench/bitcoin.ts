/**
 * How fast the Bitcoin family's block path is, in one run on one generated
 * chain of 240,000 transactions that a real node has accepted:
 *
 *   decode  the blocks decoded, nothing else
 *   floor   the same final keys and values written to a bare engine in large
 *           batches, in the order the chain brings them
 *   sync    the whole path from the node's block files: checks, decode, fold,
 *           index by script, all that is kept by default
 *   node    the node's own -reindex-chainstate of the same files, its start-up
 *           (measured with nothing to do) taken off
 *   query   the unspent outputs of a script over HTTP: 10, 1,000, 100,000 rows
 *
 * Options: --rounds=5 --blocks=60 (of 4,000 transactions), --sync-only. Needs
 * Debian's litecoind.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../src/config/load.ts';
import type { Config } from '../src/config/schema.ts';
import { openNetwork } from '../src/families/networks.ts';
import { genesisBlock } from '../src/ledgers/bitcoin/index.ts';
import { bitcoinNetwork } from '../src/ledgers/bitcoin/networks.ts';
import { type OpenStore, openStore } from '../src/store/store.ts';
import { UnspentError } from '../src/util/errors.ts';
import { type CoreNode, startNode } from '../test/support/core-node.ts';
import { nodeMissing } from '../test/support/node-kinds.ts';
import { feed, OpTrueChain } from '../test/support/op-true-chain.ts';
import { Crowds, type QueryFigures, queries } from './bitcoin-query.ts';
import { type FinalRows, finalRows, floor } from './floor.ts';
import { type BenchOptions, best, option, round, say, temporary, timed } from './support.ts';

const NETWORK = 'litecoin-regtest';
const TXS_A_BLOCK = 4000;
/** Empty blocks before them, so that there is something to spend. */
const RIPE = 120;
/** No blocks are looked at again when it starts: that would be taken off what a reindex takes, and is no part of it. */
const QUICK = ['-checkblocks=1', '-checklevel=0'];
const POLL_MS = 5;

interface Chain {
  readonly height: number;
  readonly transactions: number;
  readonly blocks: readonly Uint8Array[];
  readonly url: string;
  readonly crowds: Crowds;
}

interface Figures {
  readonly transactions: number;
  readonly blocks: number;
  readonly megabytes: number;
  readonly decode: { readonly seconds: number; readonly megabytesPerSecond: number };
  readonly floor: { readonly seconds: number; readonly keys: number; readonly megabytes: number };
  readonly sync: { readonly seconds: number; readonly txsPerSecond: number; readonly toFloor: number; readonly toDecodeAndFloor: number };
  readonly node: { readonly seconds: number; readonly startSeconds: number; readonly txsPerSecond: number };
  /** Our transactions a second to the node's. */
  readonly ratio: number;
}

export async function run(options: BenchOptions): Promise<void> {
  const missing = nodeMissing();
  if (missing) throw new UnspentError('SOURCE_UNREACHABLE', missing);
  const rounds = option(options.args, 'rounds', 5);
  const work = temporary('bitcoin');
  const node = await startNode({ dir: work.path, args: QUICK });
  try {
    const chain = await generate(node, option(options.args, 'blocks', 60));
    await node.end();
    const figures = await measure(node, chain, rounds);
    if (!options.json) print(figures, options);
    const query = options.args.includes('--sync-only') ? [] : await query100k(chain);
    if (options.json) console.log(JSON.stringify({ ...figures, query, rounds }));
    else for (const each of query) printQuery(each, options);
  } finally {
    await node.end();
    work.remove();
  }
}

/** The chain, made and handed to the node, which then has it in its files. */
async function generate(node: CoreNode, blocks: number): Promise<Chain> {
  const crowds = new Crowds();
  const chain = new OpTrueChain({ kept: (n) => crowds.scriptOf(n) });
  const raws: Uint8Array[] = [genesisBlock(bitcoinNetwork(NETWORK))];
  const keep = (raw: Uint8Array): number => raws.push(raw);
  await feed(node, chain, RIPE, 0, keep);
  await feed(node, chain, blocks, TXS_A_BLOCK, keep);
  return { height: chain.height, transactions: chain.transactions, blocks: raws, url: `blk:${node.blocksDir}`, crowds };
}

async function measure(node: CoreNode, chain: Chain, rounds: number): Promise<Figures> {
  const rows = await rowsOf(chain);
  const times: Record<'decode' | 'floor' | 'sync' | 'start' | 'reindex', number[]> = {
    decode: [],
    floor: [],
    sync: [],
    start: [],
    reindex: [],
  };
  for (let i = 0; i < rounds; i++) {
    times.decode.push((await timed(() => decodeAll(chain))).seconds);
    times.floor.push(await floor(rows, settings(1).engine));
    times.sync.push(await sync(chain));
    times.start.push(await startUp(node, chain.height, []));
    times.reindex.push(await startUp(node, chain.height, ['-reindex-chainstate']));
  }
  return summarise(chain, rows, times);
}

function summarise(
  { blocks, transactions }: Chain,
  rows: FinalRows,
  times: Readonly<Record<'decode' | 'floor' | 'sync' | 'start' | 'reindex', readonly number[]>>,
): Figures {
  const [decode, bare, ours, start, reindex] = [times.decode, times.floor, times.sync, times.start, times.reindex].map(best);
  const megabytes = blocks.reduce((sum, block) => sum + block.length, 0) / 1e6;
  const node = reindex - start;
  return {
    transactions,
    blocks: blocks.length,
    megabytes: round(megabytes, 1),
    decode: { seconds: round(decode), megabytesPerSecond: round(megabytes / decode, 0) },
    floor: { seconds: round(bare), keys: rows.count, megabytes: round(rows.bytes / 1e6, 1) },
    sync: {
      seconds: round(ours),
      txsPerSecond: round(transactions / ours, 0),
      toFloor: round(ours / bare, 2),
      toDecodeAndFloor: round(ours / (decode + bare), 2),
    },
    node: { seconds: round(node), startSeconds: round(start), txsPerSecond: round(transactions / node, 0) },
    ratio: round(node / ours, 2),
  };
}

function print(f: Figures, options: BenchOptions): void {
  say(options, `\n${f.transactions} transactions in ${f.blocks} blocks, ${f.megabytes} MB`);
  say(options, `  decode      ${f.decode.seconds} s   ${f.decode.megabytesPerSecond} MB/s`);
  say(options, `  floor       ${f.floor.seconds} s   ${f.floor.keys} keys, ${f.floor.megabytes} MB, in chain order`);
  say(options, `  sync        ${f.sync.seconds} s   ${f.sync.txsPerSecond} transactions/s`);
  say(options, `  to floor    ${f.sync.toFloor}   sync / floor; ${f.sync.toDecodeAndFloor} of decode + floor`);
  say(options, `  node        ${f.node.seconds} s   ${f.node.txsPerSecond} transactions/s, ${f.node.startSeconds} s of start-up taken off`);
  say(options, `  to node     ${f.ratio}   our transactions/s to the node's`);
}

function printQuery({ rows, p50, p99, rowsPerSecond, requests }: QueryFigures, options: BenchOptions): void {
  say(options, `  query ${rows} rows   p50 ${p50} ms, p99 ${p99} ms, ${rowsPerSecond} rows/s over ${requests} requests`);
}

function decodeAll({ blocks }: Chain): number {
  const { ledger } = openNetwork(NETWORK, null);
  let outputs = 0;
  for (let height = 0; height < blocks.length; height++)
    for (const tx of ledger.decode(blocks[height], height).txs) outputs += tx.creates.length;
  return outputs;
}

function settings(groupBlocks: number): Config {
  return loadConfig({ flags: { set: [`sync.groupBlocks=${groupBlocks}`] }, env: {} }).config;
}

/** A fresh store, synced; whatever is done with it then is not measured. */
async function sync(chain: Chain, then?: (store: OpenStore) => Promise<void>): Promise<number> {
  const folder = temporary('store');
  try {
    const store = await openStore({ network: NETWORK, data: join(folder.path, 'data'), config: settings(1000) });
    const { seconds } = await timed(() => store.follow(chain.url));
    if (store.fold.head?.height !== chain.height) throw new Error(`the sync stopped at ${store.fold.head?.height}, not ${chain.height}`);
    await then?.(store);
    await store.close();
    return seconds;
  } finally {
    folder.remove();
  }
}

async function rowsOf(chain: Chain): Promise<FinalRows> {
  const folder = temporary('record');
  try {
    const store = await openStore({ network: NETWORK, data: join(folder.path, 'data'), config: settings(1) });
    const rows = await finalRows(store.engine, () => store.follow(chain.url));
    await store.close();
    return rows;
  } finally {
    folder.remove();
  }
}

/** Seconds from its start until the node has all blocks in its set. */
async function startUp(node: CoreNode, height: number, args: readonly string[]): Promise<number> {
  const { seconds } = await timed(async () => {
    await node.start(args);
    while ((await node.rpc('getblockcount')) !== height) await sleep(POLL_MS);
  });
  await node.end();
  return seconds;
}

async function query100k(chain: Chain): Promise<QueryFigures[]> {
  let figures: QueryFigures[] = [];
  await sync(chain, async (store) => {
    figures = await queries(store, chain.crowds);
  });
  return figures;
}
