/** W61 to W69: coins that are reserved. */
import assert from 'node:assert/strict';
import { LEASE_WITHOUT_END } from '../../../src/wallet/records.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, firstCoins, idOf, NOW, nameOf, outpointOf, type World } from '../support/world.ts';

async function release(world: World, outpoint: string, id = 'lease', now = NOW): Promise<void> {
  await world.store.releaseCoin(world.wallet, outpointOf(outpoint), idOf(id), now);
}

/** `A:0 of lease until 1000`: what is leased at that time; times after NOW. */
async function leased(world: World, now = NOW): Promise<string[]> {
  const coins = await world.store.listLeases(world.wallet, now);
  return coins.map(({ outpoint, lease }) => {
    const until = lease!.expiresAt === LEASE_WITHOUT_END ? 'ever' : lease!.expiresAt - NOW;
    return `${nameOf(outpoint.txId)}:${outpoint.index} of ${nameOf(lease!.id)} until ${until}`;
  });
}

export const leaseScenarios: readonly Scenario[] = [
  [
    'W61 a lease is renewed, shortened, and anybody may take it at the moment it ends',
    async (world) => {
      await world.create('A');
      await world.lease('A:0');
      assert.deepEqual(await leased(world), ['A:0 of lease until 1000']);
      await world.lease('A:0', { durationMs: 5000 });
      assert.deepEqual(await leased(world), ['A:0 of lease until 5000']);
      await world.lease('A:0', { durationMs: 10, now: NOW + 1 });
      assert.deepEqual(await leased(world), ['A:0 of lease until 11']);
      const other = { id: idOf('other'), durationMs: 100 };
      await world.refused('COIN_LEASED', () => world.lease('A:0', { ...other, now: NOW + 10 }));
      assert.deepEqual(await leased(world, NOW + 11), []);
      const mark = await world.mark();
      await world.lease('A:0', { ...other, now: NOW + 11 });
      assert.deepEqual(await leased(world, NOW + 11), ['A:0 of other until 111']);
      assert.deepEqual(
        (await world.eventsSince(mark)).map((text) => text.split(' ').slice(0, 2).join(' ')),
        ['lease.expired A:0', 'lease.acquired A:0'],
      );
      await world.changesNothing(() => world.lease('A:0', { ...other, now: NOW + 11 }));
    },
  ],
  [
    'W61 a lease has an id of 32 bytes, some duration, and may have no end',
    async (world) => {
      await world.create('A');
      for (const durationMs of [0, -1, 1.5, Number.NaN]) await world.refused('INVALID_PARAM', () => world.lease('A:0', { durationMs }));
      await world.refused('INVALID_PARAM', () => world.lease('A:0', { id: new Uint8Array(31) }));
      await world.refused('INVALID_PARAM', () => world.lease('A:0', { releaseAfterSpendConfs: 0 }));
      await world.lease('A:0', { durationMs: null });
      assert.deepEqual(await leased(world, NOW * 2), ['A:0 of lease until ever']);
      await world.refused('COIN_LEASED', () => world.lease('A:0', { id: idOf('other'), now: NOW * 2 }));
    },
  ],
  [
    'W62 an active lease of somebody else refuses; several coins are leased together or not at all',
    async (world) => {
      for (const name of ['A', 'B', 'C']) await world.create(name);
      await world.lease('B:0', { id: idOf('other') });
      await world.refused('COIN_LEASED', () => world.lease('B:0'));
      const request = { id: idOf('lease'), now: NOW, durationMs: 1000 };
      const all = ['C:0', 'A:0', 'B:0'].map(outpointOf);
      await world.refused('COIN_LEASED', () => world.store.leaseCoins(world.wallet, all, request));
      await world.refused('UTXO_UNKNOWN', () => world.store.leaseCoins(world.wallet, ['A:0', 'X:0'].map(outpointOf), request));
      const leases = await world.store.leaseCoins(world.wallet, all.slice(0, 2), request);
      assert.deepEqual(leases, Array(2).fill({ id: idOf('lease'), expiresAt: NOW + 1000, releaseAfterSpendConfs: null }));
      assert.deepEqual(await leased(world), ['A:0 of lease until 1000', 'B:0 of other until 1000', 'C:0 of lease until 1000']);
      assert.deepEqual(await world.coins(), ['A:0', 'B:0', 'C:0']);
      const { total, locked, spendable } = await world.balance();
      assert.deepEqual([total, locked, spendable], [300n, 300n, 0n]);
      assert.equal((await world.balance({ now: NOW + 1000 })).locked, 0n);
    },
  ],
  [
    'W64 what is chosen is leased in the same transaction, and never twice',
    async (world) => {
      for (let n = 0; n < 6; n++) await world.create(`A${n}`, { pays: [{ own: n, amount: BigInt(n + 1) }] });
      const choose = async (id: string, count: number) =>
        world.store.selectAndLease(world.wallet, { now: NOW }, (coins) => ({ coins: firstCoins(coins, count), seen: coins.count }), {
          id: idOf(id),
          now: NOW,
          durationMs: 100,
        });
      const seen = (await Promise.all([choose('1', 2), choose('2', 2)])).map((choice) => choice.seen);
      assert.deepEqual(new Set(seen), new Set([6, 4]), 'one came first, whichever');
      assert.equal((await leased(world)).length, 4);
      await world.refused('UTXO_UNKNOWN', () =>
        world.store.selectAndLease(world.wallet, { now: NOW }, () => ({ coins: [outpointOf('X:0')] }), {
          id: idOf('3'),
          now: NOW,
          durationMs: 1,
        }),
      );
      await world.changesNothing(async () => {
        const failure = new Error('not enough');
        const call = world.store.selectAndLease(
          world.wallet,
          { now: NOW },
          () => {
            throw failure;
          },
          { id: idOf('3'), now: NOW, durationMs: 1 },
        );
        await assert.rejects(call, failure);
      });
    },
  ],
  [
    'W65 a coin that its spender gives back is leased as before',
    async (world) => {
      await world.create('A');
      await world.lease('A:0');
      await world.create('B', { spends: ['A:0'] });
      assert.deepEqual(await leased(world), []);
      await world.refused('UTXO_UNKNOWN', () => world.lease('A:0'));
      assert.deepEqual([(await world.balance()).locked, await world.total()], [0n, 100n]);
      await world.invalidate('B');
      assert.deepEqual(await leased(world), ['A:0 of lease until 1000']);
      await world.refused('COIN_LEASED', () => world.lease('A:0', { id: idOf('other') }));
      assert.deepEqual(await leased(world, NOW + 1000), []);
    },
  ],
  [
    'W66 a lease of a coin whose transaction is dead is not listed, and counts again when it lives again',
    async (world) => {
      await world.create('F');
      await world.create('A', { spends: ['F:0'] });
      await world.lease('A:0');
      await world.create('B', { spends: ['F:0'], replace: true });
      assert.deepEqual(await leased(world), []);
      await world.refused('UTXO_UNKNOWN', () => release(world, 'A:0'));
      await world.refused('UTXO_UNKNOWN', () => world.lease('A:0'));
      await world.create('A', { block: await world.sync(1) });
      assert.deepEqual(await leased(world), ['A:0 of lease until 1000']);
    },
  ],
  [
    'W67 releasing: twice, with another id, of a missing and of a spent coin',
    async (world) => {
      await world.create('A');
      await world.changesNothing(() => release(world, 'A:0'));
      await world.lease('A:0');
      await world.refused('LEASE_OF_ANOTHER', () => release(world, 'A:0', 'other'));
      await world.changesNothing(() => release(world, 'A:0', 'other', NOW + 1000));
      await release(world, 'A:0');
      await world.changesNothing(() => release(world, 'A:0'));
      await world.refused('UTXO_UNKNOWN', () => release(world, 'X:0'));
      await world.lease('A:0');
      await world.create('B', { spends: ['A:0'] });
      await world.refused('UTXO_UNKNOWN', () => release(world, 'A:0'));
    },
  ],
  [
    'W68 cleaning up removes what has expired, and nothing else',
    async (world) => {
      for (const [n, name] of ['A', 'B', 'C'].entries()) {
        await world.create(name);
        await world.lease(`${name}:0`, { durationMs: 10 * (n + 1) });
      }
      const mark = await world.mark();
      assert.equal(await world.store.deleteExpiredLeases(NOW + 20), 2);
      assert.deepEqual(await leased(world, NOW), ['C:0 of lease until 30']);
      assert.equal((await world.eventsSince(mark)).filter((text) => text.startsWith('lease.expired')).length, 2);
      assert.equal(await world.store.deleteExpiredLeases(NOW + 20), 0);
    },
  ],
  [
    'W69 a lease that outlives the spend: held when it confirms, when it is undone, when it confirms again, until it is 3 deep',
    async (world) => {
      await world.create('A', { block: await world.sync(1) });
      await world.lease('A:0', { durationMs: 60_000, releaseAfterSpendConfs: 3 });
      await world.create('B', { spends: ['A:0'] });
      assert.deepEqual(await leased(world), ['A:0 of lease until 60000']);
      await world.create('B', { block: await world.sync(2) });
      await world.sync(3);
      const late = NOW + 1_000_000;
      assert.deepEqual(await leased(world, late), ['A:0 of lease until ever']);
      await world.store.rollbackToBlock(2);
      assert.deepEqual(await leased(world, late), ['A:0 of lease until ever']);
      await world.create('B', { block: await world.sync(2, 1) });
      await world.sync(3, 1);
      assert.deepEqual(await leased(world, late), ['A:0 of lease until ever']);
      const mark = await world.mark();
      await world.sync(4, 1);
      assert.deepEqual(await leased(world, NOW), []);
      assert.deepEqual(
        (await world.eventsSince(mark)).map((text) => text.split(' ')[0]),
        ['sync.tip', 'lease.released'],
      );
    },
  ],
  [
    'W69 such a lease ends in time if no block is older, and by its owner while the coin is spent',
    async (world) => {
      for (const name of ['A', 'C']) await world.create(name);
      await world.lease('A:0', { durationMs: 500, releaseAfterSpendConfs: 3 });
      await world.lease('C:0', { durationMs: 60_000, releaseAfterSpendConfs: 3 });
      const block = { ...blockAt(9), timestamp: NOW / 1000 + 1 };
      await world.store.updateWallet(world.wallet, { syncedTo: block });
      await world.create('B', { spends: ['A:0', 'C:0'], block });
      assert.deepEqual(await leased(world, NOW + 500), ['C:0 of lease until ever']);
      await world.refused('LEASE_OF_ANOTHER', () => release(world, 'C:0', 'other', NOW * 2));
      await release(world, 'C:0', 'lease', NOW * 2);
      assert.deepEqual(await leased(world), ['A:0 of lease until 500']);
    },
  ],
];
