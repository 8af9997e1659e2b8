/** SD18 to SD28, SD35, SD44 to SD46, SD52, SD53, SD66, SD67: what every operation does to a record. */
import assert from 'node:assert/strict';
import { slotHash } from '../../../src/txstore/rules/slots.ts';
import type { TxStore } from '../../../src/txstore/store.ts';
import type { TxScenario } from '../scenarios.ts';
import { ANYBODY, blockAt, idOf, nameOf, outpointOf, TxWorld, withMethods } from '../support/world.ts';

/** P of one output, mined at 1000 and spent by C at 1000: due at 1288. */
async function spentParent(open: Parameters<TxScenario[1]>[0]): Promise<TxWorld> {
  const world = await TxWorld.open(open);
  await world.add('P', { at: 1000, mined: 1000 });
  await world.add('C', { at: 1000, mined: 1000, spends: ['P:0'] });
  assert.equal(await world.dueAt('P'), 1288);
  return world;
}

export const markScenarios: readonly TxScenario[] = [
  [
    'SD18 SD19 a pruned child leaves a tombstone, and cannot be spent again',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 500 });
      await world.add('C', { at: 100, mined: 100, spends: ['P:400'] });
      await world.add('D', { at: 100, mined: 100, spends: ['C:0'] });
      assert.deepEqual(await world.pass(388), ['C']);
      assert.deepEqual((await world.get('P')).tombstones, [{ txId: idOf('C'), height: 388 }]);
      await world.refused('INVALID_SPEND', () => world.spend('C', ['P:400'], 400));
      await world.unspend('P:400', 'C', 400);
      assert.deepEqual(await world.tombstones('P'), ['C']);
      await world.refused('INVALID_SPEND', () => world.spend('C', ['P:400'], 400));
      await world.spend('E', ['P:400'], 400);
    },
  ],
  [
    'SD19 a tombstone outlives the slot that named the child',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 3 });
      await world.add('C', { at: 100, mined: 100, spends: ['P:0', 'P:1'] });
      await world.add('D', { at: 100, mined: 100, spends: ['C:0'] });
      assert.deepEqual(await world.pass(388), ['C']);
      for (const output of ['P:0', 'P:1', 'P:2']) await world.refused('INVALID_SPEND', () => world.spend('C', [output], 400));
      await world.unspend('P:0', 'C', 400);
      assert.deepEqual((await world.get('P')).tombstones, [{ txId: idOf('C'), height: 388 }]);
      for (const output of ['P:0', 'P:1', 'P:2']) await world.refused('INVALID_SPEND', () => world.spend('C', [output], 400));
      await world.add('E', { at: 400, mined: 400, spends: ['P:0', 'P:2'] });
      assert.deepEqual(await world.pass(688), ['P']);
    },
  ],
  [
    'SD20 SD21 SD22 a record that only another branch holds is not due',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.store.create(
        [{ txId: idOf('P'), inputs: [], outputs: [{ amount: 1n, script: ANYBODY }], blocks: [blockAt(900, 'side')] }],
        950,
      );
      await world.add('C', { at: 1000, spends: ['P:0'] });
      assert.equal(await world.dueAt('P'), null);
      await world.store.markOnBestChain([idOf('P')], true, 1010);
      assert.equal(await world.dueAt('P'), 1298);
      assert.equal((await world.get('P')).unminedSince, null);
      await world.store.markOnBestChain([idOf('P')], false, 1020);
      await world.store.markOnBestChain([idOf('P')], false, 1030);
      assert.deepEqual([await world.dueAt('P'), (await world.get('P')).unminedSince], [null, 1020]);
      await world.refused('STORE_DAMAGED', () => world.store.markOnBestChain(['P', 'X', 'Y'].map(idOf), true, 1040));
    },
  ],
  [
    'SD23 SD24 an output that is unspent again takes the record out of the index',
    async (open) => {
      await using world = await spentParent(open);
      await world.refused('SPENT', () => world.unspend('P:0', 'X', 1050));
      await world.unspend('P:0', 'C', 1100);
      assert.equal(await world.dueAt('P'), null);
      assert.deepEqual(await world.pass(1500), []);
      await world.unspend('P:0', 'C', 1500);
      await world.spend('C', ['P:0'], 1600);
      assert.equal(await world.dueAt('P'), 1888);
    },
  ],
  [
    'SD25 SD26 a record is due as long as some block of the best chain holds it',
    async (open) => {
      await using world = await spentParent(open);
      await world.mine(['P'], 1001, 'side');
      assert.equal(await world.dueAt('P'), 1289);
      await world.unmine(['P'], 1001, 1002, 'side');
      assert.equal(await world.dueAt('P'), 1290);
      await world.unmine(['P'], 1000, 1003);
      assert.deepEqual([await world.dueAt('P'), (await world.get('P')).unminedSince], [null, 1003]);
    },
  ],
  [
    'SD27 a lock takes the record out of the index',
    async (open) => {
      await using world = await spentParent(open);
      await world.store.setLocked([idOf('P')], true, 1100);
      assert.equal(await world.dueAt('P'), null);
      await world.refused('TX_LOCKED', () => world.spend('X', ['P:0'], 1100));
      await world.store.setLocked([idOf('P')], false, 1200);
      assert.equal(await world.dueAt('P'), 1488);
    },
  ],
  [
    'SD28 what is preserved is decided on anew when the preservation ends',
    async (open) => {
      await using world = await spentParent(open);
      await world.add('Q', { at: 1000, mined: 1000 });
      await world.store.preserve(['P', 'Q'].map(idOf), 1600, 1100);
      await world.store.preserve(['P'].map(idOf), 1200, 1100);
      assert.equal(await world.dueAt('P'), null);
      assert.deepEqual(await world.pass(1288), []);
      assert.deepEqual(await world.pass(1599), []);
      assert.deepEqual(await world.pass(1600), []);
      assert.deepEqual([await world.dueAt('P'), await world.dueAt('Q')], [1888, null]);
      assert.deepEqual((await world.store.preserve(['P', 'X'].map(idOf), 1700, 1600)).map(nameOf), ['X']);
    },
  ],
  [
    'SD35 a reorganisation does not make what was unmined before younger',
    async (open) => {
      await using world = await TxWorld.open(open);
      const names = Array.from({ length: 100 }, (_, n) => `T${n}`);
      for (const [n, name] of names.entries()) await world.add(name, { at: 500 + n });
      await world.store.markOnBestChain(names.map(idOf), false, 1000);
      for (const [n, name] of names.entries()) assert.equal((await world.get(name)).unminedSince, 500 + n);
      await world.mine(['T0'], 600, 'side');
      await world.unmine(['T0'], 600, 1000, 'side');
      assert.equal((await world.get('T0')).unminedSince, 500);
      const old = await world.store.queryOldUnmined(509, 5);
      assert.deepEqual(
        old.map(({ txId, since }) => [nameOf(txId), since]),
        Array.from({ length: 5 }, (_, n) => [`T${n}`, 500 + n]),
      );
      const all: number[] = [];
      for await (const { since } of world.store.iterateUnmined()) all.push(since);
      assert.deepEqual(
        all,
        names.map((_, n) => 500 + n),
      );
    },
  ],
  [
    'SD44 a frozen output keeps the record',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 2 });
      await world.store.freeze([outpointOf('P:1')], 100);
      await world.refused('ALREADY_FROZEN', () => world.store.freeze([outpointOf('P:1')], 100));
      await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
      await world.refused('SPENT', () => world.store.freeze([outpointOf('P:0')], 100));
      await world.refused('NOT_FROZEN', () => world.store.unfreeze([outpointOf('P:0')], 100));
      await world.refused('FROZEN', () => world.spend('D', ['P:1'], 100));
      await world.refused('FROZEN', () => world.unspend('P:1', 'D', 100));
      assert.equal(await world.dueAt('P'), null);
      await world.store.unfreeze([outpointOf('P:1')], 100);
      await world.add('D', { at: 110, mined: 110, spends: ['P:1'] });
      assert.equal(await world.dueAt('P'), 398);
    },
  ],
  [
    'SD45 a reassigned output waits, and its record stays for ever',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, frozen: [0] });
      const hash = idOf('another hash');
      await world.refused('UTXO_NOT_FOUND', () => world.store.reassign(outpointOf('P:1'), hash, 10, 100));
      await world.store.reassign(outpointOf('P:0'), hash, 10, 100);
      await world.refused('NOT_FROZEN', () => world.store.reassign(outpointOf('P:0'), hash, 10, 100));
      await world.refused('FROZEN_UNTIL', () => world.spend('C', ['P:0'], 109));
      const before = slotHash(outpointOf('P:0'), 1n, ANYBODY);
      await world.refused('HASH_MISMATCH', () =>
        world.store.spend([{ txId: idOf('C'), inputs: [{ ...outpointOf('P:0'), hash: before }] }], 110),
      );
      await world.store.spend([{ txId: idOf('C'), inputs: [{ ...outpointOf('P:0'), hash }] }], 110);
      assert.equal(await world.dueAt('P'), null);
    },
  ],
  [
    'SD46 a record with an unspent output is never due',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 2 });
      await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
      assert.equal(await world.dueAt('P'), null);
      assert.deepEqual(await world.pass(100_000), []);
      const unsure = withDue(world, 'P');
      assert.deepEqual(await world.pass(100_001, unsure), []);
      assert.equal(world.kept('unspent_slot', unsure), 1);
    },
  ],
  [
    'SD52 a record stands in the index once, or not at all',
    async (open) => {
      await using world = await spentParent(open);
      await world.mine(['P'], 1012, 'side');
      assert.deepEqual(await dueList(world), ['P 1300']);
      await world.store.setLocked([idOf('P')], true, 1013);
      assert.deepEqual(await dueList(world), []);
      assert.equal(await world.store.countDue(10_000, 10), 0);
    },
  ],
  [
    'SD53 without retention nothing is ever due',
    async (open) => {
      await using world = await TxWorld.open(open, { retention: 0, window: 288 });
      await world.add('P', { at: 90, mined: 90 });
      await world.add('C', { at: 100, mined: 100, spends: ['P:0'], isConflicting: true });
      assert.deepEqual([await world.dueAt('P'), await world.dueAt('C')], [null, null]);
      assert.equal((await world.outcome(10_000)).reason, 'disabled');
    },
  ],
  [
    'SD66 blocks of unknown transactions are reported, with all that are missing, and nothing is half done',
    async (open) => {
      await using world = await TxWorld.open(open);
      const names = Array.from({ length: 200 }, (_, n) => `T${n}`);
      for (const name of names) await world.add(name, { at: 100 });
      await assert.rejects(world.mine([...names, 'X', 'Y'], 101), (error: { meta: { txIds: string[] } }) => error.meta.txIds.length === 2);
      await world.refused('TX_NOT_FOUND', () => world.mine([...names, 'X'], 101));
      await world.refused('INVALID_PARAM', () =>
        world.store.setMined([{ txId: idOf('T0'), index: 0 }], { hash: idOf('b'), height: 0 }, true, 1),
      );
      const hashes = await world.store.setMined([{ txId: idOf('T0'), index: 3 }], blockAt(101, 'side'), false, 101);
      assert.deepEqual(hashes, [[blockAt(101, 'side').hash]]);
      await world.mine(names, 102);
      await world.mine(names, 102);
      assert.deepEqual(
        (await world.get('T0')).blocks.map(({ height }) => height),
        [101, 102],
      );
    },
  ],
  [
    'SD67 a record that is being created cannot be spent; it is finished, mined or removed',
    async (open) => {
      await using world = await TxWorld.open(open);
      for (const name of ['P', 'Q', 'R']) await world.add(name, { at: 100, outputs: 1000, isCreating: true });
      await world.restart();
      await world.refused('TX_CREATING', () => world.spend('C', ['P:999'], 100));
      await world.store.finishCreate([idOf('P')], 100);
      await world.mine(['Q'], 101);
      await world.spend('C', ['P:999', 'Q:0'], 101);
      await world.store.delete([idOf('R')]);
      await world.refused('TX_NOT_FOUND', () => world.spend('C', ['R:0'], 101));
      await world.add('R', { at: 100 });
      await world.refused('TX_EXISTS', () => world.add('R', { at: 100 }));
    },
  ],
];

async function dueList(world: TxWorld): Promise<string[]> {
  return (await world.store.dueParents(10_000, null, 10)).map(({ txId, height }) => `${nameOf(txId)} ${height}`);
}

/** A pruner that is told that the record is due, as a wrong index would. */
function withDue(world: TxWorld, name: string): ReturnType<TxWorld['newPruner']> {
  const { store } = world;
  const dueParents = async (_: number, after: unknown) => (after === null ? [{ height: 1, txId: idOf(name) }] : []);
  const readParents: TxStore['readParents'] = async (due) =>
    (await store.readParents(due)).map((parent) => parent && { ...parent, deleteAtHeight: 1 });
  return world.newPruner({}, { store: withMethods(store, { dueParents, readParents }) });
}
