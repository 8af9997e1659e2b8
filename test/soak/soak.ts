/**
 * A devnet, a responder and a follower, and one thing after another happening
 * to each of them: blocks, forks, cut connections, restarts. After every event
 * the follower's unspent set must be the devnet's own. Shared by the test and by
 * `bench/soak.ts`, which goes on for as long as one likes.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { makeWallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { type Responder, serveChain } from '../../src/chains/cardano/responder/index.ts';
import { Random } from '../../src/chains/random.ts';
import { loadConfig } from '../../src/config/load.ts';
import { type OuroborosSource, openOuroboros } from '../../src/sources/cardano/ouroboros/index.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { equalBytes } from '../../src/util/bytes.ts';
import { PATIENCE_MS } from '../support/patience.ts';

export interface SoakOptions {
  readonly events: number;
  readonly seed: number;
  /** Deepest fork. */
  readonly depthMax: number;
  readonly onEvent?: (event: number, what: string) => void;
}

export interface SoakReport {
  readonly counts: Readonly<Record<string, number>>;
  readonly blocks: number;
  readonly undone: number;
  readonly deepest: number;
  /** Bytes of heap, after collection, a third of the way and at the end. */
  readonly heap: readonly [number, number];
  readonly lost: number;
}

const EVENTS = [
  ['mine', 30],
  ['fork', 26],
  ['rollback', 8],
  ['fund', 8],
  ['cut', 10],
  ['restartResponder', 6],
  ['restartDevnet', 2],
  ['restartFollower', 6],
  ['changeWire', 4],
  ['deepFork', 1.6],
] as const;
type SoakEvent = (typeof EVENTS)[number][0];

/** Forks that are not shallow, at most: the deepest have an event of their own. */
const FORK_DEPTH_MAX = 1000;

