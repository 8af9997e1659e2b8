/** Batches of which one transaction is refused, on the embedded store: those before it must be as if they had never come. */
import assert from 'node:assert/strict';
import type { NewStoredTx, SpendingTx } from '../../../src/txstore/store.ts';
import { ANYBODY, idOf, type TxWorld } from './world.ts';

const spender = (name: string, ...inputs: readonly (readonly [string, number])[]): SpendingTx => ({
  txId: idOf(name),
  inputs: inputs.map(([parent, index]) => ({ txId: idOf(parent), index })),
});
const created = (name: string, parent: string): NewStoredTx => ({
  ...spender(name, [parent, 0]),
  outputs: [{ amount: 1n, script: ANYBODY }],
});

export async function refusedHalfWay(world: TxWorld): Promise<void> {
  const { store } = world;
  await world.add('P', { at: 90, mined: 90 });
  await world.add('Q', { at: 90, mined: 90, outputs: 2 });
  await store.spend([spender('A', ['Q', 0])], 91);
  // P would be spent and due, and Q be changed twice.
  const [first, second] = [spender('B', ['P', 0], ['Q', 1]), spender('C', ['Q', 0])];
  await assert.rejects(store.spend([first, second], 92), { code: 'SPENT' });
  await assert.rejects(store.spend([first, spender('C', ['nobody', 0])], 92), { code: 'TX_NOT_FOUND' });
  await store.setLocked([idOf('Q')], true, 92);
  await assert.rejects(store.spend([spender('B', ['P', 0]), spender('C', ['Q', 1])], 92), { code: 'TX_LOCKED' });
  await store.setLocked([idOf('Q')], false, 92);
  await assert.rejects(store.create([created('D', 'P'), created('P', 'Q')], 92), { code: 'TX_EXISTS' });
  await assert.rejects(store.create([created('D', 'P'), created('D', 'P')], 92), { code: 'TX_EXISTS' });
  const negative = { ...created('E', 'P'), outputs: [{ amount: -1n, script: ANYBODY }] };
  await assert.rejects(store.create([created('D', 'P'), negative], 92), { code: 'INVALID_PARAM' });
  assert.deepEqual(await store.batchGet([idOf('D')]), [null]);
  // What is at hand is still that of the store: others can have what was refused. After a reorganisation, so that a mark which
  // was left would be higher than the right one.
  await store.spend([spender('F', ['P', 0], ['Q', 1])], 91);
  await store.create([created('D', 'P')], 91);
  const [p, d] = await store.batchGet([idOf('P'), idOf('D')]);
  assert.deepEqual([p?.spentCount, p?.deleteAtHeight, d?.unminedSince], [1, 91 + store.settings.retention, 91]);
}
