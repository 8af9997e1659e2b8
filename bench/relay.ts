/**
 * What the wire costs, in one run on the preview sample chain:
 *
 *   immutable  the sync from the folder itself
 *   n2n, n2c   the sync of the same blocks from `unspent relay` in a process of
 *              its own, over loopback TCP and over a Unix socket
 *   ratio      n2n / immutable
 *   latency    from a block mined on a devnet to that block committed by a
 *              store that follows it over N2N, in milliseconds
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { LiveDevnet } from '../src/chains/cardano/devnet/live.ts';
import { serveChain } from '../src/chains/cardano/responder/index.ts';
import { openStore } from '../src/store/store.ts';
import { UnspentError } from '../src/util/errors.ts';
import { type BenchOptions, best, option, round, samples, say, temporary, timed, unpackChunks } from './support.ts';

const NETWORK = 'preview';
const LATENCY_BLOCKS = 1000;
const LATENCY_EVERY_MS = 10;

export async function run(options: BenchOptions): Promise<void> {
  const rounds = option(options.args, 'rounds', 5);
  const work = temporary('relay');
  try {
    const chunks = join(work.path, 'chunks');
    unpackChunks(samples('cardano', 'immutable', 'preview-from-genesis'), /\.(chunk|secondary)\.gz$/, chunks);
    const socket = join(work.path, 'node.socket');
    const relay = await startRelay(chunks, socket);
    const times: Record<'immutable' | 'n2n' | 'n2c', number[]> = { immutable: [], n2n: [], n2c: [] };
    try {
      for (let i = 0; i < rounds; i++) {
        times.immutable.push(await sync(`immutable:${chunks}`));
        times.n2n.push(await sync(relay.n2n));
        times.n2c.push(await sync(`n2c:${socket}`));
      }
    } finally {
      await relay.stop();
    }
    const [immutable, n2n, n2c] = [best(times.immutable), best(times.n2n), best(times.n2c)];
    const latency = await latencies();
    const figures = {
      immutable: { seconds: round(immutable) },
      n2n: { seconds: round(n2n), toImmutable: round(n2n / immutable, 2) },
      n2c: { seconds: round(n2c), toImmutable: round(n2c / immutable, 2) },
      ratio: round(n2n / immutable, 2),
      latency,
      rounds,
    };
    if (options.json) console.log(JSON.stringify(figures));
    else print(options, figures);
  } finally {
    work.remove();
  }
}

type Latency = { readonly blocks: number; readonly p50: number; readonly p99: number; readonly max: number };

function print(
  options: BenchOptions,
  f: {
    immutable: { seconds: number };
    n2n: { seconds: number; toImmutable: number };
    n2c: { seconds: number; toImmutable: number };
    latency: Latency;
  },
): void {
  say(options, `immutable  ${f.immutable.seconds} s`);
  say(options, `n2n        ${f.n2n.seconds} s   ${f.n2n.toImmutable} x`);
  say(options, `n2c        ${f.n2c.seconds} s   ${f.n2c.toImmutable} x`);
  say(options, `latency    p50 ${f.latency.p50} ms, p99 ${f.latency.p99} ms, at most ${f.latency.max} ms over ${f.latency.blocks} blocks`);
}

async function startRelay(chunks: string, socket: string): Promise<{ n2n: string; stop(): Promise<void> }> {
  const launcher = join(import.meta.dirname, '..', 'bin', 'unspent');
  const args = ['relay', '--network', NETWORK, '--source', `immutable:${chunks}`, '--port', '0', '--socket', socket, '--json'];
  const child: ChildProcess = spawn(launcher, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  let text = '';
  for await (const piece of child.stdout ?? []) {
    text += piece;
    const n2n = /"n2n":\s*"([^"]+)"/.exec(text)?.[1];
    if (n2n === undefined) continue;
    const stop = async (): Promise<void> => {
      child.kill('SIGINT');
      await ended;
    };
    return { n2n, stop };
  }
  throw new UnspentError('IO', 'the relay did not start');
}

async function sync(source: string): Promise<number> {
  const folder = temporary('store');
  try {
    const store = await openStore({ network: NETWORK, data: join(folder.path, 'data') });
    const { seconds } = await timed(() => store.follow(source));
    await store.close();
    return seconds;
  } finally {
    folder.remove();
  }
}

async function latencies(): Promise<Latency> {
  const folder = temporary('latency');
  const devnet = new LiveDevnet({ seed: 1 });
  devnet.mine(20);
  const responder = await serveChain(devnet, { port: 0 });
  const store = await openStore({ network: 'devnet', genesis: devnet.genesis, data: join(folder.path, 'data') });
  const minedAt: number[] = [];
  const taken: number[] = [];
  const stop = new AbortController();
  const following = store.follow(`n2n://127.0.0.1:${responder.port}`, {
    follow: true,
    signal: stop.signal,
    onProgress: () => {
      const height = store.fold.head?.height ?? -1;
      if (minedAt[height] !== undefined && taken[height] === undefined) taken[height] = performance.now() - minedAt[height];
    },
  });
  for (let i = 0; i < LATENCY_BLOCKS; i++) {
    await new Promise((resolve) => setTimeout(resolve, LATENCY_EVERY_MS));
    const height = devnet.blocks.length;
    minedAt[height] = performance.now();
    devnet.mine(1);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  stop.abort();
  await following;
  await store.close();
  await devnet.close();
  await responder.close();
  folder.remove();
  const sorted = taken.filter((each) => each !== undefined).sort((a, b) => a - b);
  const at = (share: number): number => round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))], 2);
  return { blocks: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
