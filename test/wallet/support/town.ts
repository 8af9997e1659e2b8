/**
 * A chain with traffic of its own whose blocks come and go, a store that follows
 * it, and wallets that own the scripts of its people: for tests of what feeds
 * wallets. The confirmed coins of each wallet must be those that the chain itself
 * says are unspent, by its own account.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { RegtestDevnet } from '../../../src/chains/bitcoin/regtest/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { equalBytes, toHex } from '../../../src/util/bytes.ts';
import { historyTxs } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { storeFeed } from '../../../src/wallet/feed/store-feed.ts';
import { type FeedSource, WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import type { WalletId } from '../../../src/wallet/records.ts';
import { until } from '../../support/patience.ts';
import type { ComparedStore } from './node-rig.ts';

const CLOCK_SECONDS = 1_700_000_000;
export const FEED = { feed: 'regtest', now: () => CLOCK_SECONDS * 1000 };
const WALLETS = 3;
const FIRST_BLOCKS = 104;

export interface TownOptions {
  readonly seed: number;
  /** Empty. Default: in memory. */
  readonly wallets?: ComparedStore;
  /** Of the store, as `--set` takes them. Default: it keeps the history. */
  readonly settings?: readonly string[];
}

/** A chain, a store that has none of its blocks yet, and wallets that own its scripts in turns, one part nobody's. */
export class Town {
  readonly chain: RegtestDevnet;
  readonly store: OpenStore;
  readonly source: FeedSource;
  readonly wallets: ComparedStore;
  /** By script, the number in the name of the wallet that owns it. */
  readonly owners = new Map<string, number>();

  private constructor(chain: RegtestDevnet, store: OpenStore, wallets: ComparedStore) {
    this.chain = chain;
    this.store = store;
    this.wallets = wallets;
    this.source = storeFeed(store, historyTxs(chain.network.mweb), store.network.dialect.clock);
  }

  static async open(
    t: TestContext,
    { seed, wallets = new MemoryWalletStore(), settings = ['utxo.history=true'] }: TownOptions,
  ): Promise<Town> {
    const chain = new RegtestDevnet({ seed, clock: () => CLOCK_SECONDS });
    chain.mine(FIRST_BLOCKS);
    const { config } = loadConfig({ flags: { set: [...settings] }, env: {} });
    const folder = mkdtempSync(join(tmpdir(), 'unspent-town-'));
    const store = await openStore({ data: join(folder, 'data'), network: chain.network.name, config });
    t.after(async () => {
      await store.close();
      await wallets.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const town = new Town(chain, store, wallets);
    await town.settle();
    return town;
  }

  /** A feed of its own, which goes on until the test stops it. A database that was never fed begins before the first block. */
  async feed(source: FeedSource = this.source): Promise<{ stop(): Promise<void> }> {
    const end = new AbortController();
    const following = new WalletFeed(this.wallets, FEED).follow(source, end.signal);
    const begun = until(async () => (await this.wallets.feedPosition(FEED.feed)) !== null, 'the feed has begun');
    await Promise.race([begun, following]);
    return {
      stop: async () => {
        end.abort();
        await following;
      },
    };
  }

  private async settle(): Promise<void> {
    const ids: WalletId[] = [];
    for (let n = 0; n < WALLETS; n++) ids.push((await this.wallets.createWallet({ name: `wallet ${n}`, isWatchOnly: true })).id);
    const scripts = new Map([...this.chain.utxos.values()].map(({ script }) => [toHex(script), script]));
    for (const [n, [key, script]] of [...scripts].entries()) {
      const owner = n % (WALLETS + 1);
      if (owner === WALLETS) continue;
      this.owners.set(key, owner);
      const walletId = ids[owner];
      await this.wallets.importAddress(walletId, { script, kind: 'p2wpkh' }, FEED.now());
    }
    assert.ok(this.owners.size > WALLETS, `${this.owners.size} scripts have an owner`);
  }

  /** The store becomes what the chain is. */
  follow(): void {
    const { fold, network } = this.store;
    while (fold.head !== null && this.chain.heightOf(fold.head.hash) === null) {
      const { height } = fold.head;
      this.store.rollback(this.store.locate(`height:${height - 1}`));
    }
    for (let height = (fold.head?.height ?? -1) + 1; height <= this.chain.height; height++) {
      fold.apply([network.ledger.decode(this.chain.block(this.chain.hashAt(height)!)!, height)]);
    }
  }

  async hasFed(): Promise<boolean> {
    const wallets = await this.wallets.listWallets();
    return wallets.every(({ syncedTo }) => syncedTo !== null && equalBytes(syncedTo.hash, this.chain.tip.hash));
  }

  async assertSame(): Promise<void> {
    const { wallets } = await this.wallets.rows();
    const coins = wallets.flatMap(({ name, txs, credits }) => {
      const confirmed = new Set(txs.filter(({ height }) => height !== null).map(({ txId }) => txId));
      const unspent = credits.filter(({ txId, spentBy }) => confirmed.has(txId) && !(spentBy !== null && confirmed.has(spentBy)));
      return unspent.map(({ txId, index, amount }) => `${name} ${txId}:${index} ${amount}`);
    });
    const expected = [...this.chain.utxos.values()]
      .filter(({ script }) => this.owners.has(toHex(script)))
      .map(({ key, script, value }) => `wallet ${this.owners.get(toHex(script))} ${key} ${value}`);
    assert.deepEqual(coins.sort(), expected.sort());
  }

  /** Every wallet went through every block once: up by one block at a time, and down by those that a reorganisation took. */
  async assertOnce(): Promise<void> {
    const events = await this.wallets.listEvents(0, Number.MAX_SAFE_INTEGER);
    for (const { id, syncedTo } of await this.wallets.listWallets()) {
      let [at, isDown] = [-1, false];
      for (const { event } of events.filter(({ walletId }) => walletId === id)) {
        if (event.kind === 'reorg') {
          assert.equal(event.from, at);
          [at, isDown] = [event.to, true];
        } else if (event.kind === 'sync.tip') {
          assert.equal(event.height, isDown ? at : at + 1);
          [at, isDown] = [event.height, false];
        }
      }
      assert.equal(at, syncedTo?.height);
    }
  }
}
