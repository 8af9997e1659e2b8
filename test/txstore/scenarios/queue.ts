/** SD54, SD56, SD57, SD59: settings, the queue of heights, and whether pruning keeps up. */
import assert from 'node:assert/strict';
import type { BacklogReport } from '../../../src/txstore/prune/backlog.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import type { TxScenario } from '../scenarios.ts';
import { idOf, TxWorld, withMethods } from '../support/world.ts';

/** A world whose passes wait at their beginning until they are let go. */
async function heldWorld(open: Parameters<TxScenario[1]>[0]) {
  const world = await TxWorld.open(open);
  const { store } = world;
  const gates: (() => void)[] = [];
  const held = withMethods(store, {
    expirePreservations: async (height) => {
      await new Promise<void>((resolve) => gates.push(resolve));
      return store.expirePreservations(height);
    },
  });
  const next = async (): Promise<void> => {
    while (gates.length === 0) await new Promise((resolve) => setImmediate(resolve));
    gates.shift()!();
  };
  return { world, held, next };
}

export const queueScenarios: readonly TxScenario[] = [
  [
    'SD54 a window below the deepest reorganisation, or a retention below the window, is refused',
    async (open) => {
      const refused = async (retention: number, window: number, depthMax: number): Promise<void> => {
        await assert.rejects(open({ retention, window }, { depthMax }), (error) => isUnspentError(error, 'CONFIG'));
      };
      await refused(288, 99, 100);
      await refused(1, 288, 100);
      await refused(287, 288, 100);
      await refused(-1, 288, 100);
      await refused(2 ** 32, 288, 100);
      for (const [retention, window, limit] of [
        [0, 288, { depthMax: 288 }],
        [288, 288, { depthMax: 288 }],
        [10, 288, { depthMax: 1000, force: true }],
      ] as const)
        await (await open({ retention, window }, limit)).close();
    },
  ],
  [
    'SD56 of heights that wait the newest runs next, the others are cancelled; waiters of one height share a pass',
    async (open) => {
      const { world, held, next } = await heldWorld(open);
      await using _ = world;
      const pruner = world.newPruner({}, { store: held });
      const asked = [99, 100, 101, 102, 102, 50, 99].map((height) => pruner.prune(height));
      await next();
      await next();
      const outcomes = await Promise.all(asked);
      assert.deepEqual(
        outcomes.map(({ end }) => end),
        ['completed', 'cancelled', 'cancelled', 'completed', 'completed', 'cancelled', 'completed'],
      );
      assert.equal(outcomes[3], outcomes[4]);
      assert.equal(outcomes[0], outcomes[6]);
      assert.equal(pruner.counters.get('prune_passes_total{result="completed"}'), 2);
      assert.equal(pruner.history.length, 5);
    },
  ],
  [
    'SD56 a pass that takes too long goes on later, from where it was',
    async (open) => {
      await using world = await TxWorld.open(open);
      for (let n = 0; n < 5; n++) {
        await world.add(`P${n}`, { at: 100, mined: 100 });
        await world.add(`C${n}`, { at: 100, mined: 100, spends: [`P${n}:0`] });
      }
      let clock = 0;
      const settings = { chunkParents: 2, parallelChunks: 1, passMs: 1 };
      const pruner = world.newPruner(settings, { now: () => clock++ });
      assert.equal((await pruner.prune(388)).end, 'completed');
      assert.equal(pruner.counters.get('prune_passes_total{result="timeout"}'), 2);
      assert.equal(pruner.counters.get('prune_candidates_total'), 5);
      assert.equal((await world.names()).length, 5);
    },
  ],
  [
    'SD56 what a pass of several parts has kept is all listed in the end, and counted',
    async (open) => {
      await using world = await TxWorld.open(open);
      for (let n = 0; n < 5; n++) {
        await world.add(`P${n}`, { at: 100, mined: 100 });
        await world.add(`C${n}`, { at: 100, spends: [`P${n}:0`] });
      }
      let clock = 0;
      const pruner = world.newPruner({ chunkParents: 2, parallelChunks: 1, passMs: 1 }, { now: () => clock++ });
      const { end, kept } = await pruner.prune(388);
      assert.deepEqual([end, kept, pruner.blocked(10).length], ['completed', 5, 5]);
      assert.equal(pruner.counters.get('prune_passes_total{result="timeout"}'), 2);
      await world.mine(['C0'], 389);
      await world.store.setLocked([idOf('P1')], true, 389);
      await pruner.prune(400);
      assert.equal(pruner.blocked(10).length, 4, 'a pass that looks at everything forgets what is due no more');
    },
  ],
  [
    'SD57 nothing is pruned at height 0',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.refused('INVALID_PARAM', () => world.outcome(0));
    },
  ],
  [
    'SD59 seven heights without a pass are a backlog, unless a gate is closed',
    async (open) => {
      const { world, held, next } = await heldWorld(open);
      await using _ = world;
      const reports: BacklogReport[] = [];
      const pruner = world.newPruner({}, { store: held, onBacklog: (report) => reports.push(report) });
      const asked = [100, 101, 102, 103, 104, 105].map((height) => pruner.prune(height));
      assert.equal(pruner.backlogState, 'ok');
      asked.push(pruner.prune(106));
      assert.equal(pruner.backlogState, 'behind');
      assert.equal((await pruner.gauges())['prune_lag_blocks'], 7);
      await next();
      await next();
      await Promise.all(asked);
      assert.equal(pruner.backlogState, 'ok');
      assert.deepEqual(
        reports.map(({ kind, state }) => `${kind} ${state}`),
        ['enter behind', 'recover ok'],
      );
      world.conditions.isCatchingUp = true;
      const skipping = world.newPruner();
      await skipping.prune(200);
      await skipping.prune(250);
      assert.equal(skipping.counters.get('prune_skipped_total{reason="catch_up"}'), 2);
      assert.deepEqual([skipping.backlogState, (await skipping.gauges())['prune_lag_blocks']], ['ok', 51]);
    },
  ],
  [
    'SD59 passes that take nearly as long as blocks are a risk, and three that fail a backlog',
    async (open) => {
      await using world = await TxWorld.open(open);
      let clock = 0;
      const { store } = world;
      const slow = withMethods(store, {
        expirePreservations: async (height) => {
          clock += 80;
          return store.expirePreservations(height);
        },
      });
      const pruner = world.newPruner({}, { store: slow, now: () => clock });
      for (let height = 100; height <= 111; height++) {
        await pruner.prune(height);
        clock += 20;
      }
      assert.equal(pruner.backlogState, 'at_risk');
      const failing = world.newPruner({}, { store: withMethods(store, { expirePreservations: () => Promise.reject(new Error('down')) }) });
      for (const height of [120, 121, 122]) assert.equal((await failing.prune(height)).end, 'aborted');
      assert.equal(failing.backlogState, 'behind');
    },
  ],
];
