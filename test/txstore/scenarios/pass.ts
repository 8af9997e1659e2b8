/** SD29, SD30, SD36, SD37, SD47 to SD51, SD55, SD58, SD60, SD61: the pass itself. */
import assert from 'node:assert/strict';
import type { TxBlobs } from '../../../src/txstore/prune/blobs.ts';
import { toHex } from '../../../src/util/bytes.ts';
import type { TxScenario } from '../scenarios.ts';
import { idOf, nameOf, outpointOf, TxWorld, withMethods } from '../support/world.ts';

/** P and its child C, both mined at 1000: P is due, and C stable, at 1288. */
async function duePair(open: Parameters<TxScenario[1]>[0]): Promise<TxWorld> {
  const world = await TxWorld.open(open);
  await world.add('P', { at: 1000, mined: 1000 });
  await world.add('C', { at: 1000, mined: 1000, spends: ['P:0'] });
  return world;
}

/** So many parents with a child each, and a shared child for each four; all mined at 100. Their grandparent is G. */
async function family(world: TxWorld, count: number): Promise<void> {
  await world.add('G', { at: 90, mined: 90, outputs: count + 1 });
  for (let n = 0; n < count; n++) await world.add(`P${n}`, { at: 100, mined: 100, spends: [`G:${n}`], outputs: 2 });
  for (let n = 0; n < count; n++) await world.add(`C${n}`, { at: 100, mined: 100, spends: [`P${n}:0`] });
  for (let n = 0; n < count; n += 4) await world.add(`S${n}`, { at: 100, mined: 100, spends: [0, 1, 2, 3].map((k) => `P${n + k}:1`) });
}

