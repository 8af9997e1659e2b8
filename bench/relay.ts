/**
 * What the wire costs, in one run on the preview sample chain:
 *
 *   immutable  the sync from the folder itself
 *   n2n, n2c   the sync of the same blocks from `unspent relay` in a process of
 *              its own, over loopback TCP and over a Unix socket
 *   ratio      n2n / immutable
 *   CPU        with each, seconds of processor time of the process that syncs, and
 *              of the relay meanwhile: the two share the cores
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
import {
  type BenchOptions,
  option,
  ownProcessorSeconds,
  processorSecondsOf,
  round,
  samples,
  say,
  temporary,
  timed,
  unpackChunks,
} from './support.ts';

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
    const syncs: Record<'immutable' | 'n2n' | 'n2c', SyncTimes[]> = { immutable: [], n2n: [], n2c: [] };
    try {
      for (let i = 0; i < rounds; i++) {
        syncs.immutable.push(await sync(`immutable:${chunks}`, relay.pid));
        syncs.n2n.push(await sync(relay.n2n, relay.pid));
        syncs.n2c.push(await sync(`n2c:${socket}`, relay.pid));
      }
    } finally {
      await relay.stop();
    }
    const [immutable, n2n, n2c] = [fastest(syncs.immutable), fastest(syncs.n2n), fastest(syncs.n2c)];
    const latency = await latencies();
    const figures = {
      immutable,
      n2n: { ...n2n, toImmutable: round(n2n.seconds / immutable.seconds, 2) },
      n2c: { ...n2c, toImmutable: round(n2c.seconds / immutable.seconds, 2) },
      ratio: round(n2n.seconds / immutable.seconds, 2),
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

interface SyncTimes {
  readonly seconds: number;
  /** Of processor time: this process, and the relay meanwhile. */
  readonly cpuSeconds: number;
  readonly relayCpuSeconds: number;
}

function fastest(syncs: readonly SyncTimes[]): SyncTimes {
  return syncs.reduce((best, each) => (each.seconds < best.seconds ? each : best));
}

type WireTimes = SyncTimes & { readonly toImmutable: number };

function print(
  options: BenchOptions,
  f: { readonly immutable: SyncTimes; readonly n2n: WireTimes; readonly n2c: WireTimes; readonly latency: Latency },
): void {
  const text = ({ seconds, cpuSeconds, relayCpuSeconds }: SyncTimes): string =>
    `${seconds} s, CPU ${cpuSeconds} s and of the relay ${relayCpuSeconds} s`;
  say(options, `immutable  ${text(f.immutable)}`);
  say(options, `n2n        ${f.n2n.toImmutable} x: ${text(f.n2n)}`);
  say(options, `n2c        ${f.n2c.toImmutable} x: ${text(f.n2c)}`);
  say(options, `latency    p50 ${f.latency.p50} ms, p99 ${f.latency.p99} ms, at most ${f.latency.max} ms over ${f.latency.blocks} blocks`);
}

async function startRelay(chunks: string, socket: string): Promise<{ n2n: string; pid: number; stop(): Promise<void> }> {
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
    return { n2n, pid: child.pid ?? 0, stop };
  }
  throw new UnspentError('IO', 'the relay did not start');
}

async function sync(source: string, relayPid: number): Promise<SyncTimes> {
  const folder = temporary('store');
  try {
    const store = await openStore({ network: NETWORK, data: join(folder.path, 'data') });
    const [own, relay] = [ownProcessorSeconds(), processorSecondsOf(relayPid)];
    const { seconds } = await timed(() => store.follow(source));
    const cpuSeconds = round(ownProcessorSeconds() - own);
    const relayCpuSeconds = round(processorSecondsOf(relayPid) - relay, 2);
    await store.close();
    return { seconds: round(seconds), cpuSeconds, relayCpuSeconds };
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
