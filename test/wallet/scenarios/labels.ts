/** Labels of whatever has one: for what is there, and for what comes later. */
import assert from 'node:assert/strict';
import type { WalletLabel } from '../../../src/wallet/label-records.ts';
import { LEASE_WITHOUT_END } from '../../../src/wallet/records.ts';
import { FROZEN_LEASE_ID } from '../../../src/wallet/rules/labels.ts';
import type { Scenario } from '../scenarios.ts';
import { firstCoins, idOf, NOW, nameOf, outpointOf, type World } from '../support/world.ts';

const SAYS_NOTHING = { origin: '', txId: null, index: null, label: null, spendable: null, others: '{}', isForeign: false } as const;

const ofTx = (name: string, label: string): WalletLabel => ({ ...SAYS_NOTHING, type: 'tx', ref: name, txId: idOf(name), label });

function ofOutput(text: string, spendable: boolean | null, label: string | null = null): WalletLabel {
  return { ...SAYS_NOTHING, type: 'output', ref: text, ...outpointOf(text), label, spendable };
}

const keep = (world: World, ...labels: WalletLabel[]) => world.store.keepLabels(world.wallet, labels, NOW);
const labelOf = async (world: World, name: string): Promise<string> => (await world.store.getTx(world.wallet, idOf(name))).label;

/** `A:0 lease`: every lease that counts now. */
async function leases(world: World): Promise<string[]> {
  const coins = await world.store.listLeases(world.wallet, NOW);
  return coins.map(({ outpoint, lease }) => `${nameOf(outpoint.txId)}:${outpoint.index} ${nameOf(lease!.id).trim()}`);
}

const FROZEN = nameOf(FROZEN_LEASE_ID).trim();

