/** What is watched, and blocks that come while it grows: sections 5.7 and 10 of the specification, which number no scenarios for it. */
import assert from 'node:assert/strict';
import { WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import type { WalletTx } from '../../../src/wallet/records.ts';
import type { WalletStore } from '../../../src/wallet/store.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, idOf, NOW, nameOf, outpointOf, scriptOf, type World } from '../support/world.ts';

const SCOPE = { purpose: 84, coinType: 0 } as const;
const ACCOUNT = { scope: SCOPE, externalKind: 'p2wpkh', internalKind: 'p2wpkh', isDerived: true, now: NOW } as const;
const SCAN = { horizons: [], txs: [], syncedBlocks: [], now: NOW };
const FEED = { feed: 'chain', now: () => NOW };

const derive = (_: number, index: number) => ({ script: scriptOf(80, index), kind: 'p2wpkh' }) as const;

const versionOf = async ({ store }: World): Promise<number> => (await store.findTouched([], [])).watchVersion;

/** The store, with something that another process does right behind each answer of that method. */
function interrupted(store: WalletStore, method: 'findTouched' | 'watchedAccounts', meanwhile: () => Promise<void>): WalletStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return async (...parameters: unknown[]): Promise<unknown> => {
        const answer: unknown = await value.apply(target, parameters);
        if (name === method) await meanwhile();
        return answer;
      };
    },
  });
}

function payment(name: string, script: Uint8Array): WalletTx {
  return {
    id: idOf(name),
    raw: new Uint8Array(1),
    inputs: [outpointOf('elsewhere:0')],
    outputs: [{ script, amount: 7n }],
    isCoinbase: false,
  };
}

