/** Old events are forgotten: who is told so, and what stays right without them. */
import assert from 'node:assert/strict';
import { isUnspentError } from '../../../src/util/errors.ts';
import { WALLET_EVENTS_TRIM_MAX } from '../../../src/util/limits.ts';
import { listReorgEffects } from '../../../src/wallet/reorg-effects.ts';
import type { Scenario } from '../scenarios.ts';
import { blockAt, type World } from '../support/world.ts';

/** Two reorganisations that a feed undoes block by block, with transactions, and one between them of one call. */
async function reorganise(world: World): Promise<void> {
  for (const height of [1, 2, 3, 4]) await world.create(`A${height}`, { block: await world.sync(height) });
  for (const height of [4, 3, 2]) await world.store.rollbackToBlock(height);
  await world.create('coinbase', { block: await world.sync(2, 1) });
  await world.create('child', { spends: ['coinbase:0'] });
  await world.sync(3, 1);
  await world.store.rollbackToBlock(2);
  for (const height of [2, 3]) await world.create(`B${height}`, { block: await world.sync(height, 2) });
  for (const height of [3, 2]) await world.store.rollbackToBlock(height);
  await world.create('last', { block: await world.sync(2, 3) });
}

export const eventScenarios: readonly Scenario[] = [
  [
    'events but the newest are forgotten; a reader who is behind is told where to go on, others miss nothing',
    async (world) => {
      for (const name of ['A', 'B', 'C']) await world.create(name);
      const { newest } = await world.store.eventRange();
      const last = await world.store.listEvents(newest - 2, 9);
      assert.equal(await world.store.trimEvents(2), newest - 2);
      assert.deepEqual(await world.store.eventRange(), { trimmed: newest - 2, newest });
      assert.deepEqual(await world.store.listEvents(newest - 2, 9), last);
      for (const walletId of [undefined, world.wallet]) {
        await assert.rejects(world.store.listEvents(newest - 3, 9, walletId), (error) => {
          assert.ok(isUnspentError(error, 'EXPIRED'));
          assert.deepEqual(error.meta, { after: newest - 3, newest });
          return true;
        });
      }
      await world.changesNothing(async () => assert.equal(await world.store.trimEvents(2), 0));
      await world.changesNothing(async () => assert.equal(await world.store.trimEvents(1000), 0));
      await world.create('D');
      assert.equal((await world.store.listEvents(newest, 1))[0].sequence, newest + 1, 'numbers go on');
      for (const keep of [-1, 0.5, Number.NaN]) await world.refused('INVALID_PARAM', () => world.store.trimEvents(keep));
      await world.store.trimEvents(0);
      const { newest: end } = await world.store.eventRange();
      assert.deepEqual(await world.store.listEvents(end, 9), []);
    },
  ],
  [
    'wherever events are cut, a reorganisation is told as a whole or not at all',
    async (world) => {
      await reorganise(world);
      const all = await listReorgEffects(world.store, world.wallet, { limit: 10 });
      assert.deepEqual(
        all.map(({ from, to, txs }) => [from, to, txs.length]),
        [
          [3, 1, 2],
          [3, 1, 2],
          [4, 1, 3],
        ],
      );
      const { newest } = await world.store.eventRange();
      for (let keep = newest - 1; keep >= 0; keep--) {
        assert.equal(await world.store.trimEvents(keep), 1);
        const known = all.filter(({ sequence }) => sequence > newest - keep);
        assert.deepEqual(await listReorgEffects(world.store, world.wallet, { limit: 10 }), known, `${keep} events are kept`);
      }
      await world.store.rollbackToBlock(2);
      const [later, ...others] = await listReorgEffects(world.store, world.wallet, { limit: 10 });
      assert.deepEqual([later.from, later.to, others.length], [2, 1, 0]);
    },
  ],
  [
    `at most ${WALLET_EVENTS_TRIM_MAX} events are forgotten at a time`,
    async (world) => {
      const pays = Array.from({ length: WALLET_EVENTS_TRIM_MAX }, () => ({ own: 0, amount: 1n }));
      await world.create('many', { block: await world.sync(1), pays });
      await world.store.rewindWallet(world.wallet, blockAt(1));
      const { newest } = await world.store.eventRange();
      assert.equal(await world.store.trimEvents(0), WALLET_EVENTS_TRIM_MAX);
      assert.equal(await world.store.trimEvents(0), newest - WALLET_EVENTS_TRIM_MAX);
    },
  ],
];
