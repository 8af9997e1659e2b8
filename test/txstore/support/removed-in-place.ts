/** What a pass of the embedded store deletes where it lies: with parents that come later in the pass, and without those that must stay. */
import assert from 'node:assert/strict';
import { openMemory } from '../../../src/engine/memory.ts';
import { TX_STORE_COLUMNS } from '../../../src/txstore/embedded/columns.ts';
import { BreakingEngine } from './breaking-engine.ts';
import { openEmbedded } from './embedded.ts';
import { nameOf, type OpenTxStore, TxWorld } from './world.ts';

const open: OpenTxStore = (settings, limit) => openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit);

/** G is due at 398: its outputs are held by P, which is due at 388, and by Q. */
async function generations(opener = open): Promise<TxWorld> {
  const world = await TxWorld.open(opener);
  await world.add('G', { at: 90, mined: 90, outputs: 2 });
  await world.add('P', { at: 95, mined: 95, spends: ['G:0'] });
  await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
  await world.add('Q', { at: 110, mined: 110, spends: ['G:1'] });
  return world;
}

async function removed(world: TxWorld, heights: { readonly requested: number; readonly allowed: number }) {
  const { deleted, tombstonesWritten, others } = await world.store.removeNext!({ ...heights, window: 288 }, null, 1);
  return [deleted.map(nameOf), tombstonesWritten, others.map(({ txId }) => nameOf(txId))];
}

export async function removedInPlace(): Promise<void> {
  await using together = await generations();
  assert.deepEqual(await removed(together, { requested: 398, allowed: 398 }), [['P', 'G'], 0, []]);
  await together.opened.checkIndexes();
  assert.deepEqual(await together.names(), ['C', 'Q']);
  for (const heights of [
    // It may not go yet, or one of its children is too young.
    { requested: 1000, allowed: 397 },
    { requested: 397, allowed: 398 },
  ]) {
    await using apart = await generations();
    assert.deepEqual(await removed(apart, heights), [['P'], 1, []]);
    assert.deepEqual(await apart.tombstones('G'), ['P']);
    await apart.opened.checkIndexes();
    assert.deepEqual(await apart.pass(1000), ['G']);
  }
  await using rivals = await generations();
  await rivals.add('R', { at: 120, spends: ['G:0'], competes: true });
  assert.deepEqual(await removed(rivals, { requested: 398, allowed: 398 }), [['P'], 1, []]);
}

/** Of what was not committed nothing is believed. */
export async function removalThatFails(): Promise<void> {
  const engine = new BreakingEngine(openMemory(TX_STORE_COLUMNS));
  await using world = await generations((settings, limit) => openEmbedded(engine, settings, limit));
  const heights = { requested: 388, allowed: 388 };
  engine.isBroken = true;
  await assert.rejects(removed(world, heights), /the disk is gone/);
  engine.isBroken = false;
  assert.deepEqual(await world.tombstones('G'), []);
  assert.deepEqual(await world.pass(388), ['P']);
  assert.deepEqual(await world.tombstones('G'), ['P']);
}