export const passScenarios: readonly TxScenario[] = [
  [
    'SD29 old unmined records preserve their parents; if that fails, nothing is deleted',
    async (open) => {
      await using world = await duePair(open);
      await world.add('Q', { at: 1000, mined: 1000 });
      await world.add('U', { at: 1000, spends: ['Q:0'] });
      const preserve = () => Promise.reject(new Error('unreachable'));
      const failing = world.newPruner({ preserveParentsBlocks: 1440 }, { store: withMethods(world.store, { preserve }) });
      assert.equal((await world.outcome(1288, failing)).end, 'aborted');
      assert.deepEqual(await world.names(), ['C', 'P', 'Q', 'U']);
      assert.deepEqual(await world.pass(1288, world.newPruner({ preserveParentsBlocks: 1440 })), ['P']);
      assert.deepEqual([(await world.get('Q')).preserveUntil, await world.dueAt('Q')], [2728, null]);
    },
  ],
  [
    'SD29 a parent of an unmined record that is missing is reported with both ids',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('U', { at: 1000, spends: ['Q:0'], competes: true });
      const told: string[] = [];
      const onMissing = (pairs: readonly { missing: Uint8Array; neededBy: Uint8Array }[]) =>
        told.push(...pairs.map(({ missing, neededBy }) => `${toHex(missing).slice(0, 2)} ${toHex(neededBy).slice(0, 2)}`));
      await world.pass(1288, world.newPruner({ preserveParentsBlocks: 1440 }, { onMissing }));
      assert.deepEqual(told, ['51 55']);
    },
  ],
  [
    'SD30 consumers of the chain hold back what was due after they persisted it',
    async (open) => {
      for (const [persisted, gone] of [
        [[50], ['A']],
        [[0], ['A', 'B']],
        [[], ['A', 'B']],
        [[100_000], ['A', 'B']],
        [[0xffff_ffff], ['A', 'B']],
        [[100_000, 50], ['A']],
      ] as const) {
        await using world = await TxWorld.open(open, { retention: 100, window: 10 });
        for (const [name, height] of [
          ['A', 50],
          ['B', 51],
        ] as const) {
          await world.add(name, { at: height, mined: height });
          await world.add(`${name}2`, { at: height, mined: height, spends: [`${name}:0`] });
        }
        assert.deepEqual(await world.pass(200, world.newPruner({}, { persistedHeights: async () => persisted })), gone);
      }
    },
  ],
  [
    'SD36 every gate that is closed, or cannot be asked, keeps everything',
    async (open) => {
      await using world = await duePair(open);
      const gates = [
        ['index_not_ready', { isIndexReady: false }],
        ['reorganisation', { isReorganising: true }],
        ['reset', { isResetting: true }],
        ['catch_up', { isCatchingUp: true }],
        ['tip_below', { tipHeight: 1287 }],
        ['block_unfinished', { appliedHeight: 1287 }],
      ] as const;
      for (const [reason, change] of gates) {
        const conditions = async () => ({ ...world.conditions, ...change });
        assert.equal((await world.outcome(1288, world.newPruner({}, { conditions }))).reason, reason);
      }
      const down = { conditions: () => Promise.reject(new Error('down')) };
      assert.equal((await world.outcome(1288, world.newPruner({}, down))).reason, 'state_unknown');
      const unknown = { persistedHeights: () => Promise.reject(new Error('down')) };
      assert.equal((await world.outcome(1288, world.newPruner({}, unknown))).reason, 'state_unknown');
      assert.equal((await world.outcome(1288, world.newPruner({ heightMin: 1289 }))).reason, 'below_minimum');
      assert.deepEqual(await world.names(), ['C', 'P']);
      world.conditions.isCatchingUp = true;
      assert.deepEqual(await world.pass(1288, world.newPruner({ skipCatchUp: false })), ['P']);
    },
  ],
  [
    'SD48 a gate that closes during a pass ends it, and the next one goes on',
    async (open) => {
      await using world = await TxWorld.open(open);
      await family(world, 8);
      let asked = 0;
      const conditions = async () => ({ ...world.conditions, isReorganising: asked++ > 0 });
      const pruner = world.newPruner({ chunkParents: 3, parallelChunks: 1 }, { conditions });
      const { end, reason, deleted } = await world.outcome(388, pruner);
      assert.deepEqual([end, reason, deleted > 0 && deleted < 8], ['skipped', 'reorganisation', true]);
      assert.equal((await world.pass(389)).length, 8 - deleted);
    },
  ],
  [
    'SD47 SD48 whatever changes between the decision and the deletion keeps the parent',
    async (open) => {
      const changes: readonly ((world: TxWorld) => Promise<unknown>)[] = [
        (world) => world.unspend('P:0', 'C', 1288),
        (world) => world.unmine(['C'], 1000, 1288),
        async (world) => {
          await world.unmine(['C'], 1000, 1288);
          await world.mine(['C'], 1287);
        },
        (world) => world.store.preserve([idOf('P')], 2000, 1288),
        (world) => world.store.setLocked([idOf('P')], true, 1288),
        (world) => world.store.setConflicting([idOf('C')], true, 1288),
        (world) => world.store.delete([idOf('C')]),
        (world) => world.add('B', { at: 1288, spends: ['P:0'], competes: true }),
      ];
      for (const change of changes) {
        await using world = await duePair(open);
        const { store } = world;
        const racing = withMethods(store, {
          removeParents: async (removal) => {
            await change(world);
            return store.removeParents(removal);
          },
        });
        const pruner = world.newPruner({}, { store: racing });
        assert.deepEqual(await world.pass(1288, pruner).then((gone) => gone.filter((name) => name === 'P')), []);
        assert.equal(world.kept('changed', pruner), 1);
      }
    },
  ],
  [
    'SD49 chunks at the same time, of any size, delete what one chunk deletes',
    async (open) => {
      const results: string[] = [];
      for (const [chunkParents, parallelChunks] of [
        [1000, 1],
        [3, 8],
        [1, 1],
        [1, 64],
      ] as const) {
        // A store that decides by itself takes one chunk at a time; asked as others are, it takes them at the same time.
        for (const decides of [true, false]) {
          await using world = await TxWorld.open(open);
          await family(world, 32);
          const store = decides ? world.store : withMethods(world.store, { dueParents: world.store.dueParents.bind(world.store) });
          const gone = await world.pass(388, world.newPruner({ chunkParents, parallelChunks }, { store }));
          results.push(JSON.stringify([gone, await world.tombstones('G'), await world.names()]));
        }
      }
      assert.equal(new Set(results).size, 1);
      assert.equal((JSON.parse(results[0]) as string[][])[1].length, 32);
    },
  ],
  [
    'SD50 spends and blocks during a pass are not lost',
    async (open) => {
      await using world = await TxWorld.open(open);
      await family(world, 32);
      await world.add('Q', { at: 100, mined: 100, outputs: 64 });
      const pass = world.pass(388, world.newPruner({ chunkParents: 2, parallelChunks: 2 }));
      for (let n = 0; n < 64; n++) await world.add(`D${n}`, { at: 388, spends: [`Q:${n}`] });
      await world.mine(
        Array.from({ length: 64 }, (_, n) => `D${n}`),
        388,
      );
      assert.equal((await pass).length, 32);
      const { spentCount, deleteAtHeight } = await world.get('Q');
      assert.deepEqual([spentCount, deleteAtHeight], [64, 676]);
    },
  ],
  [
    'SD37 SD51 a pass that stops in the middle goes on after a restart, and skips nothing',
    async (open) => {
      for (const [stopAfter, decides] of [1, 3, 7].flatMap((count) => [[count, true] as const, [count, false] as const])) {
        await using world = await TxWorld.open(open);
        await family(world, 32);
        const { store } = world;
        let chunks = 0;
        const goesOn = (): boolean => chunks++ < stopAfter;
        const stopping = withMethods(
          store,
          decides && store.removeNext !== undefined
            ? { removeNext: (...args) => (goesOn() ? store.removeNext!(...args) : Promise.reject(new Error('killed'))) }
            : { removeParents: (removal) => (goesOn() ? store.removeParents(removal) : Promise.reject(new Error('killed'))) },
        );
        const pruner = world.newPruner({ chunkParents: 3, parallelChunks: 2 }, { store: stopping });
        assert.equal((await world.outcome(388, pruner)).end, 'aborted');
        await world.restart();
        await world.opened.checkIndexes();
        await world.pass(388);
        assert.equal((await world.names()).filter((name) => name.startsWith('P')).length, 0);
        assert.equal((await world.tombstones('G')).length, 32);
      }
    },
  ],
  [
    'SD55 heights do not wrap',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 5, mined: 5 });
      await world.add('C', { at: 5, mined: 5, spends: ['P:0'] });
      assert.deepEqual(await world.pass(10), []);
      const last = 0xffff_ffff;
      await world.add('Q', { at: last - 1, mined: last - 1 });
      await world.add('D', { at: last - 1, mined: last - 1, spends: ['Q:0'] });
      assert.equal(await world.dueAt('Q'), null);
      assert.deepEqual(await world.pass(last), ['P']);
      await world.refused('INVALID_PARAM', () => world.store.setLocked([idOf('Q')], true, last + 1));
      await world.refused('INVALID_PARAM', () => world.outcome(last + 1));
      await world.store.freeze([outpointOf('D:0')], last);
      await world.refused('INVALID_PARAM', () => world.store.reassign(outpointOf('D:0'), idOf('h'), 1, last));
    },
  ],
  [
    'SD58 a blob that cannot be deleted is counted, and swept later',
    async (open) => {
      await using world = await duePair(open);
      const blobs = new MemoryBlobs(world);
      for (const name of ['P', 'C']) blobs.ids.set(name, idOf(name));
      blobs.isBroken = true;
      const pruner = world.newPruner({}, { blobs });
      assert.deepEqual(await world.pass(1288, pruner), ['P']);
      // Once by the pass, and once by the sweep behind it.
      assert.equal(pruner.counters.get('prune_blob_errors_total'), 2);
      blobs.isBroken = false;
      assert.deepEqual([...blobs.ids.keys()], ['P', 'C']);
      assert.deepEqual(await world.pass(1289, pruner), []);
      assert.deepEqual([...blobs.ids.keys()], ['C']);
      assert.equal(pruner.counters.get('prune_blob_deleted_total'), 1);
      await world.add('D', { at: 1289, mined: 1289, spends: ['C:0'] });
      blobs.ids.delete('C');
      assert.deepEqual(await world.pass(1577, pruner), ['C']);
      assert.deepEqual(
        ['deleted', 'errors'].map((what) => pruner.counters.get(`prune_blob_${what}_total`)),
        [1, 2],
      );
    },
  ],
  [
    'SD60 a dry run counts what would go, and changes nothing',
    async (open) => {
      await using world = await TxWorld.open(open);
      await family(world, 8);
      await world.store.preserve([idOf('G')], 200, 100);
      const before = await world.opened.records();
      const dry = world.newPruner({ dryRun: true, chunkParents: 2, parallelChunks: 1, passMs: 0 });
      assert.equal((await world.outcome(388, dry)).deleted, 8);
      assert.deepEqual(await world.opened.records(), before);
      assert.equal((await world.pass(388)).length, dry.counters.get('prune_deleted_total'));
    },
  ],
  [
    'SD61 a pass once more deletes nothing, whoever asks',
    async (open) => {
      await using world = await TxWorld.open(open);
      await family(world, 8);
      assert.equal((await world.pass(388)).length, 8);
      assert.equal((await world.outcome(388)).reason, 'completed');
      const records = await world.opened.records();
      await world.store.setPassProgress({ ...(await world.store.pruneProgress()), lastCompleted: 0 });
      assert.deepEqual(await world.pass(388), []);
      assert.deepEqual(await world.opened.records(), records);
    },
  ],
];

/** Blobs in a map, whose deletion can be made to fail. */
class MemoryBlobs implements TxBlobs {
  /** By name. */
  readonly ids = new Map<string, Uint8Array>();
  readonly #world: TxWorld;
  isBroken = false;

  constructor(world: TxWorld) {
    this.#world = world;
  }

  async delete(txIds: readonly Uint8Array[]): Promise<number> {
    if (this.isBroken) throw new Error('unreachable');
    return txIds.filter((txId) => this.ids.delete(nameOf(txId))).length;
  }

  async orphans(limit: number): Promise<readonly Uint8Array[]> {
    const ids = [...this.ids.values()];
    const records = await this.#world.store.batchGet(ids);
    return ids.filter((_, n) => records[n] === null).slice(0, limit);
  }
}
