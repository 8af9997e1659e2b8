/** A store with something in every index, and one change of each kind, for tests of what a change that fails leaves. */
import assert from 'node:assert/strict';
import type { Engine } from '../../../src/engine/engine.ts';
import { dump } from '../../../src/testing/columns-dump.ts';
import { TOTALS_KEY } from '../../../src/txstore/embedded/columns.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { ANYBODY, idOf, outpointOf, type TxWorld } from './world.ts';

/** P with children on three pages, some mined, some not, losers, and preservations: every index has keys. */
export async function fillIndexes(world: TxWorld): Promise<void> {
  await world.add('P', { at: 90, mined: 90, outputs: 300 });
  for (let n = 0; n < 300; n += 10) await world.add(`C${n}`, { at: 100 + n, spends: [`P:${n}`], ...(n % 20 === 0 ? { mined: 100 } : {}) });
  await world.add('L', { at: 100, spends: ['P:0'], competes: true, isConflicting: true });
  await world.add('Q', { at: 90, mined: 90, spends: ['P:299'] });
  await world.add('D', { at: 100, mined: 100, spends: ['Q:0'] });
  await world.add('V', { at: 90, mined: 90, outputs: 2 });
  await world.add('H', { at: 90, mined: 90, spends: ['V:0'] });
  await world.add('I', { at: 99, mined: 99, spends: ['H:0'] });
  await world.store.preserve(['P', 'C0'].map(idOf), 1000, 100);
}

const SMALL = [1, 2].map((n) => ({ txId: idOf(`S${n}`), inputs: [outpointOf('P:7')], outputs: [{ amount: 1n, script: ANYBODY }] }));
const LARGE = { txId: idOf('N'), inputs: [], outputs: Array(1000).fill({ amount: 1n, script: ANYBODY }) };

/** One of each kind. */
export const CHANGES: readonly ((world: TxWorld) => Promise<unknown>)[] = [
  ({ store }) => store.create([LARGE], 200),
  ({ store }) => store.create(SMALL, 200),
  (world) => world.spend('F', ['P:6', 'V:1'], 200),
  (world) => world.spend('E', ['P:295', 'P:5'], 200),
  (world) => world.unspend('P:10', 'C10', 200),
  (world) => world.mine(['C10', 'C30'], 200),
  (world) => world.unmine(['C0'], 100, 200),
  ({ store }) => store.markOnBestChain(['C20', 'C40'].map(idOf), false, 200),
  ({ store }) => store.setConflicting([idOf('P')], true, 200),
  // It is due, and stays so.
  ({ store }) => store.setConflicting([idOf('Q')], true, 200),
  ({ store }) => store.processConflicting([idOf('L')], 200),
  ({ store }) => store.setLocked(['P', 'Q'].map(idOf), true, 200),
  ({ store }) => store.preserve(['Q', 'D'].map(idOf), 300, 200),
  ({ store }) => store.expirePreservations(1000),
  ({ store }) => store.delete(['P', 'L'].map(idOf)),
  (world) => removeQ(world),
  (world) => removeH(world),
];

/** As a pass at 387 removes H, where it lies: after a change that failed nothing is at hand. */
async function removeH({ store }: TxWorld): Promise<void> {
  await store.readChildren([idOf('I')]);
  const { deleted, tombstonesWritten } = await store.removeNext!({ requested: 387, allowed: 387, window: 288 }, null, 10);
  assert.deepEqual([deleted, tombstonesWritten], [[idOf('H')], 1]);
}

/** As a pass at 400 removes Q. */
async function removeQ({ store }: TxWorld): Promise<void> {
  const [parent] = await store.readParents([{ txId: idOf('Q') }]);
  const [read] = await store.readChildren([idOf('D')]);
  assert.ok(parent !== null && read.kind === 'present');
  const children = [{ txId: idOf('D'), version: read.child.version }];
  const { deleted, tombstonesWritten } = await store.removeParents({ height: 400, parents: [{ parent, children }], cursor: null });
  assert.deepEqual([deleted.length, tombstonesWritten], [1, 1]);
}

/** Every row but the one with the mark, which is another after each change. */
export function contentOf(engine: Engine): readonly (readonly string[])[] {
  const totals = `${toHex(TOTALS_KEY)} `;
  return [...dump(engine).values()].map((rows) => rows.filter((row) => !row.startsWith(totals)));
}
