/** W36 to W46: blocks that are gone, for all wallets or for one. */
import assert from 'node:assert/strict';
import { outpointText } from '../../../src/ledgers/outpoint.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { listReorgEffects } from '../../../src/wallet/reorg-effects.ts';
import type { NewTx, Page } from '../../../src/wallet/store.ts';
import type { Scenario } from '../scenarios.ts';
import { openMemoryWallets } from '../support/open-memory.ts';
import { blockAt, idOf, NOW, nameOf, outpointOf, scriptOf, World } from '../support/world.ts';

/** A coinbase in block 1, its child and grandchild, which also spends F. */
async function mineAndSpend(world: World): Promise<void> {
  const block = await world.sync(1);
  await world.create('coinbase', { block, pays: [{ own: 0, amount: 5000n }] });
  await world.create('F', { spends: ['x:0'], pays: [{ own: 1, amount: 10n }] });
  await world.create('B', { spends: ['coinbase:0'], pays: [{ own: 2, amount: 4000n }] });
  await world.create('C', { spends: ['B:0', 'F:0'], pays: [{ own: 3, amount: 3000n }] });
}

/** What each reorganisation did, newest first: the heights, then every transaction with the block it lost and what it became. */
async function reorgTexts(world: World, page: Page<number> = { limit: 10 }): Promise<string[]> {
  const effects = await listReorgEffects(world.store, world.wallet, page);
  return effects.map(({ from, to, txs, isCut }) => {
    assert.equal(isCut, false);
    return [`${from} -> ${to}`, ...txs.map(({ txId, height, status }) => `${nameOf(txId)} ${height} ${status}`)].join(', ');
  });
}

/** A hundred blocks with a payment each, and a spend of it two blocks later; then another hundred that spend differently. */
async function deepReorganisation(world: World): Promise<void> {
  for (const fork of [0, 1]) {
    if (fork === 1) await world.store.rollbackToBlock(5);
    for (let height = 5; height < 105; height++) {
      const block = blockAt(height, fork);
      const txs = [
        world.news(`coinbase ${fork} ${height}`, { block }),
        world.news(`pay ${height}`, { spends: [`x${height}:0`], block }),
        ...(height > 6
          ? [world.news(`spend ${fork} ${height}`, { spends: [`pay ${height - 2}:0`, `coinbase ${fork} ${height - 1}:0`], block })]
          : []),
      ];
      // Of the first hundred every fifth payment is not in the second, but one that conflicts with it.
      if (fork === 1 && height % 5 === 0) txs[1] = world.news(`rival ${height}`, { spends: [`x${height}:0`], block });
      if (fork === 1 && height % 5 === 2) txs.splice(2);
      await world.store.connectBlock({ block, txs });
    }
  }
}

