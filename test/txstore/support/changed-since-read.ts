/** F4: what a pass has read of the index before a record changed is not what it decides on. */
import assert from 'node:assert/strict';
import { idOf, type OpenTxStore, TxWorld } from './world.ts';

export async function changedSinceRead(open: OpenTxStore): Promise<void> {
  await using world = await TxWorld.open(open);
  await world.add('P', { at: 90, mined: 90 });
  await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
  const due = await world.store.dueParents(388, null, 10);
  assert.deepEqual(
    due.map(({ height, txId }) => ({ height, txId })),
    [{ height: 388, txId: idOf('P') }],
  );
  await world.unspend('P:0', 'C', 200);
  const [parent] = await world.store.readParents(due);
  assert.deepEqual([parent?.deleteAtHeight, parent?.hasUnspentSlot, parent?.children], [null, true, []]);
}
