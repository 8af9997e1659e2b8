/**
 * Wallets that follow a chain: a regtest chain with traffic of its own, blocks
 * that come and go, and wallets that own the scripts of its people. After every
 * step the confirmed coins of each wallet are those that the chain itself says
 * are unspent, by its own account.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { RegtestDevnet } from '../../../src/chains/bitcoin/regtest/index.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type OpenStore, openStore } from '../../../src/store/store.ts';
import { equalBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { historyTxs, walletTxOf } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { storeFeed } from '../../../src/wallet/feed/store-feed.ts';
import { type FeedEvent, type FeedSource, WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import type { WalletId } from '../../../src/wallet/records.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import { until } from '../../support/patience.ts';

const CLOCK_SECONDS = 1_700_000_000;
const FEED = { feed: 'regtest', now: () => CLOCK_SECONDS * 1000 };
const WALLETS = 3;
const FIRST_BLOCKS = 104;

const root = mkdtempSync(join(tmpdir(), 'unspent-wallet-feed-'));
after(() => rmSync(root, { recursive: true, force: true }));

/** A chain, a store that has none of its blocks yet, and wallets that own its scripts in turns, one part nobody's. */
class Town {
  readonly chain: RegtestDevnet;
  readonly store: OpenStore;
  readonly source: FeedSource;
  readonly wallets = new MemoryWalletStore();
  /** By script, the number in the name of the wallet that owns it. */
  readonly owners = new Map<string, number>();

  private constructor(chain: RegtestDevnet, store: OpenStore) {
    this.chain = chain;
    this.store = store;
    this.source = storeFeed(store, historyTxs(chain.network.mweb), store.network.dialect.clock);
  }

  static async open(t: TestContext, seed: number): Promise<Town> {
    const chain = new RegtestDevnet({ seed, clock: () => CLOCK_SECONDS });
    chain.mine(FIRST_BLOCKS);
    const { config } = loadConfig({ flags: { set: ['utxo.history=true'] }, env: {} });
    const store = await openStore({ data: join(root, `store-${seed}`), network: chain.network.name, config });
    t.after(() => store.close());
    const town = new Town(chain, store);
    await town.settle();
    return town;
  }

  /** A feed of its own, which goes on until the test stops it. A database that was never fed begins before the first block. */
  async feed(): Promise<{ stop(): Promise<void> }> {
    const end = new AbortController();
    const following = new WalletFeed(this.wallets, FEED).follow(this.source, end.signal);
    await until(async () => (await this.wallets.feedPosition(FEED.feed)) !== null, 'the feed has begun');
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
}

describe('wallets that follow a chain', () => {
  it('have the coins of the chain after every block and every fork', async (t) => {
    const town = await Town.open(t, 1);
    const feed = await town.feed();
    for (let step = 0; step < 25; step++) {
      if (step % 4 === 3) town.chain.fork(1 + (step % 7));
      else town.chain.mine(step % 3);
      town.follow();
      await until(() => town.hasFed(), `the wallets are at ${town.chain.height}`);
      await town.assertSame();
    }
    await feed.stop();
  });

  it('take in every block once, whoever feeds them and whenever they stop', async (t) => {
    const town = await Town.open(t, 2);
    await (await town.feed()).stop();
    for (let round = 0; round < 6; round++) {
      town.chain.mine(2);
      if (round % 2 === 1) town.chain.fork(3);
      town.follow();
      const feeds = await Promise.all([town.feed(), town.feed(), town.feed()]);
      await until(() => town.hasFed(), `the wallets are at ${town.chain.height}`);
      await Promise.all(feeds.map((feed) => feed.stop()));
      await town.assertSame();
    }
    const tips = (await town.wallets.listEvents(0, Number.MAX_SAFE_INTEGER)).filter(({ event }) => event.kind === 'sync.tip');
    const [first, ...others] = (await town.wallets.listWallets()).map(({ id }) => tips.filter(({ walletId }) => walletId === id));
    for (const other of others) assert.equal(other.length, first.length, 'each wallet went through the same blocks');
  });

  it('see the mempool: payments, replacements, and what is gone from it', async (t) => {
    const town = await Town.open(t, 4);
    const running = await town.feed();
    town.follow();
    await until(() => town.hasFed(), 'the wallets have the first blocks');
    const feed = new WalletFeed(town.wallets, FEED);
    const unmined = async (): Promise<readonly string[]> => {
      const ids = (await town.wallets.listWallets()).map(({ id }) => id);
      const rows = await Promise.all(ids.map((id) => town.wallets.listTxs(id, 'unmined')));
      return rows.flat().map(({ tx }) => toHex(tx.id));
    };
    const [[script, owner]] = town.owners;
    const paid = town.chain.fund(fromHex(script), 70_000n);
    const waiting = town.chain.mempool().map((id) => walletTxOf(town.chain.tx(id)!, false));
    await feed.seeInMempool(waiting);
    await feed.seeInMempool(waiting);
    assert.ok((await unmined()).includes(toHex(paid)));
    const { id } = (await town.wallets.listWallets())[owner];
    const { trustedPending, untrustedPending } = await town.wallets.balance(id, { now: FEED.now() });
    assert.ok(trustedPending + untrustedPending >= 70_000n);
    await feed.loseFromMempool([paid]);
    const row = await town.wallets.getTx(id, paid);
    assert.deepEqual([row.status, isEvicted(row)], ['published', true]);
    town.chain.mine(1);
    town.follow();
    await until(() => town.hasFed(), 'the wallets have the block');
    await town.assertSame();
    assert.equal((await town.wallets.getTx(id, paid)).block?.height, town.chain.height);
    await running.stop();
  });

  it('refuse an event that does not follow', async (t) => {
    const town = await Town.open(t, 3);
    const feed = new WalletFeed(town.wallets, FEED);
    town.follow();
    const { block, position } = await town.source.newest();
    const event: FeedEvent = { kind: 'connected', block: block!, txs: [], position };
    await assert.rejects(feed.take(event, 'elsewhere'), { code: 'FEED_MOVED' });
    assert.equal(await town.wallets.feedPosition(FEED.feed), null);
  });
});
