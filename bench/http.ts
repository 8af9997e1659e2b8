/**
 * What reading costs, in one run, with the client in a process beside it:
 *
 *   point     reads of one output, each of another one, requests a second, to a
 *             bare fastify route that returns the same bytes; rounds alternate.
 *             And of a thousand outputs over and over, while no block comes.
 *             With each, microseconds of processor time a request
 *   pages     page 1,000 of a large address against the first ones
 *   syncing   a fixed rate of mixed requests while the preview chain is synced at
 *             full speed: p99, and the speed the sync keeps of its own
 *   streams   eight clients at once read an answer of 176,000 rows: errors, rows a
 *             second, and how much memory grew
 *
 * Options: --rounds=5 --seconds=4, --at-rest for all but the third, --points for the first only
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { LiveDevnet } from '../src/chains/cardano/devnet/live.ts';
import { serve } from '../src/server/serve.ts';
import { type OpenStore, openStore } from '../src/store/store.ts';
import { toHex } from '../src/util/bytes.ts';
import { load, startLoad } from './http-client.ts';
import type { Load, LoadResult, Order } from './http-load.ts';
import { type BenchOptions, option, ownProcessorSeconds, round, samples, say, temporary, timed, unpackChunks } from './support.ts';
import { OUTPUTS_PER_TX, SyntheticChain } from './synthetic.ts';

const STREAM_ROWS = 176_000;
const STREAM_CLIENTS = 8;
/** One output in three goes to the one large address. */
const HOT = 3;
const BLOCK = { txs: 400, spends: 0 };
const POINT_READS = 300_000;
const LEAD_MS = 1500;

export async function run(options: BenchOptions): Promise<void> {
  const rounds = option(options.args, 'rounds', 5);
  const seconds = option(options.args, 'seconds', 4);
  const large = await atRest(options, rounds, seconds);
  if (options.args.includes('--at-rest') || options.args.includes('--points')) {
    if (options.json) console.log(JSON.stringify({ ...large, rounds }));
    return;
  }
  const syncing = [];
  for (const perSecond of [1000, 2000]) {
    syncing.push(await whileSyncing(perSecond, rounds));
    const { p99, keeps, errors, requests } = syncing[syncing.length - 1];
    if (!options.json) say(options, `syncing    ${perSecond}/s: p99 ${p99} ms over ${requests} (${errors} errors), sync keeps ${keeps}`);
  }
  if (options.json) console.log(JSON.stringify({ ...large, syncing, rounds }));
}

async function atRest(options: BenchOptions, rounds: number, seconds: number): Promise<object> {
  const folder = temporary('http');
  const devnet = new LiveDevnet({ seed: 1 });
  const store = await openStore({ network: 'devnet', genesis: devnet.genesis, data: join(folder.path, 'data') });
  const { address, outpoints } = grow(store);
  const served = await serve(store, { port: 0 });
  try {
    const port = Number(new URL(served.url).port);
    const point = await pointReads(port, outpoints, rounds, seconds);
    if (!options.json)
      say(
        options,
        `point      ${point.perSecond}/s, asked again ${point.repeated.perSecond}/s, bare ${point.bare}/s: ${point.ratio}, ${point.repeated.ratio}` +
          `; CPU ${point.cpuUs}, ${point.repeated.cpuUs}, ${point.bareCpuUs} us`,
      );
    if (options.args.includes('--points')) return { point };
    const pages = await paging(port, `/api/v1/addresses/${address}/utxos`);
    if (!options.json) say(options, `pages      51 to 100 ${pages.firstMs} ms each, 951 to 1,000 ${pages.lateMs} ms: ${pages.ratio}`);
    const streams = await streaming(port, `/api/v1/addresses/${address}/utxos?limit=all`);
    if (!options.json)
      say(options, `streams    ${streams.rowsPerSecond} rows/s, ${streams.errors} errors, memory + ${streams.grownMegabytes} MB`);
    return { point, pages, streams };
  } finally {
    await served.close();
    await store.close();
    await devnet.close();
    folder.remove();
  }
}

/** A set in which one address has the rows to stream. */
function grow(store: OpenStore): { address: string; outpoints: string[] } {
  const outputs = STREAM_ROWS * HOT;
  const chain = new SyntheticChain(2 * outputs, HOT);
  const outpoints: string[] = [];
  for (let made = 0; made < outputs; made += BLOCK.txs * OUTPUTS_PER_TX) {
    const block = chain.block(BLOCK.txs, BLOCK.spends);
    store.fold.apply([block]);
    for (const tx of block.txs) for (const index of [1, 2]) outpoints.push(`/api/v1/utxos/${toHex(tx.id)}/${index}`);
  }
  return { address: toHex(chain.hotAddress()), outpoints: outpoints.slice(0, POINT_READS) };
}