export const watchScenarios: readonly Scenario[] = [
  [
    'what is watched has a version, which every wallet, account and address raises, and nothing else',
    async (world) => {
      const { store, wallet } = world;
      const grows = async (call: () => Promise<unknown>): Promise<void> => {
        const before = await versionOf(world);
        await call();
        assert.ok((await versionOf(world)) > before, `${call}`);
      };
      const stays = async (call: () => Promise<unknown>): Promise<void> => {
        const before = await versionOf(world);
        await call();
        assert.equal(await versionOf(world), before, `${call}`);
      };
      await grows(() => store.createWallet({ name: 'x', isWatchOnly: true }));
      await grows(() => store.createAccount(wallet, { ...ACCOUNT, name: 'y' }));
      const [main] = await store.listAccounts(wallet);
      await grows(() => store.newAddress(wallet, main.id, 1, derive, NOW));
      const horizons = [{ accountId: main.id, branch: 1, index: 3, derive }] as const;
      await grows(() => store.applyScanBatch(wallet, { ...SCAN, horizons }));
      await stays(() => store.applyScanBatch(wallet, { ...SCAN, horizons }));
      await grows(() => store.importAddress(wallet, { script: scriptOf(70, 0), kind: 'p2wpkh' }, NOW));
      await stays(() => store.importAddress(wallet, { script: scriptOf(70, 0), kind: 'p2wpkh' }, NOW));
      await stays(() => store.renameAccount(wallet, { scope: SCOPE, name: 'y' }, 'z'));
      await stays(() => world.create('A'));
      await stays(() => store.connectBlock({ block: blockAt(1), txs: [] }));
      await stays(() => assert.rejects(store.createWallet({ name: 'x', isWatchOnly: true }), { code: 'WALLET_EXISTS' }));
    },
  ],
  [
    'accounts are told since a version: new ones, and those with new addresses, with the block and the feed of that moment',
    async (world) => {
      const { store, wallet } = world;
      const told = async (since: number) => {
        const { accounts, watchVersion, block, position } = await store.watchedAccounts('chain', since);
        const names = accounts.map(({ wallet: { name }, account }) => `${name}/${account.name} ${account.nextInternalIndex}`);
        return { names, watchVersion, block, position };
      };
      const first = await told(0);
      assert.deepEqual(first, { names: ['wallet 1/main 0'], watchVersion: await versionOf(world), block: null, position: null });
      await world.addWallet();
      await store.connectBlock({ block: blockAt(4), txs: [], feed: { feed: 'chain', after: null, position: 'a' } });
      const second = await told(first.watchVersion);
      assert.deepEqual([second.names, second.block, second.position], [['wallet 2/main 0'], blockAt(4), 'a']);
      assert.deepEqual((await told(second.watchVersion)).names, []);
      const [main] = await store.listAccounts(wallet);
      await store.newAddress(wallet, main.id, 1, derive, NOW);
      await store.importAddress(wallet, { script: scriptOf(70, 0), kind: 'p2wpkh' }, NOW);
      assert.deepEqual((await told(second.watchVersion)).names, ['wallet 1/main 1']);
      assert.deepEqual((await told(0)).names, ['wallet 1/main 1', 'wallet 2/main 0']);
    },
  ],
  [
    'a block that was searched before an address was added is refused, and taken in when it was searched again',
    async (world) => {
      const { store, wallet } = world;
      const before = await versionOf(world);
      await store.importAddress(wallet, { script: scriptOf(70, 0), kind: 'p2wpkh' }, NOW);
      const feed = { feed: 'chain', after: null, position: 'a' };
      const block = { block: blockAt(1), txs: [world.news('A', { block: blockAt(1) })], feed };
      await world.refused('WATCH_CHANGED', () => store.connectBlock({ ...block, watchVersion: before }));
      await store.connectBlock({ ...block, watchVersion: await versionOf(world) });
      assert.deepEqual(await world.states(), ['A published 1']);
    },
  ],
  [
    'a feed misses no address and no wallet that another process adds while it takes a block in',
    async (world) => {
      const { store, wallet } = world;
      const added: (() => Promise<unknown>)[] = [
        () => store.importAddress(wallet, { script: scriptOf(70, 0), kind: 'p2wpkh' }, NOW),
        async () => {
          const { id } = await store.createWallet({ name: 'late', isWatchOnly: true });
          await store.importAddress(id, { script: scriptOf(70, 0), kind: 'p2wpkh' }, NOW);
        },
      ];
      const feed = new WalletFeed(
        interrupted(store, 'findTouched', async () => {
          await added.shift()?.();
        }),
        FEED,
      );
      await store.connectBlock({ block: blockAt(1), txs: [], feed: { feed: 'chain', after: null, position: 'a' } });
      await feed.take({ kind: 'connected', block: blockAt(2), txs: [payment('P', scriptOf(70, 0))], position: 'b' }, 'a');
      const { wallets } = await world.rows();
      assert.deepEqual(
        wallets.map(({ name, syncedHeight, credits }) => `${name} at ${syncedHeight}: ${credits.map(({ txId }) => nameOf(txId))}`),
        ['wallet 1 at 2: P', 'late at 2: P'],
      );
      assert.equal(await store.feedPosition('chain'), 'b');
    },
  ],
  [
    'a scan up to a block is refused once the feed is elsewhere',
    async (world) => {
      const { store, wallet } = world;
      const [main] = await store.listAccounts(wallet);
      const horizons = [{ accountId: main.id, branch: 1, index: 3, derive }] as const;
      const scan = { ...SCAN, horizons, syncedBlocks: [blockAt(1)] };
      await world.refused('FEED_MOVED', () => store.applyScanBatch(wallet, { ...scan, feed: { feed: 'chain', position: 'a' } }));
      await store.applyScanBatch(wallet, { ...SCAN, feed: { feed: 'chain', position: null } });
      await store.connectBlock({ block: blockAt(1), txs: [], feed: { feed: 'chain', after: null, position: 'a' } });
      await world.refused('FEED_MOVED', () => store.applyScanBatch(wallet, { ...scan, feed: { feed: 'chain', position: null } }));
      await store.applyScanBatch(wallet, { ...scan, feed: { feed: 'chain', position: 'a' } });
      assert.equal((await store.listAccounts(wallet))[0].nextInternalIndex, 4);
    },
  ],
  [
    'what waits in the mempool is told of all wallets at once',
    async (world) => {
      const second = await world.addWallet();
      await world.create('A');
      await world.create('B', { walletId: second });
      await world.create('C', { status: 'pending' });
      await world.create('D', { block: await world.sync(5) });
      await world.create('E');
      await world.invalidate('E');
      const told = async (): Promise<string[]> =>
        (await world.store.listInMempool()).map(({ walletId, txId }) => `${walletId} ${nameOf(txId)}`);
      assert.deepEqual(await told(), [`${world.wallet} A`, `${second} B`]);
      await world.store.markMempool(world.wallet, idOf('A'), false, NOW);
      assert.deepEqual(await told(), [`${second} B`]);
      await world.store.markMempool(world.wallet, idOf('A'), true, NOW + 1);
      assert.deepEqual(await told(), [`${world.wallet} A`, `${second} B`]);
    },
  ],
];
