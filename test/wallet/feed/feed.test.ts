/**
 * Wallets that follow a chain through a store in this process. After every step
 * each has the coins of the chain.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { WALLET_EVENTS_TRIM_BLOCKS } from '../../../src/util/limits.ts';
import { walletTxOf } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { type FeedEvent, type FeedSource, WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { WalletMempool } from '../../../src/wallet/feed/wallet-mempool.ts';
import { MemoryWalletStore } from '../../../src/wallet/memory/index.ts';
import type { WalletTx } from '../../../src/wallet/records.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import { until } from '../../support/patience.ts';
import { FEED, Town } from '../support/town.ts';
import { blockAt } from '../support/world.ts';

describe('wallets that follow a chain', () => {
  it('have the coins of the chain after every block and every fork', async (t) => {
    const town = await Town.open(t, { seed: 1 });
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
    const town = await Town.open(t, { seed: 2 });
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
    await town.assertOnce();
  });

  it('see the mempool: payments, replacements, and what is gone from it', async (t) => {
    const town = await Town.open(t, { seed: 4 });
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

  it('take the mempool in when it is ahead of the blocks, and evict what a lost block gives back to nobody', async (t) => {
    const town = await Town.open(t, { seed: 5 });
    const end = new AbortController();
    const feed: WalletFeed = new WalletFeed(town.wallets, { ...FEED, onMove: () => mempool.moved() });
    const rivals = new Map<Uint8Array, WalletTx>();
    const mempool = new WalletMempool(feed, (raw) => rivals.get(raw)!);
    const following = feed.follow(town.source, end.signal);
    await until(async () => (await town.wallets.feedPosition(FEED.feed)) !== null, 'the feed has begun');
    assert.deepEqual(await town.wallets.feeds(), [FEED.feed]);
    town.follow();
    await until(() => town.hasFed(), 'the wallets have the first blocks');

    const { id: walletId } = (await town.wallets.listWallets())[0];
    const rows = await town.wallets.listTxs(walletId, { from: 0, to: town.chain.height });
    const spends = rows.filter(({ tx }) => !tx.isCoinbase);
    const { tx: loser, block } = spends.at(-1)!;
    const rival = { ...loser, id: new Uint8Array(32).fill(9) };
    rivals.set(rival.raw, rival);
    await mempool.take({ kind: 'reset' });
    await mempool.take({ kind: 'add', txs: [rival.raw] });
    await assert.rejects(town.wallets.getTx(walletId, rival.id), { code: 'TX_UNKNOWN' });

    const lost = spends.filter(({ block: other, tx }) => other!.height >= block!.height && tx !== loser).map(({ tx }) => tx.id);
    town.store.rollback(town.store.locate(`height:${block!.height - 1}`));
    const isBack = async (): Promise<boolean> => (await town.wallets.listWallets())[0].syncedTo?.height === block!.height - 1;
    await until(isBack, 'the wallets have lost the block');
    await mempool.moved();
    assert.equal((await town.wallets.getTx(walletId, rival.id)).status, 'published');
    assert.equal((await town.wallets.getTx(walletId, loser.id)).status, 'replaced');
    for (const id of lost) {
      const row = await town.wallets.getTx(walletId, id);
      assert.ok(row.status !== 'published' || isEvicted(row));
    }
    await mempool.take({ kind: 'remove', ids: [rival.id] });
    assert.ok(isEvicted(await town.wallets.getTx(walletId, rival.id)));
    end.abort();
    await following;
  });

  it('keep as many events as they are told to, while blocks come', async () => {
    const wallets = new MemoryWalletStore();
    await wallets.createWallet({ name: 'w', isWatchOnly: true });
    const heights = Array.from({ length: 2 * WALLET_EVENTS_TRIM_BLOCKS + 20 }, (_, n) => n);
    const source: FeedSource = {
      newest: async () => ({ block: null, position: '' }),
      async *events() {
        for (const height of heights) yield { kind: 'connected', block: blockAt(height), txs: [], position: `${height}` };
      },
    };
    await new WalletFeed(wallets, { ...FEED, eventsMax: 7 }).follow(source, new AbortController().signal);
    const { trimmed, newest } = await wallets.eventRange();
    assert.equal(newest, heights.length);
    assert.ok(newest - trimmed >= 7 && newest - trimmed < 7 + WALLET_EVENTS_TRIM_BLOCKS, `${newest - trimmed} events are kept`);
  });

  it('refuse an event that does not follow', async (t) => {
    const town = await Town.open(t, { seed: 3 });
    const feed = new WalletFeed(town.wallets, FEED);
    town.follow();
    const { block, position } = await town.source.newest(new AbortController().signal);
    const event: FeedEvent = { kind: 'connected', block: block!, txs: [], position };
    await assert.rejects(feed.take(event, 'elsewhere'), { code: 'FEED_MOVED' });
    assert.equal(await town.wallets.feedPosition(FEED.feed), null);
  });
});
