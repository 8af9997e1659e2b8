/** SD01 to SD17, SD31 to SD34, SD38 to SD42: when a parent goes, by what its spenders are. */
import assert from 'node:assert/strict';
import type { ChildRead } from '../../../src/txstore/prune-store.ts';
import type { TxScenario } from '../scenarios.ts';
import { blockAt, idOf, NOBODY, nameOf, TxWorld, withMethods } from '../support/world.ts';

/** P of one output, mined at 900, is spent by C at 1000. */
async function parentAndChild(open: Parameters<TxScenario[1]>[0]): Promise<TxWorld> {
  const world = await TxWorld.open(open);
  await world.add('P', { at: 900, mined: 900 });
  await world.add('C', { at: 1000, spends: ['P:0'] });
  assert.equal(await world.dueAt('P'), 1288);
  return world;
}

export const timelineScenarios: readonly TxScenario[] = [
  [
    'SD01 SD02 a child of 287 blocks keeps its parent, one of 288 does not',
    async (open) => {
      await using world = await parentAndChild(open);
      await world.mine(['C'], 1001);
      assert.deepEqual(await world.pass(1288), []);
      assert.deepEqual(
        world.pruner.blocked(10).map(({ txId, reason, child, since }) => [nameOf(txId), reason, nameOf(child!), since]),
        [['P', 'child_recent', 'C', 1288]],
      );
      assert.deepEqual(await world.pass(1289), ['P']);
      assert.deepEqual(world.pruner.blocked(10), []);
    },
  ],
  [
    'SD03 SD08 a child that is never mined keeps its parent for ever, and can be mined then',
    async (open) => {
      await using world = await parentAndChild(open);
      for (const height of [1288, 1500, 2000, 10_000]) assert.deepEqual(await world.pass(height), []);
      assert.equal(world.kept('child_unmined'), 4);
      assert.equal(await world.dueAt('P'), 1288);
      await world.spend('C', ['P:0'], 10_000);
      await world.mine(['C'], 10_001);
    },
  ],
  [
    'SD04 SD09 a child that is mined late keeps its parent from then on',
    async (open) => {
      await using world = await parentAndChild(open);
      assert.deepEqual(await world.pass(1288), []);
      await world.mine(['C'], 1500);
      assert.deepEqual(await world.pass(1787), []);
      assert.deepEqual(await world.pass(1788), ['P']);
      await using other = await parentAndChild(open);
      await other.mine(['C'], 1100);
      assert.deepEqual(await other.pass(1288), []);
    },
  ],
  [
    'SD05 a child that was undone counts from the block that holds it now',
    async (open) => {
      await using world = await parentAndChild(open);
      await world.mine(['C'], 1100);
      await world.unmine(['C'], 1100, 1200);
      assert.deepEqual(await world.pass(1288), []);
      await world.mine(['C'], 1300);
      assert.deepEqual(await world.pass(1587), []);
      assert.deepEqual(await world.pass(1588), ['P']);
    },
  ],
  [
    'SD06 the first pass after a restart knows what is unmined',
    async (open) => {
      await using world = await parentAndChild(open);
      await world.restart();
      assert.deepEqual(await world.pass(1500), []);
      assert.equal(world.kept('child_unmined'), 1);
    },
  ],
  [
    'SD07 a reorganisation that is deeper than the window is refused after a pass relied on it',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 900, mined: 900 });
      await world.add('C', { at: 1000, spends: ['P:0'], mined: 1000 });
      await world.add('D', { at: 1001, mined: 1001 });
      assert.deepEqual(await world.pass(1288), ['P']);
      await world.refused('HORIZON', () => world.unmine(['C'], 1000, 1300));
      await world.refused('HORIZON', () => world.store.markOnBestChain([idOf('C')], false, 1300));
      await world.restart();
      await world.refused('HORIZON', () => world.unmine(['D', 'C'], 1000, 1300));
      await world.unmine(['D'], 1001, 1300);
    },
  ],
  [
    'SD10 SD11 every child counts',
    async (open) => {
      for (const isUndone of [false, true]) {
        await using world = await TxWorld.open(open);
        await world.add('P', { at: 90, mined: 90, outputs: 2 });
        await world.add('A', { at: 100, mined: 100, spends: ['P:0'] });
        await world.add('B', { at: 200, mined: 200, spends: ['P:1'] });
        if (isUndone) await world.unmine(['A'], 100, 300);
        assert.deepEqual(await world.pass(487), []);
        assert.deepEqual(await world.pass(488), isUndone ? [] : ['P']);
        assert.equal(world.kept('child_unmined'), isUndone ? 1 : 0);
      }
    },
  ],
  [
    'SD12 SD32 the last of many children counts, on whichever page its slot is',
    async (open) => {
      for (const [outputs, late] of [
        [100, 99],
        [300, 290],
      ] as const) {
        await using world = await TxWorld.open(open);
        await world.add('P', { at: 90, mined: 90, outputs });
        for (let n = 0; n < outputs; n++) await world.add(`C${n}`, { at: 100, spends: [`P:${n}`], ...(n === late ? {} : { mined: 100 }) });
        assert.deepEqual(await world.pass(1000), []);
        assert.deepEqual(nameOf(world.pruner.blocked(1)[0].child!), `C${late}`);
        await world.mine([`C${late}`], 1000);
        assert.deepEqual(await world.pass(1287), []);
        assert.deepEqual(await world.pass(1288), ['P']);
      }
    },
  ],
  [
    'SD13 SD40 a child that spends many outputs is read once',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 100 });
      await world.add('C', { at: 100, mined: 100, spends: Array.from({ length: 100 }, (_, n) => `P:${n}`) });
      assert.deepEqual(await world.pass(388), ['P']);
      assert.equal(world.pruner.counters.get('prune_children_verified_total'), 1);
      assert.equal(world.pruner.counters.get('prune_child_batches_total'), 1);
    },
  ],
  [
    'SD14 a child that is missing without a tombstone keeps its parent',
    async (open) => {
      await using world = await parentAndChild(open);
      await world.mine(['C'], 1000);
      await world.store.delete([idOf('C')]);
      assert.deepEqual(await world.pass(2000), []);
      assert.equal(world.kept('child_missing'), 1);
    },
  ],
  [
    'SD15 a child that cannot be read, or not in time, or not completely, keeps its parent',
    async (open) => {
      const failures: (() => Promise<readonly ChildRead[]>)[] = [
        () => Promise.reject(new Error('unreachable')),
        () => Promise.resolve([]),
        () => Promise.resolve([{ kind: 'failed', cause: 'damaged' }]),
        () => new Promise(() => {}),
      ];
      for (const readChildren of failures) {
        await using world = await parentAndChild(open);
        await world.mine(['C'], 1000);
        const store = withMethods(world.store, { readChildren });
        const pruner = world.newPruner({ childReadMs: 5 }, { store });
        assert.deepEqual(await world.pass(1500, pruner), []);
        assert.equal(world.kept('read_error', pruner), 1);
        assert.deepEqual(await world.pass(1501), ['P']);
      }
      await using world = await parentAndChild(open);
      await world.mine(['C'], 1000);
      let failing = 3;
      const store = withMethods(world.store, {
        readChildren: (txIds) => (failing-- > 0 ? Promise.reject(new Error('busy')) : world.store.readChildren(txIds)),
      });
      const pruner = world.newPruner({}, { store });
      assert.deepEqual(await world.pass(1500, pruner), ['P']);
      assert.equal(pruner.counters.get('prune_retries_total'), 3);
    },
  ],
  [
    'SD16 a child without a block of the best chain, or with heights that make no sense, keeps its parent',
    async (open) => {
      const child = { txId: idOf('C'), version: 1, unminedSince: null, isConflicting: false };
      const odd: readonly unknown[] = [
        { ...child, blocks: [] },
        { ...child, blocks: undefined },
        { ...child, blocks: [{ height: 0, isOnBestChain: true }] },
        { ...child, blocks: [{ height: '1000', isOnBestChain: true }] },
        { ...child, txId: new Uint8Array(31), blocks: [{ height: 1000, isOnBestChain: true }] },
        { ...child, unminedSince: undefined, blocks: [{ height: 1000, isOnBestChain: true }] },
        { ...child, blocks: [{ height: 1000, isOnBestChain: false }] },
      ];
      for (const facts of odd) {
        await using world = await parentAndChild(open);
        await world.mine(['C'], 1000);
        const read = { kind: 'present', child: facts } as ChildRead;
        const store = withMethods(world.store, { readChildren: async () => [read] });
        assert.deepEqual(await world.pass(1500, world.newPruner({}, { store })), []);
      }
      await using world = await parentAndChild(open);
      await world.store.markOnBestChain([idOf('C')], true, 1000);
      assert.deepEqual(await world.pass(1500), []);
      assert.equal(world.kept('child_unmined'), 1);
    },
  ],
  [
    'SD17 a loser without children goes after the retention, and out of the lists of its parents',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 2 });
      await world.add('L', { at: 100, spends: ['P:0'], competes: true, isConflicting: true });
      assert.deepEqual((await world.get('P')).conflictingChildren.map(nameOf), ['L']);
      assert.deepEqual(await world.pass(387), []);
      assert.deepEqual(await world.pass(388), ['L']);
      assert.deepEqual((await world.get('P')).conflictingChildren, []);
      assert.deepEqual(await world.tombstones('P'), []);
    },
  ],
  [
    'SD31 a child that was pruned before counts as stable',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 2 });
      await world.add('A', { at: 100, mined: 100, spends: ['P:0'] });
      await world.add('A2', { at: 100, mined: 100, spends: ['A:0'] });
      assert.deepEqual(await world.pass(388), ['A']);
      assert.deepEqual(await world.tombstones('P'), ['A']);
      await world.add('B', { at: 400, mined: 400, spends: ['P:1'] });
      assert.deepEqual(await world.pass(688), ['P']);
    },
  ],
  [
    'SD33 blocks of other branches do not make a child older, nor younger',
    async (open) => {
      for (const [side, best, gone] of [
        [900, 1200, false],
        [1250, 900, true],
      ] as const) {
        await using world = await TxWorld.open(open);
        await world.add('P', { at: 800, mined: 800 });
        await world.add('C', { at: 850, spends: ['P:0'] });
        await world.mine(['C'], side, 'side');
        await world.mine(['C'], best);
        assert.deepEqual(await world.pass(1300), gone ? ['P'] : []);
      }
    },
  ],
  [
    'SD34 an unmined record that competes for an output keeps the parent, whoever holds the slot',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90 });
      await world.add('A', { at: 100, mined: 100, spends: ['P:0'] });
      await world.add('B', { at: 100, spends: ['P:0'], competes: true, isConflicting: true });
      await world.store.preserve([idOf('B')], 2000, 100);
      assert.deepEqual(await world.pass(1000), []);
      assert.equal(world.kept('referenced'), 1);
      assert.equal(nameOf(world.pruner.blocked(1)[0].child!), 'B');
      await world.store.delete([idOf('B')]);
      assert.deepEqual(await world.pass(1001), ['P']);
    },
  ],
  [
    'SD38 a chain goes as a whole, in whichever chunks',
    async (open) => {
      for (const chunkParents of [1, 2, 1000]) {
        await using world = await TxWorld.open(open);
        const names = ['A', 'B', 'C', 'D'];
        await world.add('A', { at: 100, mined: 100 });
        for (const [n, name] of names.slice(1).entries()) await world.add(name, { at: 100, mined: 100, spends: [`${names[n]}:0`] });
        await world.add('E', { at: 100, mined: 100, spends: ['D:0'], outputs: 2 });
        assert.deepEqual(await world.pass(388, world.newPruner({ chunkParents, parallelChunks: 1 })), names);
        assert.deepEqual(await world.names(), ['E']);
      }
    },
  ],
  [
    'SD39 parent and child may be of one block',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 1000, mined: 1000 });
      await world.add('C', { at: 1000, mined: 1000, spends: ['P:0'] });
      assert.deepEqual(await world.pass(1287), []);
      assert.deepEqual(await world.pass(1288), ['P']);
    },
  ],
  [
    'SD41 what has no output that can be spent goes after the retention, once it is mined',
    async (open) => {
      await using world = await TxWorld.open(open);
      const outputs = [{ amount: 0n, script: NOBODY }];
      await world.store.create([{ txId: idOf('N'), inputs: [], outputs, blocks: [blockAt(1000)] }], 1000);
      await world.store.create([{ txId: idOf('U'), inputs: [], outputs }], 1000);
      assert.deepEqual(await world.pass(1287), []);
      assert.deepEqual(await world.pass(1288), ['N']);
    },
  ],
  [
    'SD42 SD43 a coinbase is spent when it is mature, and goes like others',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('K', { at: 1000, mined: 1000, isCoinbase: true });
      await world.refused('COINBASE_IMMATURE', () => world.spend('C', ['K:0'], 1099));
      await world.add('C', { at: 1100, mined: 1100, spends: ['K:0'] });
      assert.equal(await world.dueAt('K'), 1388);
      assert.deepEqual(await world.pass(1387), []);
      assert.deepEqual(await world.pass(1388), ['K']);
    },
  ],
];
