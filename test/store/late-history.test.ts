/** A history that is switched on, and off again, for a store that has blocks. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HISTORY_KEY_COLUMN, HISTORY_TX } from '../../src/projections/history/rows.ts';
import { assertCode } from '../support/harness.ts';
import { devnet, openWith, sourceTo, using } from './fill-store-rig.ts';

const ON = { set: ['utxo.history=true'] };
const OFF = { set: ['utxo.history=false'] };

it('begins with the next block, and begins anew when it was off', async () => {
  await using(openWith([], OFF), (store) => store.follow(sourceTo(10, 5)));
  await using(openWith([], ON), async (store) => {
    assert.deepEqual(store.reshaped, { added: ['history'], removed: [] });
    assert.deepEqual(store.fills(), [], 'there is nothing to fill');
    await store.follow(sourceTo(20, 5));
    assert.equal(
      store.read((query) => query.history().startHeight),
      devnet.chain.blocks[10].height,
    );
    assert.deepEqual(store.verify().faults, []);
  });
  await using(openWith([], OFF), async (store) => {
    assert.deepEqual(store.reshaped, { added: [], removed: ['history'] });
    store.read((query) => assertCode(() => query.history(), 'UNSUPPORTED', ['utxo.history']));
    await store.follow(sourceTo(25, 5));
  });
  await using(openWith([], ON), async (store) => {
    for (const column of [HISTORY_TX, HISTORY_KEY_COLUMN.address]) assert.deepEqual([...store.engine.scan(column)], [], column);
    await store.follow(sourceTo(30, 5));
    assert.equal(
      store.read((query) => query.history().startHeight),
      devnet.chain.blocks[25].height,
    );
    assert.deepEqual(store.verify().faults, []);
  });
});
