/**
 * The Bitcoin family for tests of the page: a regtest chain served over P2P, a
 * store that follows it over that socket and keeps its history, and the server
 * over the store. Somebody is paid on it whose script anybody can spend.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GUEST_SCRIPT, RegtestDevnet } from '../../src/chains/bitcoin/regtest/index.ts';
import { type P2pServer, serveP2p } from '../../src/chains/bitcoin/responder/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import { bitcoinNetwork, formatAddress } from '../../src/ledgers/bitcoin/index.ts';
import { type Served, serve } from '../../src/server/serve.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { until } from '../support/patience.ts';

export const NETWORK = 'bitcoin-regtest';
/** Coinbases can be spent after a hundred. */
const RIPE = 104;

export class BitcoinWorld {
  /** Who is paid. */
  readonly address = formatAddress(bitcoinNetwork(NETWORK), GUEST_SCRIPT)!;
  readonly devnet: RegtestDevnet;
  readonly store: OpenStore;
  private readonly responder: P2pServer;
  private readonly folder: string;
  private readonly stop = new AbortController();
  private readonly following: Promise<unknown>;
  private served: Served | null = null;

  private constructor(store: OpenStore, responder: P2pServer, folder: string, devnet: RegtestDevnet) {
    this.store = store;
    this.responder = responder;
    this.folder = folder;
    this.devnet = devnet;
    this.following = store.follow(`p2p://127.0.0.1:${responder.port}`, { follow: true, signal: this.stop.signal });
  }

  static async open(set: readonly string[] = []): Promise<BitcoinWorld> {
    const devnet = new RegtestDevnet({ seed: 1 });
    devnet.mine(RIPE);
    devnet.fund(GUEST_SCRIPT, 123_456_789n);
    devnet.mine(4);
    const responder = await serveP2p(devnet, { port: 0 });
    const folder = mkdtempSync(join(tmpdir(), 'unspent-page-btc-'));
    const { config } = loadConfig({ flags: { set: ['utxo.history=true', ...set] } });
    const store = await openStore({ data: join(folder, 'data'), network: NETWORK, config });
    const world = new BitcoinWorld(store, responder, folder, devnet);
    await world.settled();
    world.served = await serve(store, { port: 0, follows: true });
    return world;
  }

  get url(): string {
    return this.served!.url;
  }

  /** The store is where the chain is. */
  async settled(): Promise<void> {
    await until(() => this.store.fold.head?.height === this.devnet.height, 'the store is at the tip');
  }

  async ask<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.url}${path}`)).json()) as T;
  }

  /** Nobody follows it any more. */
  async rest(): Promise<void> {
    this.stop.abort();
    await this.served?.close();
    this.served = await serve(this.store, { port: 0 });
  }

  async close(): Promise<void> {
    await this.served?.close();
    this.stop.abort();
    await this.following;
    await this.store.close();
    await this.responder.close();
    await this.devnet.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
