/**
 * Wallets that follow a chain through a store in this process. After every step
 * each has the coins of the chain.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { walletTxOf } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { type FeedEvent, WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { isEvicted } from '../../../src/wallet/rules/status.ts';
import { until } from '../../support/patience.ts';
import { FEED, Town } from '../support/town.ts';

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
