/**
 * One of every kind of call that writes, on a story in which each has much to
 * do: what failures and crashes in the middle of a call are tried on.
 */

import type { SqlDatabaseOptions } from '../../../src/sql/database.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { SqlWalletStore } from '../../../src/wallet/sql/store.ts';
import { blockAt, firstCoins, idOf, NOW, outpointOf, World } from '../support/world.ts';

export interface StoryStore {
  readonly store: SqlWalletStore;
  readonly world: World;
}

/**
 * Before the calls: two reorganisations, a coinbase in block 5 with an unmined child and grandchild, a
 * coin in block 6 that is leased until its spend has two confirmations, a
 * payment with a replaced and a failed one, coins to spend, and labels of one that is still to come.
 */
export async function tellStory(store: SqlWalletStore): Promise<StoryStore> {
  const world = await World.open(async () => ({ store, rows: () => store.rows(), close: () => store.close() }));
  for (const height of [3, 2]) {
    await world.sync(5);
    await store.rollbackToBlock(height);
  }
  const five = await world.sync(5);
  await world.create('coinbase', { block: five });
  await world.create('child', { spends: ['coinbase:0'] });
  await world.create('grandchild', { spends: ['child:0'] });
  const six = await world.sync(6);
  await world.create('coin', { block: six });
  await world.lease('coin:0', { releaseAfterSpendConfs: 1 });
  await world.create('pay', { spends: ['coin:0'], status: 'pending' });
  await world.create('change', { spends: ['pay:0'], status: 'pending' });
  await world.create('old', { spends: ['x:0'], received: 5 });
  await world.create('new', { spends: ['x:0'], replace: true });
  await world.create('spare');
  await world.lease('spare:0', { durationMs: 5 });
  const label = { origin: '', label: 'x', others: '{}', isForeign: false } as const;
  await store.keepLabels(
    world.wallet,
    [
      { ...label, type: 'tx', ref: 'later', txId: idOf('later'), index: null, spendable: null },
      { ...label, type: 'output', ref: 'later:0', ...outpointOf('later:0'), spendable: false },
    ],
    NOW,
  );
  return { store, world };
}

/** A story that was told before, in that database. */
export async function resumeStory(url: string, options: SqlDatabaseOptions = {}): Promise<StoryStore> {
  const store = await openWalletStore(url, { isDurable: false, ...options });
  const wallets = (await store.listWallets()).map(({ id }) => id);
  return { store, world: await World.resume(async () => ({ store, rows: () => store.rows(), close: () => store.close() }), wallets) };
}

type Call = readonly [name: string, run: (story: StoryStore) => Promise<unknown>];

/** Each on a copy of the story. */
export const EVERY_CALL: readonly Call[] = [
  ['createWallet', ({ store }) => store.createWallet({ name: 'another', isWatchOnly: true })],
  ['updateWallet', ({ store, world }) => store.updateWallet(world.wallet, { syncedTo: blockAt(7), birthdayBlock: blockAt(6) })],
  [
    'createAccount',
    ({ store, world }) => {
      const scope = { purpose: 86, coinType: 0 };
      return store.createAccount(world.wallet, { scope, name: 'x', externalKind: 'p2tr', internalKind: 'p2tr', isDerived: true, now: NOW });
    },
  ],
  ['importAddress', ({ store, world }) => store.importAddress(world.wallet, { script: idOf('script'), kind: 'p2wsh' }, NOW)],
  ['createTx that replaces a branch', ({ world }) => world.create('bump', { spends: ['coinbase:0'], replace: true })],
  ['createTx in a block', ({ world }) => world.create('mined', { spends: ['coin:0', 'spare:0'], block: blockAt(6) })],
  [
    'applyTxBatch',
    ({ store, world }) => {
      const block = blockAt(7);
      const second = world.news('second', { spends: ['first:0'], block });
      const first = world.news('first', { spends: ['coinbase:0'], block });
      return store.applyTxBatch(world.wallet, [second, first, world.news('old', { spends: ['x:0'], received: 5, block })], block);
    },
  ],
  [
    'connectBlock',
    ({ store, world }) => {
      const block = blockAt(7);
      const txs = [world.news('pay', { spends: ['coin:0'], block }), world.news('rival', { spends: ['coinbase:0'], block })];
      const feed = { feed: 'chain', after: null, position: '7' };
      return store.connectBlock({ block, txs, feed });
    },
  ],
  ['rollbackToBlock', ({ store }) => store.rollbackToBlock(5, { feed: 'chain', after: null, position: '4' })],
  ['rewindWallet', ({ store, world }) => store.rewindWallet(world.wallet, blockAt(4))],
  ['invalidateTx', ({ store, world }) => store.invalidateTx(world.wallet, idOf('child'))],
  ['deleteTx', ({ store, world }) => store.deleteTx(world.wallet, idOf('change'))],
  [
    'updateTx',
    ({ store, world }) => store.updateTx(world.wallet, idOf('pay'), { label: 'x', state: { status: 'published', block: blockAt(6) } }),
  ],
  ['markMempool', ({ store, world }) => store.markMempool(world.wallet, idOf('pay'), false, NOW)],
  ['pruneDead', ({ store, world }) => store.pruneDead(world.wallet, NOW + 1)],
  [
    'leaseCoins',
    ({ store, world }) => {
      const outpoints = [outpointOf('spare:0'), outpointOf('new:0'), outpointOf('change:0')];
      return store.leaseCoins(world.wallet, outpoints, { id: idOf('other'), now: NOW + 100, durationMs: 1000 });
    },
  ],
  ['releaseCoin', ({ store, world }) => store.releaseCoin(world.wallet, outpointOf('spare:0'), idOf('lease'), NOW)],
  [
    'keepLabels',
    ({ store, world }) => {
      const said = { origin: '', spendable: null, others: '{}', isForeign: false, index: null, label: 'x' } as const;
      const frozen = ['new:0', 'latest:0'].map(
        (text) => ({ ...said, type: 'output', ref: text, ...outpointOf(text), spendable: false }) as const,
      );
      return store.keepLabels(world.wallet, [{ ...said, type: 'tx', ref: 'pay', txId: idOf('pay') }, ...frozen], NOW);
    },
  ],
  ['createTx of what has a label', ({ world }) => world.create('later')],
  ['trimEvents', ({ store }) => store.trimEvents(3)],
  ['deleteExpiredLeases', ({ store }) => store.deleteExpiredLeases(NOW + 100)],
  [
    'selectAndLease',
    ({ store, world }) => {
      const lease = { id: idOf('selection'), now: NOW + 100, durationMs: 1000 };
      return store.selectAndLease(world.wallet, { now: NOW + 100 }, (coins) => ({ coins: firstCoins(coins, 2) }), lease);
    },
  ],
  [
    'applyScanBatch',
    async ({ store, world }) => {
      const [account] = await store.listAccounts(world.wallet);
      const derive = (_: number, index: number) => ({ script: idOf(`derived ${index}`), kind: 'p2wpkh' }) as const;
      const horizons = [{ accountId: account.id, branch: 1, index: 3, derive }] as const;
      return store.applyScanBatch(world.wallet, {
        horizons,
        txs: [world.news('scanned')],
        syncedBlocks: [blockAt(7), blockAt(8)],
        now: NOW,
      });
    },
  ],
];