export const labelScenarios: readonly Scenario[] = [
  [
    'labels are kept in order, whatever they are of; what is not said stays, and the same again changes nothing',
    async (world) => {
      const address: WalletLabel = { ...SAYS_NOTHING, type: 'addr', ref: 'bc1q', label: 'shop', others: '{"height":5}' };
      const elsewhere: WalletLabel = { ...address, origin: "wpkh([d34db33f/84'/0'/0'])", isForeign: true, others: '{}' };
      const place: WalletLabel = { ...SAYS_NOTHING, type: 'input', ref: 'A:1', ...outpointOf('A:1'), label: 'in' };
      const key: WalletLabel = { ...SAYS_NOTHING, type: 'xpub', ref: 'xpub', label: 'ü' };
      const all = [ofTx('T', 'late'), address, elsewhere, place, ofOutput('A:0', false, 'out'), key];
      const said = { applied: 0, frozen: [], held: [], thawed: [] };
      assert.deepEqual(await keep(world, ...all.toReversed()), said);
      assert.deepEqual(await world.store.listLabels(world.wallet), all);
      assert.deepEqual(await world.store.listLabels(world.wallet, { after: address, limit: 2 }), [elsewhere, place]);
      await world.changesNothing(() => keep(world, ...all));
      await keep(world, ofOutput('A:0', null, 'output'), { ...address, label: null });
      const [, , , , output] = await world.store.listLabels(world.wallet);
      assert.deepEqual([output.label, output.spendable], ['output', false]);
    },
  ],
  [
    'a label that cannot be kept is refused, and so are those that come with it',
    async (world) => {
      await world.create('A');
      for (const label of ['x'.repeat(501), 'a\0', '\ud800'])
        await world.refused('INVALID_PARAM', () => keep(world, ofTx('B', 'x'), ofTx('A', label)));
      await world.refused('INVALID_PARAM', () => keep(world, { ...SAYS_NOTHING, type: 'addr', ref: '', label: 'x' }));
      await assert.rejects(world.store.keepLabels(99, [], NOW), { code: 'WALLET_UNKNOWN' });
      await assert.rejects(world.store.listLabels(99), { code: 'WALLET_UNKNOWN' });
    },
  ],
  [
    'a transaction has its label at once, or when it comes; one that is told with a label has that one',
    async (world) => {
      const { wallet } = world;
      const second = await world.addWallet();
      await world.create('A', { label: 'before' });
      assert.equal((await keep(world, ofTx('A', 'rent'), ofTx('B', 'later'), ofTx('C', 'not this'))).applied, 1);
      await world.create('B');
      await world.create('B', { walletId: second });
      await world.create('C', { label: 'mine' });
      assert.deepEqual([await labelOf(world, 'A'), await labelOf(world, 'B'), await labelOf(world, 'C')], ['rent', 'later', 'mine']);
      assert.equal((await world.store.getTx(second, idOf('B'))).label, '');
      await world.store.updateTx(wallet, idOf('B'), { label: '' });
      await world.create('B');
      assert.equal(await labelOf(world, 'B'), '');
      await keep(world, { ...ofTx('D', 'of another'), origin: 'wpkh([00000000])', isForeign: true });
      await world.create('D');
      assert.equal(await labelOf(world, 'D'), '');
    },
  ],
  [
    'an output that is not to be spent is leased without end, and no selection has it',
    async (world) => {
      await world.create('A', { pays: [1, 2, 3].map((own) => ({ own, amount: 10n })) });
      const mark = await world.mark();
      const told = await keep(world, ofOutput('A:1', false), ofOutput('A:2', false), ofOutput('A:1', false));
      assert.deepEqual(told, { applied: 0, frozen: [outpointOf('A:1'), outpointOf('A:2')], held: [], thawed: [] });
      const prefix = Buffer.from(FROZEN_LEASE_ID.subarray(0, 8)).toString('hex');
      assert.deepEqual(await world.eventsSince(mark), [`lease.acquired A:1 ${prefix}`, `lease.acquired A:2 ${prefix}`]);
      const lease = { id: idOf('me'), now: NOW, durationMs: 1000 };
      const chosen = await world.store.selectAndLease(world.wallet, { now: NOW }, (coins) => ({ coins: firstCoins(coins, 9) }), lease);
      assert.deepEqual(chosen.coins, [outpointOf('A:0')]);
      assert.equal((await world.balance()).locked, 30n);
      const coin = await world.store.getCoin(world.wallet, outpointOf('A:1'), LEASE_WITHOUT_END - 1);
      assert.equal(coin.lease?.expiresAt, LEASE_WITHOUT_END);
      assert.deepEqual((await keep(world, ofOutput('A:1', true), ofOutput('A:0', true))).thawed, [outpointOf('A:1')]);
      assert.deepEqual(await leases(world), ['A:0 me', `A:2 ${FROZEN}`]);
    },
  ],
  [
    'an output that comes later than its label is frozen in the change in which it comes',
    async (world) => {
      const block = await world.sync(1);
      await keep(world, ofOutput('A:1', false), ofOutput('B:0', false));
      const pays = [1, 2].map((own) => ({ own, amount: 10n }));
      const mark = await world.mark();
      await world.create('A', { pays, block });
      const prefix = Buffer.from(FROZEN_LEASE_ID.subarray(0, 8)).toString('hex');
      assert.deepEqual((await world.eventsSince(mark)).slice(2), [
        'utxo.created A:0 10',
        'utxo.created A:1 10',
        `lease.acquired A:1 ${prefix}`,
      ]);
      assert.deepEqual(await leases(world), [`A:1 ${FROZEN}`]);
      // One that is spent as it comes is frozen when its spender is given up.
      await world.create('C', { spends: ['B:0'] });
      await world.create('B', { block });
      assert.deepEqual(await leases(world), [`A:1 ${FROZEN}`]);
      await world.invalidate('C');
      assert.deepEqual(await leases(world), [`A:1 ${FROZEN}`, `B:0 ${FROZEN}`]);
    },
  ],
  [
    'an output that somebody has leased is told, and frozen when that has ended; one that is spent is frozen for when it is free again',
    async (world) => {
      await world.create('A', { pays: [1, 2, 3].map((own) => ({ own, amount: 10n })) });
      await world.lease('A:0');
      await world.lease('A:1', { durationMs: null });
      await world.create('B', { spends: ['A:2'] });
      const told = await keep(world, ...[0, 1, 2].map((index) => ofOutput(`A:${index}`, false)));
      assert.deepEqual([told.held, told.frozen], [[outpointOf('A:0')], [outpointOf('A:1'), outpointOf('A:2')]]);
      await world.invalidate('B');
      assert.deepEqual(await leases(world), ['A:0 lease', 'A:1 lease', `A:2 ${FROZEN}`]);
      const later = await world.store.keepLabels(world.wallet, [ofOutput('A:0', false)], NOW + 1000);
      assert.deepEqual(later.frozen, [outpointOf('A:0')]);
      assert.deepEqual(await leases(world), [`A:0 ${FROZEN}`, 'A:1 lease', `A:2 ${FROZEN}`]);
    },
  ],
];
