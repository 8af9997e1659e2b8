/**
 * Coins that a process has in memory to choose from are those of the database at
 * the moment of the choice, whoever changed them in between: one store changes
 * them in every way there is, and another, which has them in memory, is asked.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type FreeCoins, freeCoinsOf } from '../../../src/wallet/free-coins.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';
import type { WalletCoin } from '../../../src/wallet/records.ts';
import type { WalletStore } from '../../../src/wallet/store.ts';
import type { TestDatabases } from '../../support/sql/databases.ts';
import { executeIn } from '../../support/sql/execute.ts';
import { blockAt, firstCoins, idOf, NOW, outpointOf, scriptOf, World } from '../support/world.ts';
import { emptyDatabase } from './empty.ts';

type Change = readonly [what: string, run: (world: World) => Promise<unknown>];

/** One after the other. */
const CHANGES: readonly Change[] = [
  ['coins come', (world) => coinsCome(world)],
  ['a coin is spent', (world) => world.create('pay', { spends: ['A:0'], pays: [{ own: 1, amount: 70n }] })],
  ['and its change, too', (world) => world.create('change', { spends: ['pay:0'], pays: [{ own: 2, amount: 60n }] })],
  ['a payment is replaced', (world) => world.create('bump', { spends: ['A:0'], pays: [{ own: 1, amount: 65n }], replace: true })],
  ['the mempool loses one', (world) => world.store.markMempool(world.wallet, idOf('bump'), false, NOW)],
  ['and has it again', (world) => world.store.markMempool(world.wallet, idOf('bump'), true, NOW + 1)],
  ['a payment fails', (world) => world.store.invalidateTx(world.wallet, idOf('bump'))],
  [
    'one is deleted',
    async (world) => {
      await world.create('passing', { pays: [{ own: 3, amount: 5n }] });
      await world.store.deleteTx(world.wallet, idOf('passing'));
    },
  ],
  ['a coin that was offered is deleted', (world) => world.store.deleteTx(world.wallet, idOf('B'))],
  [
    'coins are leased',
    async (world) => {
      await world.lease('C:0');
      await world.lease('D:0', { durationMs: null });
    },
  ],
  ['a lease is given back', (world) => world.store.releaseCoin(world.wallet, outpointOf('D:0'), idOf('lease'), NOW)],
  [
    'a block confirms some',
    (world) => {
      const block = blockAt(7);
      const txs = [world.news('C', { block }), world.news('D', { block }), world.news('coinbase 7', { block })];
      return world.store.connectBlock({ block, txs });
    },
  ],
  [
    'a dead one is in a block after all',
    (world) => {
      const block = blockAt(8);
      return world.store.connectBlock({ block, txs: [world.news('pay', { block })] });
    },
  ],
  ['blocks go', (world) => world.store.rollbackToBlock(7)],
  ['the wallet is rewound', (world) => world.store.rewindWallet(world.wallet, blockAt(4))],
  [
    'a parent comes late',
    async (world) => {
      await world.create('child', { spends: ['late:0'], pays: [{ own: 4, amount: 30n }] });
      await world.create('late', { pays: [{ own: 5, amount: 40n }], credits: new Map() });
    },
  ],
  ['and its credit later', (world) => world.create('late', { credits: new Map([[0, null]]) })],
  ['dead rows are pruned', (world) => world.store.pruneDead(world.wallet, NOW + 1)],
  ['leases are cleared away', (world) => world.store.deleteExpiredLeases(NOW + 10_000)],
  ['the account has another name', (world) => world.store.renameAccount(world.wallet, { scope: SCOPE, name: 'main' }, 'renamed')],
  [
    'an address becomes one of the account',
    async (world) => {
      const script = scriptOf(1, 10);
      await world.store.importAddress(world.wallet, { script, kind: 'p2wpkh' }, NOW);
      await world.create('imported', { pays: [{ own: 10, amount: 11n }] });
    },
  ],
  [
    'which was imported before',
    async (world) => {
      const [{ id }] = await world.store.listAccounts(world.wallet);
      await world.store.newAddress(world.wallet, id, 0, (_, index) => ({ script: scriptOf(1, index), kind: 'p2wpkh' }), NOW);
    },
  ],
];

const SCOPE = { purpose: 84, coinType: 0 };

async function coinsCome(world: World): Promise<void> {
  await world.sync(5);
  for (const [at, name] of ['A', 'B', 'C', 'D'].entries()) await world.create(name, { pays: [{ own: at, amount: 100n - BigInt(at) }] });
}