export const reorganisationScenarios: readonly Scenario[] = [
  [
    'W36 a disconnected transaction is published and unmined, and keeps its coins',
    async (world) => {
      const block = await world.sync(4);
      await world.create('F', { pays: [{ own: 0, amount: 100n }] });
      await world.create('A', { spends: ['F:0'], block, label: 'x' });
      const next = await world.sync(5);
      await world.create('B', { spends: ['A:0'], block: next });
      await world.store.rollbackToBlock(5);
      assert.deepEqual(await world.states(), ['F published', 'A published 4', 'B published']);
      assert.deepEqual(await world.edges(), ['F:0 by A', 'A:0 by B', 'B:0 unspent']);
      const { block: of, confirmedOrder } = await world.store.getTx(world.wallet, idOf('B'));
      assert.deepEqual([of, confirmedOrder], [null, null]);
      assert.deepEqual(await world.coins({ maxConfs: 0 }), ['B:0']);
      assert.deepEqual((await world.store.getWallet('wallet 1')).syncedTo, block);
      await world.changesNothing(() => world.store.rollbackToBlock(5));
    },
  ],
  [
    'W37 a disconnected coinbase is orphaned, and out of the balance',
    async (world) => {
      await world.create('coinbase', { block: await world.sync(1) });
      assert.equal((await world.balance()).immature, 100n);
      await world.store.rollbackToBlock(1);
      assert.deepEqual(await world.states(), ['coinbase orphaned']);
      assert.equal(await world.total(), 0n);
      assert.deepEqual(await world.store.listOutputsToWatch(world.wallet), []);
    },
  ],
  [
    'W38 with a disconnected coinbase its unmined branch fails, and frees its other coins',
    async (world) => {
      await mineAndSpend(world);
      await world.store.rollbackToBlock(1);
      assert.deepEqual(await world.states(), ['coinbase orphaned', 'F published', 'B failed', 'C failed']);
      assert.deepEqual(await world.edges(), ['coinbase:0 unspent', 'F:0 unspent', 'B:0 unspent', 'C:0 unspent']);
      assert.deepEqual(await world.coins(), ['F:0']);
    },
  ],
  [
    'W39 a confirmed child of the coinbase is disconnected first, and fails with it',
    async (world) => {
      await mineAndSpend(world);
      await world.create('B', { block: await world.sync(2) });
      await world.store.rollbackToBlock(1);
      assert.deepEqual(await world.states(), ['coinbase orphaned', 'F published', 'B failed', 'C failed']);
      assert.deepEqual(await reorgTexts(world), ['2 -> 0, B 2 failed, coinbase 1 orphaned, C null failed']);
    },
  ],
  [
    'each reorganisation is told with what it did, newest first, and nothing of what came between',
    async (world) => {
      await world.create('A', { block: await world.sync(1) });
      await world.sync(2);
      await world.store.rollbackToBlock(2);
      await world.create('P');
      await world.invalidate('P');
      await world.create('coinbase', { block: await world.sync(2, 1) });
      await world.store.rollbackToBlock(1);
      await world.create('Q');
      const all = ['2 -> 0, coinbase 2 orphaned, A 1 published', '2 -> 1'];
      assert.deepEqual(await reorgTexts(world), all);
      const [newest] = await world.store.listReorgs(world.wallet, { limit: 1 });
      assert.deepEqual(await reorgTexts(world, { limit: 9, after: newest.sequence }), all.slice(1));
      assert.equal((await world.store.eventRange()).newest, await world.mark());
    },
  ],
  [
    'blocks that a feed undoes one by one are one reorganisation',
    async (world) => {
      for (const height of [1, 2, 3]) await world.create(`A${height}`, { block: await world.sync(height) });
      for (const height of [3, 2]) await world.store.rollbackToBlock(height);
      await world.create('A3', { block: await world.sync(2, 1) });
      await world.store.rollbackToBlock(2);
      assert.deepEqual(await reorgTexts(world), ['2 -> 1, A3 2 published', '3 -> 1, A3 3 published, A2 2 published']);
      assert.deepEqual(await reorgTexts(world, { limit: 1 }), ['2 -> 1, A3 2 published']);
    },
  ],
  [
    'what is told of blocks and coins is the same, however the caller had its bytes',
    async (world) => {
      await world.create('A');
      const mark = await world.mark();
      const block = blockAt(1);
      await world.store.updateWallet(world.wallet, { syncedTo: { ...block, hash: Buffer.from(block.hash) } });
      const coin = { ...outpointOf('A:0'), txId: Buffer.from(idOf('A')), weight: 272 };
      await world.store.leaseCoins(world.wallet, [coin], { id: Buffer.from(idOf('lease')), now: NOW, durationMs: 1 });
      const lease = toHex(idOf('lease'), 0, 8);
      assert.deepEqual(await world.eventsSince(mark), ['sync.tip 1 block 1 of 0', `lease.acquired A:0 ${lease}`]);
    },
  ],
  [
    'W40 and W41 the coinbase comes back in another block, immature; its child only with a block of its own',
    async (world) => {
      await mineAndSpend(world);
      await world.store.rollbackToBlock(1);
      await world.create('coinbase', { block: await world.sync(1, 1) });
      assert.deepEqual(await world.states(), ['coinbase published 1', 'F published', 'B failed', 'C failed']);
      assert.equal((await world.balance()).immature, 5000n);
      assert.deepEqual(await world.coins({ coinbaseMaturity: 100 }), ['F:0']);
      await world.create('B', { block: await world.sync(2, 1) });
      assert.deepEqual(await world.states(), ['coinbase published 1', 'F published', 'B published 2', 'C failed']);
      assert.deepEqual(await world.edges(), ['coinbase:0 by B', 'F:0 unspent', 'B:0 unspent', 'C:0 unspent']);
    },
  ],
  [
    'W42 sync point and birthday go to the highest block that is left, or to none',
    async (world) => {
      for (const height of [0, 3, 7, 20]) await world.sync(height);
      await world.store.updateWallet(world.wallet, { birthday: NOW, birthdayBlock: blockAt(7) });
      const at = async () => {
        const { syncedTo, birthdayBlock, birthday } = await world.store.getWallet('wallet 1');
        assert.equal(birthday, NOW);
        return [syncedTo?.height ?? null, birthdayBlock?.height ?? null];
      };
      await world.store.rollbackToBlock(10);
      assert.deepEqual(await at(), [7, 7]);
      await world.store.rollbackToBlock(5);
      assert.deepEqual(await at(), [3, 3]);
      assert.deepEqual(
        (await world.store.listSyncedBlocks(0, 99)).map(({ height }) => height),
        [0, 3],
      );
      await world.store.rollbackToBlock(0);
      assert.deepEqual(await at(), [null, null]);
      assert.deepEqual(await world.store.listSyncedBlocks(0, 99), []);
    },
  ],
  [
    'W43 a rollback that fails in the middle changes nothing',
    async (world) => {
      const second = await world.addWallet();
      const low = await world.sync(3);
      const high = await world.sync(5);
      await world.create('A', { block: high });
      // In the second wallet the chain contradicts itself: what spends the coinbase is in a block below it.
      await world.create('coinbase', { block: high, walletId: second, pays: [{ script: scriptOf(2, 0), amount: 1n }] });
      await world.create('B', { block: low, walletId: second, spends: ['coinbase:0'] });
      await world.refused('CHAIN_INCONSISTENT', () => world.store.rollbackToBlock(5, { feed: 'f', after: null, position: 'p' }));
      assert.equal(await world.store.feedPosition('f'), null);
    },
  ],
  [
    'W44 a rollback is for all wallets',
    async (world) => {
      const second = await world.addWallet();
      for (const [n, walletId] of world.wallets.entries()) {
        const pays = [{ script: scriptOf(n + 1, 0), amount: 1n }];
        await world.sync(5);
        await world.create(`coinbase ${n}`, { block: blockAt(5), walletId, pays });
        await world.create(`B ${n}`, { walletId, spends: [`coinbase ${n}:0`] });
      }
      await world.create('A', { block: blockAt(5), walletId: second });
      await world.store.rollbackToBlock(5, { feed: 'chain', after: null, position: '4' });
      assert.deepEqual(await world.states(1), ['coinbase 0 orphaned', 'B 0 failed']);
      assert.deepEqual(await world.states(2), ['coinbase 1 orphaned', 'B 1 failed', 'A published']);
      assert.equal(await world.store.feedPosition('chain'), '4');
    },
  ],
  [
    'W45 a rewind is for one wallet, and blocks stay',
    async (world) => {
      const second = await world.addWallet();
      const low = await world.sync(3);
      const high = await world.sync(5);
      for (const walletId of world.wallets) {
        await world.create('A', { block: low, walletId });
        await world.create('B', { block: high, walletId });
        await world.create('coinbase', { block: high, walletId });
      }
      const before = await world.rows();
      await world.store.rewindWallet(world.wallet, low);
      const after = await world.rows();
      assert.deepEqual(after.wallets[1], before.wallets[1]);
      assert.deepEqual(after.blocks, before.blocks);
      assert.deepEqual(await world.states(1), ['A published 3', 'B published', 'coinbase orphaned']);
      assert.equal(after.wallets[0].syncedHeight, 3);
      await world.refused('BLOCK_MISMATCH', () => world.store.rewindWallet(second, blockAt(3, 1)));
      await world.store.rewindWallet(world.wallet, blockAt(1));
      assert.deepEqual(await world.states(1), ['A published', 'B published', 'coinbase orphaned']);
    },
  ],
  [
    'W45 a wallet that was rewound is not taken along by the next block, and is once it was scanned',
    async (world) => {
      const second = await world.addWallet();
      for (const height of [1, 2, 3]) await world.store.connectBlock({ block: blockAt(height), txs: [] });
      await world.store.rewindWallet(world.wallet, blockAt(1));
      const third = await world.addWallet();
      const heights = async () => (await world.rows()).wallets.map(({ syncedHeight }) => syncedHeight);
      const mark = await world.mark();
      const news = world.news('A', { block: blockAt(4), pays: [{ own: 0, amount: 5n }] });
      await world.store.connectBlock({ block: blockAt(4), txs: [news] });
      assert.deepEqual(await heights(), [1, 4, 4]);
      const tips = (await world.store.listEvents(mark, 100)).filter(({ event }) => event.kind === 'sync.tip');
      assert.deepEqual(
        tips.map(({ walletId }) => walletId),
        [second, third],
      );
      // What the block brought is there, as deep as anybody knows.
      assert.deepEqual(await world.states(1), ['A published 4']);
      assert.equal(await world.total({ minConfs: 1 }), 0n);
      await world.store.applyScanBatch(world.wallet, { horizons: [], txs: [], syncedBlocks: [blockAt(4)], now: NOW });
      await world.store.connectBlock({ block: blockAt(5), txs: [] });
      assert.deepEqual(await heights(), [5, 5, 5]);
      assert.equal(await world.total({ minConfs: 2 }), 5n);
    },
  ],
  [
    'W46 a rollback of 2,000 blocks, with coinbases and what was built on them, is one call',
    async (world) => {
      const depth = 2000;
      const txs: NewTx[] = [];
      for (let n = 0; n < depth; n++) {
        const block = blockAt(1 + n);
        txs.push(world.news(`coinbase ${n}`, { block, pays: [{ own: n % 10, amount: 50n }] }));
        // In blocks: every second coinbase is spent by a later one, whose output waits to be spent again.
        if (n >= 200 && n % 2 === 0) txs.push(world.news(`spend ${n}`, { block, spends: [`coinbase ${n - 200}:0`] }));
      }
      await world.store.applyTxBatch(world.wallet, txs, blockAt(depth));
      await world.create('child', { spends: ['coinbase 1999:0'] });
      await world.create('grandchild', { spends: ['child:0'] });
      const before = await world.total();
      await world.store.rollbackToBlock(1);
      const { txs: rows, syncedHeight } = (await world.rows()).wallets[0];
      const count = (status: string) => rows.filter((row) => row.status === status && row.height === null).length;
      assert.deepEqual([count('orphaned'), count('failed'), rows.length, syncedHeight], [depth, 902, depth + 902, null]);
      assert.equal(await world.total(), 0n);
      assert.deepEqual(await world.coins(), []);
      // The chain comes back as it was, but for what no block has.
      await world.store.applyTxBatch(world.wallet, txs, blockAt(depth));
      assert.deepEqual([await world.status('child'), await world.status('spend 1998')], ['failed', 'published']);
      assert.equal(await world.total(), before - 100n + 50n);
    },
  ],
  [
    'W46 after a reorganisation of 100 blocks with conflicts on the new side every row is as in the model',
    async (world) => {
      await deepReorganisation(world);
      await using other = await World.open(openMemoryWallets);
      await deepReorganisation(other);
      assert.deepEqual(await world.rows(), await other.rows());
      assert.deepEqual(await world.eventsSince(0), await other.eventsSince(0));
      const states = await world.states();
      for (const status of ['published', 'replaced', 'failed', 'orphaned'])
        assert.ok(
          states.some((state) => state.includes(status)),
          status,
        );
    },
  ],
  [
    'W46 blocks are connected one after the other, or not at all',
    async (world) => {
      await world.addWallet();
      const feed = { feed: 'chain', after: 'a', position: 'b' };
      const first = { feed: 'chain', after: null, position: 'a' };
      await world.store.connectBlock({ block: blockAt(1), txs: [world.news('A', { block: blockAt(1) })], feed: first });
      assert.deepEqual(
        (await world.rows()).wallets.map(({ syncedHeight }) => syncedHeight),
        [1, 1],
      );
      assert.equal(await world.store.feedPosition('chain'), 'a');
      await world.refused('FEED_MOVED', () => world.store.connectBlock({ block: blockAt(2), txs: [], feed: first }));
      await world.refused('FEED_MOVED', () => world.store.rollbackToBlock(1, first));
      await world.refused('BLOCK_MISMATCH', () => world.store.connectBlock({ block: blockAt(1, 1), txs: [], feed }));
      const txs = [world.news('B', { block: blockAt(2) }), world.news('C', { block: blockAt(2), walletId: 999 })];
      await world.refused('WALLET_UNKNOWN', () => world.store.connectBlock({ block: blockAt(2), txs, feed }));
      const coin = await world.store.getCoin(world.wallet, outpointOf('A:0'), NOW);
      assert.equal(coin.height, 1);
    },
  ],
  [
    'W46 the wallets that a block touches are found by scripts, coins and inputs',
    async (world) => {
      const second = await world.addWallet();
      await world.create('A', { pays: [{ script: scriptOf(1, 0), amount: 1n }] });
      await world.create('B', { walletId: second, spends: ['elsewhere:3'], pays: [{ script: scriptOf(2, 0), amount: 1n }] });
      const scripts = [scriptOf(1, 0), scriptOf(2, 0), scriptOf(3, 0)];
      const { owners, spenders } = await world.store.findTouched(scripts, ['A:0', 'A:1', 'elsewhere:3', 'elsewhere:2'].map(outpointOf));
      assert.deepEqual(
        [...owners].sort(),
        [
          [toHex(scriptOf(1, 0)), [world.wallet]],
          [toHex(scriptOf(2, 0)), [second]],
        ].sort(),
      );
      assert.deepEqual(
        [...spenders].sort(),
        [
          [outpointText(outpointOf('A:0')), [world.wallet]],
          [outpointText(outpointOf('elsewhere:3')), [second]],
        ].sort(),
      );
      const { watchVersion } = await world.store.watchedAccounts('chain', 0);
      assert.deepEqual(await world.store.findTouched([], []), { watchVersion, owners: new Map(), spenders: new Map() });
    },
  ],
];
