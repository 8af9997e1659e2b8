/**
 * Stores that came to a block in different ways have the same roots there: in
 * large groups, one block a commit, by way of other branches and back, closed
 * and opened between, pruned and compacted, with the trees switched on late,
 * and begun with a snapshot. The same roots also of blocks of the past, and
 * when they go on.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Block } from '../../src/ledgers/ledger.ts';
import type { Roots } from '../../src/query/proofs.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { applyIn, bitcoin, cardano, exported, imported, synced, temporary, type World, wander, withStore } from '../snapshot/world.ts';
import { KEEP_PROOFS } from '../support/crash-roots.ts';
import { TEST_SEED } from '../support/harness.ts';

const COUNT = 130;
/** Blocks of the past that are asked for, and how far stores go on. */
const PAST = [COUNT - 2, COUNT - 9, COUNT - 40];
const ON = 15;
/** Of the snapshot, and where trees are switched on late. */
const EARLIER = 70;
/** What can be had from unspent outputs alone. */
const FROM_OUTPUTS = KEEP_PROOFS.filter((setting) => setting.startsWith('proofs.'));
const PRUNING = ['utxo.pruneDepth=50', 'utxo.rollbackWindow=50', 'utxo.pruneBatchSize=7'];

/** Of a store at block COUNT: there, in the past, and a few blocks later. */
interface Said {
  readonly now: Roots;
  readonly past: readonly Roots[];
  readonly later: Roots;
}

function say(store: OpenStore, { blocks }: World): Said {
  assert.deepEqual(store.fold.head?.hash, blocks[COUNT - 1].hash);
  const at = ({ hash }: Block): string => store.network.dialect.formatId(hash);
  const said = { now: store.roots(), past: PAST.map((place) => store.roots(at(blocks[place]))) };
  applyIn(store, blocks.slice(COUNT, COUNT + ON), 4);
  return { ...said, later: store.roots() };
}

/** Without what a store that does not know all of history cannot have. */
function fromOutputs({ now, past, later }: Said): Said {
  const less = ({ csmt, setHash }: Roots): Roots => ({
    ...(csmt === undefined ? {} : { csmt }),
    ...(setHash === undefined ? {} : { setHash }),
  });
  return { now: less(now), past: past.map(less), later: less(later) };
}

/** By name, each a way to block COUNT. */
async function everyWay(world: World, folder: string): Promise<Map<string, Said>> {
  const place = (name: string): string => join(folder, name);
  const tell = (store: OpenStore): Said => say(store, world);
  const found = new Map<string, Said>();
  const { blocks } = world;
  found.set('grouped', await synced(world, place('grouped'), COUNT, 1000, tell, KEEP_PROOFS));
  found.set('one by one', await synced(world, place('single'), COUNT, 1, tell, KEEP_PROOFS));
  const roam = (store: OpenStore): Said => {
    wander(store, world, COUNT);
    return tell(store);
  };
  found.set('through rollbacks', await withStore(world, place('wandered'), roam, KEEP_PROOFS));
  for (const count of [20, 60, 101]) await withStore(world, place('reopened'), (store) => goOn(store, blocks, count, 3), KEEP_PROOFS);
  found.set('in several sittings', await withStore(world, place('reopened'), (store) => tell(goOn(store, blocks, COUNT, 6)), KEEP_PROOFS));
  const prune = (store: OpenStore): Said => {
    for (let count = 10; count <= COUNT; count += 10) while (!goOn(store, blocks, count, 4).prune().done);
    return tell(store);
  };
  found.set('pruned on the way', await withStore(world, place('pruned'), prune, [...KEEP_PROOFS, ...PRUNING]));
  await synced(world, place('late'), EARLIER, 9, () => {});
  found.set(
    'switched on late',
    await withStore(world, place('late'), async (store) => tell(await fillMeanwhile(store, blocks)), FROM_OUTPUTS),
  );
  await synced(world, place('early'), EARLIER, 10, (store) => exported(store, place('snapshot')));
  await imported(world, place('snapshot'), place('begun'), FROM_OUTPUTS);
  found.set('from a snapshot', await withStore(world, place('begun'), (store) => tell(goOn(store, blocks, COUNT, 5)), FROM_OUTPUTS));
  return found;
}

/** To the first `count` blocks, from wherever it is. */
function goOn(store: OpenStore, blocks: readonly Block[], count: number, size: number): OpenStore {
  const head = store.fold.head;
  const done = head === null ? 0 : 1 + blocks.findIndex(({ hash }) => Buffer.from(hash).equals(head.hash));
  applyIn(store, blocks.slice(done, count), size);
  return store;
}

/** A few outputs between any two blocks. */
async function fillMeanwhile(store: OpenStore, blocks: readonly Block[]): Promise<OpenStore> {
  assert.deepEqual(store.roots(), {}, 'nothing is said before it is ready');
  let count = EARLIER;
  const onStep = (): void => void goOn(store, blocks, Math.min(COUNT, ++count), 2);
  assert.ok(await store.fill({ limits: { rows: 4, bytes: 1 << 20 }, onStep }));
  assert.ok(count > EARLIER + 5, 'blocks came while it was filled');
  return goOn(store, blocks, COUNT, 3);
}

describe('stores that were synced differently have equal roots', () => {
  for (const world of [cardano(TEST_SEED + 3, 'ancient'), cardano(TEST_SEED + 4, 'conway'), bitcoin(TEST_SEED + 5)]) {
    it(world.name, async () => {
      const said = await everyWay(world, temporary());
      const first = said.get('grouped')!;
      for (const roots of [first.now, ...first.past, first.later]) {
        assert.ok(roots.csmt && roots.mmr && roots.setHash, `all are there: ${JSON.stringify(roots)}`);
      }
      assert.equal(new Set([first.now, ...first.past, first.later].map(({ mmr }) => mmr)).size, PAST.length + 2, 'and differ');
      for (const [how, roots] of said) {
        const complete = roots.now.mmr !== undefined;
        assert.equal(complete, !['switched on late', 'from a snapshot'].includes(how), how);
        assert.deepEqual(roots, complete ? first : fromOutputs(first), how);
      }
    });
  }
});