/** What a selection is offered, with columns that say the same. It leases nothing. */
async function offered(store: WalletStore, walletId: number): Promise<readonly WalletCoin[]> {
  let seen: readonly WalletCoin[] = [];
  const choose = (free: FreeCoins) => {
    seen = [...free];
    assert.deepEqual(rowsOf(free), rowsOf(freeCoinsOf(seen)));
    for (const coin of seen) assert.deepEqual(free.find(coin.outpoint), coin);
    assert.equal(free.find(outpointOf('none:0')), undefined);
    return { coins: [] };
  };
  await store.selectAndLease(walletId, { now: NOW }, choose, { id: idOf('nothing'), now: NOW, durationMs: 1 });
  return seen;
}

/** Without `plain`, which is about leases that have ended, too; owners may be numbered in another order. */
function rowsOf({ positions, columns }: FreeCoins): unknown[] {
  return Array.from(positions, (i) => [columns.amounts[i], columns.heightAt(i), columns.ownChange[i], columns.ownerAt(i)]);
}

/** One store for changes, one that has coins in memory. */
async function twoStores(databases: TestDatabases) {
  const url = await databases.freshUrl();
  const [changing, choosing] = [await openWalletStore(url, { isDurable: false }), await openWalletStore(url, { isDurable: false })];
  const world = await World.open(async () => ({ store: changing, rows: () => changing.rows(), close: () => changing.close() }));
  const close = async (): Promise<void> => {
    await changing.close();
    await choosing.close();
  };
  return { url, world, choosing, [Symbol.asyncDispose]: close };
}

async function checkOffer(choosing: WalletStore, world: World, when: string): Promise<void> {
  const free = (await world.store.listCoins(world.wallet, { now: NOW })).filter(({ lease, isEvicted }) => lease === null && !isEvicted);
  assert.deepEqual(await offered(choosing, world.wallet), free, when);
}

export function runCachedCoins(databases: TestDatabases): void {
  describe(`wallets: coins in memory over ${databases.name}`, () => {
    it('a selection sees what another store has changed, after every kind of change', async () => {
      await using stores = await twoStores(databases);
      const { world, choosing } = stores;
      await checkOffer(choosing, world, 'at first');
      for (const [what, run] of CHANGES) {
        await run(world);
        await checkOffer(choosing, world, what);
      }
    });

    it('a selection sees what was changed before events were forgotten', async () => {
      await using stores = await twoStores(databases);
      const { world, choosing } = stores;
      await world.sync(5);
      await world.store.rollbackToBlock(5);
      await checkOffer(choosing, world, 'the newest event is a reorganisation, which stays');
      await world.sync(4);
      for (const [at, [what, run]] of CHANGES.entries()) {
        await run(world);
        await world.store.trimEvents(at % 3);
        await checkOffer(choosing, world, what);
      }
    });

    it('what was changed behind the back of stores is found when it is leased', async () => {
      await using stores = await twoStores(databases);
      const { url, world, choosing } = stores;
      const block = await world.sync(5);
      await world.create('coinbase', { block, pays: [{ own: 0, amount: 5n }] });
      await world.create('other', { pays: [{ own: 1, amount: 6n }] });
      await checkOffer(choosing, world, 'before');
      await executeIn(url, 'UPDATE wallet_sync_states SET synced_height = NULL; DELETE FROM blocks');
      const first = (coins: FreeCoins) => ({ coins: firstCoins(coins, 1) });
      const chosen = await choosing.selectAndLease(world.wallet, { now: NOW }, first, { id: idOf('it'), now: NOW, durationMs: 9 });
      assert.deepEqual(chosen.coins, [outpointOf('other:0')]);
    });

    it('another database in the place of the one before is read anew', async () => {
      await using stores = await twoStores(databases);
      const { url, choosing } = stores;
      await coinsCome(stores.world);
      await checkOffer(choosing, stores.world, 'before');
      await emptyDatabase(url);
      const { store } = stores.world;
      const world = await World.open(async () => ({ store, rows: async () => assert.fail(), close: async () => {} }));
      await world.sync(5);
      for (let n = 0; n < 9; n++) await world.create(`N${n}`, { pays: [{ own: n, amount: BigInt(n) }] });
      await checkOffer(choosing, world, 'after');
    });
  });
}
