/**
 * The measure that Kupo publishes of itself, on its API as we serve it: 30
 * requests by 8 clients at a time for the unspent outputs of an address, of
 * which there are 25, 12,500, 49,000 and 176,000. For each: the mean time of a
 * request, rows a second over all clients, what a row took of a processor (which
 * does not depend on what else the machine does), errors, and how much memory
 * grew against that after a first round. And the cost of a row to that through
 * our own API, for the longest list.
 *
 * Options: --requests=30 --clients=8
 */
import { join } from 'node:path';
import { LiveDevnet } from '../src/chains/cardano/devnet/live.ts';
import { serve } from '../src/server/serve.ts';
import { type OpenStore, openStore } from '../src/store/store.ts';
import { toHex } from '../src/util/bytes.ts';
import { load } from './http-client.ts';
import { type BenchOptions, option, round, say, temporary } from './support.ts';
import { OUTPUTS_PER_TX, SyntheticChain } from './synthetic.ts';

const SIZES = [25, 12_500, 49_000, 176_000] as const;
const BLOCK_TXS = 400;

interface ListCost {
  readonly rows: number;
  readonly meanMs: number;
  readonly p99Ms: number;
  readonly rowsPerSecond: number;
  readonly cpuMicrosPerRow: number;
  readonly megabytes: number;
  readonly errors: number;
  readonly grownMegabytes: number;
}

export async function run(options: BenchOptions): Promise<void> {
  const requests = option(options.args, 'requests', 30);
  const clients = option(options.args, 'clients', 8);
  const folder = temporary('kupo');
  const devnet = new LiveDevnet({ seed: 1 });
  const store = await openStore({ network: 'devnet', genesis: devnet.genesis, data: join(folder.path, 'data') });
  const paths = grow(store);
  const served = await serve(store, { port: 0 });
  const costs: ListCost[] = [];
  let ratio = 0;
  try {
    const port = Number(new URL(served.url).port);
    for (const [i, path] of paths.lists.entries()) {
      const cost = await measure(port, path, SIZES[i], clients, requests);
      costs.push(cost);
      const { rows, meanMs, rowsPerSecond, cpuMicrosPerRow, errors, grownMegabytes } = cost;
      say(
        options,
        `${rows} rows   ${meanMs} ms each, ${rowsPerSecond} rows/s, ${cpuMicrosPerRow} us of CPU a row, ${errors} errors, memory + ${grownMegabytes} MB`,
      );
    }
    const own = await measure(port, paths.own, SIZES[SIZES.length - 1], clients, clients);
    ratio = round(costs[costs.length - 1].cpuMicrosPerRow / own.cpuMicrosPerRow, 2);
    say(options, `our own API   ${own.rowsPerSecond} rows/s, ${own.cpuMicrosPerRow} us of CPU a row: ${ratio}`);
  } finally {
    await served.close();
    await store.close();
    await devnet.close();
    folder.remove();
  }
  if (options.json) console.log(JSON.stringify({ clients, requests, costs, ratio }));
}

/** One address gets one output of each transaction; its first so many are those up to a slot. */
function grow({ fold }: OpenStore): { readonly lists: readonly string[]; readonly own: string } {
  const chain = new SyntheticChain(2 * OUTPUTS_PER_TX * SIZES[SIZES.length - 1], OUTPUTS_PER_TX);
  const address = toHex(chain.hotAddress());
  let made = 0;
  const lists = SIZES.map((size) => {
    let slot = 0;
    while (made < size) {
      const txs = Math.min(BLOCK_TXS, size - made);
      const block = chain.block(txs, 0);
      fold.apply([block]);
      ({ slot } = block);
      made += txs;
    }
    return `/kupo/matches/${address}?unspent&created_before=${slot}`;
  });
  return { lists, own: `/api/v1/addresses/${address}/utxos?limit=all&order=desc` };
}

async function measure(port: number, path: string, rows: number, clients: number, requests: number): Promise<ListCost> {
  const answer = (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as readonly unknown[];
  if (answer.length !== rows) throw new Error(`${path} has ${answer.length} rows, not ${rows}`);
  const order = { kind: 'stream', clients, requests } as const;
  // Once to warm up: what counts is whether the second time needs more than the first.
  await load({ port, paths: [path], order });
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const cpu = process.cpuUsage();
  const { errors, seconds, bytes, mean, p99 } = await load({ port, paths: [path], order });
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(watch);
  return {
    rows,
    meanMs: mean,
    p99Ms: p99,
    rowsPerSecond: Math.round((rows * requests) / seconds),
    cpuMicrosPerRow: round((user + system) / (rows * requests), 1),
    megabytes: Math.round(bytes / 1e6),
    errors,
    grownMegabytes: round((peak - before) / 1e6, 0),
  };
}
