/**
 * What the page is tested against: a devnet served as a node serves it, a store
 * that follows it over that socket and keeps everything, and the server over
 * the store, in its own thread. Nothing in between is made up.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveDevnet, type LiveOptions } from '../../src/chains/cardano/devnet/live.ts';
import { type Responder, serveChain } from '../../src/chains/cardano/responder/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';
import { type Served, type ServeOptions, serve } from '../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { equalBytes } from '../../src/util/bytes.ts';
import { until } from '../support/patience.ts';

/** All that can be kept is, so that everything can be searched for; a short window, so that there is something to prune. */
const SETTINGS = [
  ...['policy', 'asset', 'datumHash', 'referenceScript'].map((name) => `utxo.index.${name}=true`),
  ...['balances', 'datums', 'scripts'].map((name) => `utxo.${name}=true`),
  'utxo.pruneDepth=150',
  'utxo.rollbackWindow=300',
  'utxo.pruneScheduleSeconds=1',
];

export interface WorldOptions extends Partial<LiveOptions> {
  /** Blocks there are before the server starts. */
  readonly blocks?: number;
  /** More settings, as `KEY=VALUE`. */
  readonly set?: readonly string[];
}

export class World {
  readonly devnet: LiveDevnet;
  readonly store: OpenStore;
  private readonly responder: Responder;
  private readonly folder: string;
  private readonly stopped = new AbortController();
  private readonly following: Promise<unknown>;
  private served: Served | null = null;

  private constructor(devnet: LiveDevnet, responder: Responder, store: OpenStore, folder: string) {
    this.devnet = devnet;
    this.responder = responder;
    this.store = store;
    this.folder = folder;
    this.following = store.follow(`n2n://127.0.0.1:${responder.port}`, { follow: true, signal: this.stopped.signal });
  }

  static async open({ blocks = 200, set = [], ...options }: WorldOptions = {}): Promise<World> {
    const devnet = new LiveDevnet({ seed: 7, addresses: 4, txPerBlock: 3, ...options });
    devnet.mine(blocks);
    const responder = await serveChain(devnet, { port: 0 });
    const folder = mkdtempSync(join(tmpdir(), 'unspent-page-'));
    const store = await openStore({ data: join(folder, 'data'), network: 'devnet', genesis: devnet.genesis, config: configWith(set) });
    const world = new World(devnet, responder, store, folder);
    await world.settled();
    return world;
  }

  get url(): string {
    return this.served!.url;
  }

  /** Listens; on the port it had before, where it had one. */
  async listen(options: ServeOptions = { port: 0 }): Promise<string> {
    this.served = await serve(this.store, options);
    return this.url;
  }

  async stopListening(): Promise<void> {
    await this.served?.close();
  }

  /** The store is where the devnet is. */
  async settled(): Promise<void> {
    const isThere = (): boolean => {
      const [head, tip] = [this.store.fold.head, this.devnet.tip.point];
      return head !== null && tip !== null && equalBytes(head.hash, tip.hash);
    };
    await until(isThere, 'the store is at the tip of the devnet');
  }

  async mine(blocks: number): Promise<void> {
    this.devnet.mine(blocks);
    await this.settled();
  }

  async fork(depth: number): Promise<void> {
    this.devnet.fork(depth);
    await this.settled();
  }

  async close(): Promise<void> {
    await this.stopListening();
    this.stopped.abort();
    await this.following;
    await this.store.close();
    await this.devnet.close();
    await this.responder.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function configWith(set: readonly string[]): Config {
  return loadConfig({ flags: { set: [...SETTINGS, ...set] } }).config;
}