async function pointReads(port: number, paths: readonly string[], rounds: number, seconds: number) {
  const answer = await fetch(`http://127.0.0.1:${port}${paths[0]}`);
  const bare = new Worker(new URL('./http-bare.ts', import.meta.url), { workerData: { body: await answer.text() } });
  const [barePort] = (await once(bare, 'message')) as [number];
  const speeds: Record<'bare' | 'ours', Measured[]> = { bare: [], ours: [] };
  const share = Math.floor(paths.length / rounds);
  const again: Order = { kind: 'closed', connections: 16, seconds };
  for (let i = 0; i < rounds; i++) {
    speeds.bare.push(await measured({ port: barePort, paths: paths.slice(0, 1000), order: again }));
    // It ends when all were asked, so that no read is answered from what was answered before.
    speeds.ours.push(await measured({ port, paths: paths.slice(i * share, (i + 1) * share), order: { ...again, once: true } }));
  }
  const repeated = await measured({ port, paths: paths.slice(0, 1000), order: again });
  await bare.terminate();
  const [floor, ours] = [fastest(speeds.bare), fastest(speeds.ours)];
  return {
    perSecond: Math.round(ours.perSecond),
    cpuUs: ours.cpuUs,
    bare: Math.round(floor.perSecond),
    bareCpuUs: floor.cpuUs,
    ratio: round(ours.perSecond / floor.perSecond, 2),
    p99: ours.p99,
    repeated: {
      perSecond: Math.round(repeated.perSecond),
      cpuUs: repeated.cpuUs,
      ratio: round(repeated.perSecond / floor.perSecond, 2),
    },
  };
}

interface Measured {
  readonly perSecond: number;
  /** Microseconds of processor time of this process, where the server is, for a request. */
  readonly cpuUs: number;
  readonly p99: number;
}

async function measured(what: Load): Promise<Measured> {
  const before = ownProcessorSeconds();
  const { requests, seconds, p99 } = await load(what);
  return { perSecond: requests / seconds, cpuUs: round((1e6 * (ownProcessorSeconds() - before)) / requests, 1), p99 };
}

function fastest(rounds: readonly Measured[]): Measured {
  return rounds.reduce((best, each) => (each.perSecond > best.perSecond ? each : best));
}

/** A thousand pages by their cursors; the medians of an early and of the last fifty. */
async function paging(port: number, path: string) {
  const times: number[] = [];
  let after: string | null = '';
  for (let page = 1; page <= 1000 && after !== null; page++) {
    const started = performance.now();
    const answer: Response = await fetch(`http://127.0.0.1:${port}${path}?limit=100${after === '' ? '' : `&after=${after}`}`);
    await answer.arrayBuffer();
    times.push(performance.now() - started);
    after = answer.headers.get('x-next-after');
  }
  const middle = (part: readonly number[]): number => part.toSorted((a, b) => a - b)[Math.floor(part.length / 2)];
  // The very first ones pay for the warming up.
  const [first, late] = [middle(times.slice(0, 100).slice(-50)), middle(times.slice(-50))];
  return { pages: times.length, firstMs: round(first, 2), lateMs: round(late, 2), ratio: round(late / first, 2) };
}

async function streaming(port: number, path: string) {
  // Once to warm up: what counts is whether the second time needs more than the first.
  await load({ port, paths: [path], order: { kind: 'stream', clients: STREAM_CLIENTS } });
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const { errors, seconds, bytes } = await load({ port, paths: [path], order: { kind: 'stream', clients: STREAM_CLIENTS } });
  clearInterval(watch);
  const megabytes = bytes / 1e6;
  return {
    rowsPerSecond: Math.round((STREAM_ROWS * STREAM_CLIENTS) / seconds),
    megabytes: Math.round(megabytes),
    errors,
    grownMegabytes: Math.round((peak - before) / 1e6),
  };
}

async function whileSyncing(perSecond: number, rounds: number) {
  const work = temporary('syncing');
  const chunks = join(work.path, 'chunks');
  unpackChunks(samples('cardano', 'immutable', 'preview-from-genesis'), /\.(chunk|secondary)\.gz$/, chunks);
  const [alone, loaded]: [number[], number[]] = [[], []];
  const results: LoadResult[] = [];
  try {
    for (let i = 0; i < rounds; i++) {
      alone.push((await syncOnce(chunks, 0)).seconds);
      const { seconds, result } = await syncOnce(chunks, perSecond);
      loaded.push(seconds);
      if (result !== null) results.push(result);
    }
  } finally {
    work.remove();
  }
  const keeps = round(Math.min(...alone) / Math.min(...loaded), 2);
  const requests = results.reduce((sum, each) => sum + each.requests, 0);
  const errors = results.reduce((sum, each) => sum + each.errors, 0);
  return { perSecond, requests, errors, p50: median(results, 'p50'), p99: median(results, 'p99'), keeps };
}

function median(results: readonly LoadResult[], what: 'p50' | 'p99'): number {
  const sorted = results.map((each) => each[what]).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** Reads that make sense at any point of the chain. */
const MIXED = [
  '/api/v1/blocks/latest',
  '/api/v1/status',
  '/api/v1/blocks/0',
  '/api/v1/addresses/addr_test1qz09v9yfxguvlp0zsnrpa3tdtm7el8xufp3m5lsm7qxzclgmzkket/utxos',
];

async function syncOnce(chunks: string, perSecond: number): Promise<{ seconds: number; result: LoadResult | null }> {
  const folder = temporary('store');
  const store = await openStore({ network: 'preview', data: join(folder.path, 'data') });
  const served = await serve(store, { port: 0 });
  try {
    const port = Number(new URL(served.url).port);
    await store.follow(`immutable:${chunks}`, { until: { kind: 'height', height: 2000 } });
    const client = perSecond === 0 ? null : startLoad({ port, paths: MIXED, order: { kind: 'rate', connections: 32, perSecond } });
    // A lead, so that neither side is measured while it warms up.
    await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
    client?.count();
    const { seconds } = await timed(() => store.follow(`immutable:${chunks}`));
    return { seconds, result: client === null ? null : await client.end() };
  } finally {
    await served.close();
    await store.close();
    folder.remove();
  }
}
