/** SD63 to SD65: losers and winners. */
import assert from 'node:assert/strict';
import { toHex } from '../../../src/util/bytes.ts';
import type { UnspentError } from '../../../src/util/errors.ts';
import type { TxScenario } from '../scenarios.ts';
import { idOf, nameOf, outpointOf, TxWorld } from '../support/world.ts';

/** P:0 is spent by L, and L:0 by M; W competes for P:0. */
async function contest(open: Parameters<TxScenario[1]>[0]): Promise<TxWorld> {
  const world = await TxWorld.open(open);
  await world.add('P', { at: 90, mined: 90 });
  await world.add('L', { at: 100, spends: ['P:0'] });
  await world.add('M', { at: 100, spends: ['L:0'] });
  await world.add('W', { at: 110, spends: ['P:0'], competes: true, isConflicting: true });
  return world;
}

export const conflictScenarios: readonly TxScenario[] = [
  [
    'SD64 a winner takes the outputs of the losers, whose descendants lose, too',
    async (open) => {
      await using world = await contest(open);
      assert.deepEqual((await world.store.processConflicting([idOf('W')], 120)).map(nameOf), ['L', 'M']);
      const [p, l, m, w] = await Promise.all(['P', 'L', 'M', 'W'].map((name) => world.get(name)));
      assert.deepEqual(
        [p, l, m, w].map(({ isConflicting }) => isConflicting),
        [false, true, true, false],
      );
      assert.deepEqual(
        [p, l, m, w].map(({ deleteAtHeight }) => deleteAtHeight),
        [408, 408, 408, null],
      );
      assert.equal(nameOf(p.outputs[0].slot!.spender!.txId), 'W');
      assert.equal(p.isLocked, false);
      assert.deepEqual(p.conflictingChildren.map(nameOf), ['L']);
      await world.refused('TX_CONFLICTING', () => world.spend('X', ['L:0'], 120));
    },
  ],
  [
    'SD63 of losers the child goes first; the winner stays',
    async (open) => {
      await using world = await contest(open);
      await world.store.processConflicting([idOf('W')], 120);
      await world.mine(['W'], 120);
      const one = world.newPruner({ chunkParents: 1, parallelChunks: 1 });
      assert.deepEqual(await world.pass(408, one), ['M']);
      assert.deepEqual(await world.tombstones('L'), []);
      assert.deepEqual(await world.pass(409, one), ['L', 'P']);
      assert.deepEqual(await world.names(), ['W']);
    },
  ],
  [
    'SD65 a contest that cannot be decided changes nothing',
    async (open) => {
      await using world = await contest(open);
      await world.refused('TX_NOT_FOUND', () => world.store.processConflicting(['W', 'X'].map(idOf), 120));
      await world.refused('INVALID_PARAM', () => world.store.processConflicting(['W', 'M'].map(idOf), 120));
      await world.add('F', { at: 90, mined: 90, frozen: [0] });
      await world.add('V', { at: 110, spends: ['P:0', 'F:0'], competes: true, isConflicting: true });
      await world.refused('FROZEN', () => world.store.processConflicting([idOf('V')], 120));
      await world.add('K', { at: 90, mined: 90, isCoinbase: true });
      await world.add('U', { at: 110, spends: ['P:0', 'K:0'], competes: true, isConflicting: true });
      await world.refused('COINBASE_IMMATURE', () => world.store.processConflicting([idOf('U')], 120));
    },
  ],
  [
    'SD65 F12 a spender that is missing is told with both ids, and nothing is changed',
    async (open) => {
      await using world = await contest(open);
      const told = async (call: () => Promise<unknown>, missing: string, neededBy: string): Promise<void> => {
        const before = await world.opened.records();
        await assert.rejects(call, ({ code, meta }: UnspentError) => {
          assert.deepEqual([code, meta], ['STORE_DAMAGED', { missing: [toHex(idOf(missing))], neededBy: [toHex(idOf(neededBy))] }]);
          return true;
        });
        assert.deepEqual(await world.opened.records(), before);
      };
      await world.store.delete([idOf('M')]);
      await told(() => world.store.processConflicting([idOf('W')], 120), 'M', 'L');
      await told(() => world.store.setConflicting([idOf('L')], true, 120), 'M', 'L');
      await world.store.delete([idOf('L')]);
      await told(() => world.store.processConflicting([idOf('W')], 120), 'L', 'P');
    },
  ],
  [
    'SD64 winners of one chain win together, and a lock that was there stays',
    async (open) => {
      await using world = await contest(open);
      await world.add('W2', { at: 110, spends: ['W:0'], competes: true, isConflicting: true });
      await world.store.setLocked([idOf('P')], true, 115);
      await world.store.processConflicting(['W', 'W2'].map(idOf), 120);
      assert.equal(nameOf((await world.get('W')).outputs[0].slot!.spender!.txId), 'W2');
      assert.equal((await world.get('P')).isLocked, true);
    },
  ],
  [
    'SD64 what descendants of a loser hold of others is unspent, so that those are not deleted as spent',
    async (open) => {
      await using world = await contest(open);
      await world.add('Q', { at: 100, mined: 100 });
      await world.add('N', { at: 110, spends: ['M:0', 'Q:0'] });
      await world.store.processConflicting([idOf('W')], 120);
      assert.equal((await world.get('Q')).outputs[0].slot!.state, 'unspent');
      await world.mine(['W'], 120);
      for (const height of [408, 409, 410, 900]) await world.pass(height);
      assert.deepEqual(await world.names(), ['Q', 'W']);
    },
  ],
  [
    'SD63 a loser that is mined after all is not taken for spent by one that was deleted as a loser',
    async (open) => {
      await using world = await contest(open);
      await world.store.processConflicting([idOf('W')], 120);
      const one = world.newPruner({ chunkParents: 1, parallelChunks: 1 });
      assert.deepEqual(await world.pass(408, one), ['M']);
      await world.store.processConflicting([idOf('L')], 409);
      await world.mine(['L'], 409);
      assert.equal((await world.get('L')).outputs[0].slot!.state, 'unspent');
      await world.add('M', { at: 409, spends: ['L:0'], mined: 409 });
      assert.deepEqual(await world.pass(696), []);
      assert.deepEqual(await world.pass(697), ['L', 'W']);
      assert.deepEqual(await world.pass(698), ['P']);
      assert.deepEqual(await world.names(), ['M']);
    },
  ],
  [
    'SD63 what a loser holds when it is deleted is unspent again, and stays where nobody else spends it',
    async (open) => {
      await using world = await contest(open);
      await world.store.setConflicting([idOf('L')], true, 120);
      await world.store.delete([idOf('W')]);
      const one = world.newPruner({ chunkParents: 1, parallelChunks: 1 });
      assert.deepEqual(await world.pass(408, one), ['M']);
      assert.deepEqual([await world.tombstones('L'), (await world.get('L')).outputs[0].slot!.state], [[], 'unspent']);
      assert.deepEqual(await world.pass(409, one), ['L']);
      const { outputs, deleteAtHeight, tombstones } = await world.get('P');
      assert.deepEqual([outputs[0].slot!.state, deleteAtHeight, tombstones], ['unspent', null, []]);
      await world.add('L', { at: 410, mined: 410, spends: ['P:0'] });
      assert.deepEqual(await world.pass(698), ['P']);
    },
  ],
  [
    'SD63 a final transaction that is stored once more as a loser leaves what it spent spent',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 2 });
      await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
      await world.add('D', { at: 100, mined: 100, spends: ['C:0'] });
      assert.deepEqual(await world.pass(388), ['C']);
      await world.add('C', { at: 400, spends: ['P:0'], competes: true, isConflicting: true });
      assert.deepEqual(await world.pass(688), ['C']);
      assert.deepEqual([await world.tombstones('P'), (await world.get('P')).outputs[0].slot!.state], [['C'], 'spent']);
      await world.refused('INVALID_SPEND', () => world.spend('C', ['P:0'], 700));
    },
  ],
  [
    'SD64 a loser that was pruned as final cannot lose any more',
    async (open) => {
      await using world = await TxWorld.open(open);
      await world.add('P', { at: 90, mined: 90, outputs: 2 });
      await world.add('L', { at: 100, mined: 100, spends: ['P:0'] });
      await world.add('M', { at: 100, mined: 100, spends: ['L:0'] });
      assert.deepEqual(await world.pass(388), ['L']);
      await world.add('W', { at: 400, spends: ['P:0'], competes: true, isConflicting: true });
      await world.refused('HORIZON', () => world.store.processConflicting([idOf('W')], 400));
    },
  ],
  [
    'SD17 marks of losers are set with all that spend of them, and taken back one by one',
    async (open) => {
      await using world = await contest(open);
      const { spends, descendants } = await world.store.setConflicting([idOf('L')], true, 120);
      assert.deepEqual(spends, [{ outpoint: outpointOf('P:0'), spender: { txId: idOf('L'), vin: 0 } }]);
      assert.deepEqual(descendants.map(nameOf), ['M']);
      assert.deepEqual([await world.dueAt('L'), await world.dueAt('M')], [408, 408]);
      await world.store.setConflicting([idOf('L')], true, 130);
      assert.equal(await world.dueAt('L'), 408);
      await world.store.setConflicting([idOf('L')], false, 130);
      assert.deepEqual([await world.dueAt('L'), await world.dueAt('M')], [null, 408]);
      await world.refused('TX_NOT_FOUND', () => world.store.setConflicting(['L', 'X'].map(idOf), true, 130));
    },
  ],
];
