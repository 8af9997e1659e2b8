/**
 * A snapshot of a block is the same bytes from every store that is there: one
 * block a commit or many, by way of another branch, keeping much or little,
 * itself begun with a snapshot, or long past that block.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { verifySnapshot } from '../../src/store/snapshots.ts';
import { TEST_SEED } from '../support/harness.ts';
import { applyIn, bitcoin, cardano, exported, imported, synced, temporary, type World, wander, withStore } from './world.ts';

const COUNT = 140;
const EARLIER = 60;

async function everyWay(world: World): Promise<void> {
  const folder = temporary();
  const place = (name: string): string => join(folder, name);
  const take = (name: string) => (store: Parameters<typeof exported>[0]) => exported(store, place(name));
  const first = await synced(world, place('grouped-store'), COUNT, 1000, take('grouped'));
  assert.ok(first.size > 5, `${first.size} files`);
  const same = (files: ReadonlyMap<string, string>, how: string): void => {
    assert.deepEqual([...files.keys()], [...first.keys()], how);
    for (const [name, text] of files) assert.ok(text === first.get(name), `${how}: ${name}`);
  };
  same(await synced(world, place('single-store'), COUNT, 1, take('single')), 'one by one');
  same(await synced(world, place('rich-store'), COUNT, 9, take('rich'), world.everything), 'with all it can keep');
  same(
    await withStore(world, place('wandered-store'), (store) => {
      wander(store, world, COUNT);
      return take('wandered')(store);
    }),
    'through rollbacks',
  );
  const past = await synced(world, place('past-store'), world.blocks.length, 50, (store) =>
    exported(store, place('past'), world.blocks[COUNT - 1]),
  );
  same(past, 'from a later block');

  await synced(world, place('early-store'), EARLIER, 10, take('early'));
  await imported(world, place('early'), place('begun-store'));
  const begun = await withStore(world, place('begun-store'), (store) => {
    applyIn(store, world.blocks.slice(EARLIER, COUNT), 4);
    return take('begun')(store);
  });
  same(begun, 'from a snapshot');
  await imported(world, place('grouped'), place('again-store'), world.everything);
  same(await withStore(world, place('again-store'), take('again'), world.everything), 'out again as it came in');
  const { chunks } = await verifySnapshot(place('grouped'));
  assert.equal(chunks.length, first.size - 1);
}

describe('a snapshot is the same bytes however the store was synced', () => {
  for (const world of [cardano(TEST_SEED, 'ancient'), cardano(TEST_SEED + 1, 'conway'), bitcoin(TEST_SEED + 2)]) {
    it(world.name, () => everyWay(world));
  }
});