export async function soak(options: SoakOptions): Promise<SoakReport> {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`);
  process.on('warning', onWarning);
  const run = new Soak(options);
  try {
    const report = await run.all();
    assert.deepEqual(warnings, [], 'no warnings, of listeners or otherwise');
    return report;
  } finally {
    await run.end();
    process.off('warning', onWarning);
  }
}

class Soak {
  private readonly options: SoakOptions;
  private readonly random: Random;
  private readonly data = mkdtempSync(join(tmpdir(), 'unspent-soak-'));
  private readonly counts: Record<string, number> = {};
  private devnet: LiveDevnet;
  private responder: Responder | null = null;
  private port = 0;
  private store: OpenStore | null = null;
  private source: OuroborosSource | null = null;
  private quit = new AbortController();
  private following: Promise<unknown> = Promise.resolve();
  private failure: unknown;
  private wire: 'n2n' | 'n2c' = 'n2n';
  private highest = 0;
  private blocks = 0;
  private undone = 0;
  private deepest = 0;
  private lost = 0;

  constructor(options: SoakOptions) {
    this.options = options;
    this.random = new Random(options.seed, 0x50a);
    this.devnet = this.openDevnet();
  }

  async all(): Promise<SoakReport> {
    const { events, depthMax, onEvent } = this.options;
    this.devnet.mine(depthMax + 50);
    this.highest = this.devnet.tip.height;
    await this.serve();
    await this.startFollower();
    await this.settle('the first sync');
    const third = Math.floor(events / 3);
    let early = 0;
    for (let i = 0; i < events; i++) {
      const event = this.random.weighted(EVENTS);
      const what = await this.happen(event);
      this.counts[event] = (this.counts[event] ?? 0) + 1;
      await this.settle(`event ${i}: ${what} (seed ${this.options.seed})`);
      if (i === third) early = collectedHeap();
      onEvent?.(i, what);
    }
    const heap = [early, collectedHeap()] as const;
    await this.stopFollower();
    await this.until(() => this.responder!.clients === 0, 'the responder has no clients');
    assert.deepEqual(this.devnet.held, { readers: 0, listeners: 0, views: 0 });
    await this.unserve();
    const { counts, blocks, undone, deepest, lost } = this;
    return { counts, blocks, undone, deepest, heap, lost };
  }

  async end(): Promise<void> {
    await this.stopFollower().catch(() => {});
    await this.unserve();
    await this.devnet.close();
    rmSync(this.data, { recursive: true, force: true });
  }

  private async happen(event: SoakEvent): Promise<string> {
    const { random, devnet } = this;
    switch (event) {
      case 'mine': {
        const blocks = 1 + random.int(12);
        devnet.mine(blocks);
        return this.grew(`mine ${blocks}`);
      }
      case 'fork': {
        const depth = this.depth();
        devnet.fork(depth);
        return this.grew(`fork ${depth}`);
      }
      case 'rollback': {
        const depth = Math.min(this.depth(), 30);
        devnet.rollback(depth);
        return `rollback ${depth}`;
      }
      case 'fund':
        devnet.fund(makeWallet(random.int(5)).address, 1_000_000n + random.big(1n << 40n));
        devnet.mine(1);
        return this.grew('fund');
      case 'cut':
        await this.responder!.cut();
        // At times the chain turns while nobody is connected.
        if (random.chance(0.5)) devnet.fork(this.depth());
        return this.grew('cut');
      case 'restartResponder':
        await this.unserve();
        if (random.chance(0.5)) devnet.fork(this.depth());
        if (random.chance(0.3)) await sleep(30);
        await this.serve();
        return this.grew('restart of the responder');
      case 'restartDevnet': {
        await this.unserve();
        const before = devnet.digest();
        await devnet.close();
        this.devnet = this.openDevnet();
        assert.equal(this.devnet.digest(), before, 'the journal brings back the same chain');
        await this.serve();
        return 'restart of the devnet';
      }
      case 'restartFollower':
        await this.stopFollower();
        if (random.chance(0.5)) devnet.fork(this.depth());
        await this.startFollower();
        return this.grew('restart of the follower');
      case 'deepFork': {
        // A store that has seen every block of its window come.
        await this.stopFollower();
        rmSync(join(this.data, 'store'), { recursive: true });
        await this.startFollower();
        await this.settle('a sync from the start');
        const { depthMax } = this.options;
        const depth = this.depth(depthMax - random.int(Math.ceil(depthMax / 50)));
        devnet.fork(depth);
        return this.grew(`deep fork ${depth}`);
      }
      case 'changeWire':
        this.wire = this.wire === 'n2n' ? 'n2c' : 'n2n';
        await this.stopFollower();
        await this.startFollower();
        return `on over ${this.wire}`;
    }
  }

  /** Mostly shallow; never below what the follower's window still holds. */
  private depth(wanted = 1 + this.random.int(this.random.chance(0.1) ? FORK_DEPTH_MAX : 12)): number {
    const allowed = Math.max(1, this.devnet.tip.height - (this.highest - this.options.depthMax));
    const depth = Math.min(wanted, allowed);
    this.undone += depth;
    this.deepest = Math.max(this.deepest, depth);
    return depth;
  }

  private grew(what: string): string {
    this.highest = Math.max(this.highest, this.devnet.tip.height);
    return what;
  }

  private openDevnet(): LiveDevnet {
    return new LiveDevnet({ seed: this.options.seed, addresses: 3, txPerBlock: 0.5, journal: join(this.data, 'journal') });
  }

  private async serve(): Promise<void> {
    this.responder = await serveChain(this.devnet, { port: this.port, socket: join(this.data, 'socket') });
    this.port = this.responder.port!;
  }

  private async unserve(): Promise<void> {
    const { responder } = this;
    this.responder = null;
    await responder?.close();
    assert.equal(responder?.clients ?? 0, 0);
  }

  private async startFollower(): Promise<void> {
    const { genesis, network } = this.devnet;
    const { magic, byronEpochSlots } = network;
    const config = loadConfig({ flags: { utxoPruneScheduleSeconds: '1' } }).config;
    this.store = await openStore({ data: join(this.data, 'store'), network: 'devnet', genesis, config });
    const url = this.wire === 'n2n' ? `n2n://127.0.0.1:${this.port}` : `n2c:${join(this.data, 'socket')}`;
    this.source = openOuroboros([url], { magic, byronEpochSlots, reconnectMs: [2, 20] });
    this.quit = new AbortController();
    this.following = this.store.follow(this.source, { follow: true, signal: this.quit.signal }).then(
      ({ blocks }) => {
        this.blocks += blocks;
      },
      (error: unknown) => {
        this.failure = error;
      },
    );
  }

  private async stopFollower(): Promise<void> {
    const { store } = this;
    if (store === null) return;
    this.store = null;
    this.quit.abort();
    await this.following;
    this.lost += this.source?.status().lost ?? 0;
    await store.close();
    if (this.failure !== undefined) throw this.failure;
  }

  private async settle(when: string): Promise<void> {
    const { store, devnet } = this;
    await this.until(() => {
      if (this.failure !== undefined) throw this.failure;
      const { head } = store!.fold;
      return head !== null && equalBytes(head.hash, devnet.tip.point!.hash);
    }, when);
    const { utxos, digest } = store!.digest();
    assert.deepEqual({ utxos, digest }, { utxos: devnet.utxos.size, digest: devnet.digest() }, when);
  }

  private async until(done: () => boolean, what: string): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; !done(); ) {
      if (Date.now() > end) assert.fail(`not settled in ${PATIENCE_MS} ms after ${what}; ${JSON.stringify(this.source?.status())}`);
      await sleep(1);
    }
  }
}

function collectedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
