/**
 * A store that begins with a snapshot and follows the chain from there is, above
 * that block, the store it would be had it begun with the first one: columns,
 * answers, rollbacks. What it lacks is listed here: blocks, transactions, spends
 * and undo records from before.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Block } from '../../src/ledgers/ledger.ts';
import { outpointIndex, outpointTxId } from '../../src/ledgers/outpoint.ts';
import { CHAIN } from '../../src/projections/chain.ts';
import { SPENT_AT } from '../../src/projections/coin.ts';
import { SPENT } from '../../src/projections/utxo.ts';
import type { OpenStore } from '../../src/store/store.ts';
import { readU32, toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { assertRefused, assertSameRows, dump, TEST_SEED } from '../support/harness.ts';
import { applyIn, bitcoin, cardano, exported, imported, synced, temporary, type World, withStore } from './world.ts';

/** Columns that follow from the unspent set alone. */
const OF_THE_SET = /^(utxo_(?!spent)|balance_|csmt$)/;
/** Rows of these are there only from the snapshot's block on. */
const FROM_THERE_ON = ['chain', 'chain_hash', 'tx', 'utxo_spent', 'delta', 'datum', 'script'];
const RESERVED = 'ff';

interface Side {
  readonly store: OpenStore;
  readonly rows: ReadonlyMap<string, readonly string[]>;
}

const sideOf = (store: OpenStore): Side => ({ store, rows: dump(store.engine) });

function reserved({ rows }: Side): Map<string, string> {
  const found = rows.get(CHAIN)!.filter((row) => row.startsWith(RESERVED));
  return new Map(found.map((row) => [Buffer.from(row.slice(2).split(' ')[0], 'hex').toString(), row]));
}

/** The spent row of an output names the block that spent it. */
function isSpentAbove(row: string, height: number): boolean {
  const value = Buffer.from(row.split(' ')[1], 'hex');
  return readU32(value, SPENT_AT.height) > height;
}

function isTxAbove(row: string, height: number): boolean {
  return readU32(Buffer.from(row.split(' ')[1], 'hex'), 0) > height;
}

/** A row of `chain` without what its header does not say: transactions, size and (Bitcoin family) weight. */
function headerOnly(row: string, { network }: OpenStore): string {
  const [key, value] = row.split(' ');
  const bytes = Buffer.from(value, 'hex');
  bytes.fill(0, 73, network.family.name === 'bitcoin' ? 85 : 81);
  return `${key} ${bytes.toString('hex')}`;
}

/** `base`: the block of the snapshot. */
function assertSame(begun: Side, whole: Side, base: Block, when: string): void {
  const same = (column: string, keep: (row: string) => boolean = () => true): void =>
    assertSameRows(begun.rows.get(column)!, whole.rows.get(column)!.filter(keep), `${when}: ${column}`);
  for (const column of begun.rows.keys()) {
    if (OF_THE_SET.test(column)) same(column);
    else assert.ok(FROM_THERE_ON.includes(column), `${when}: ${column} is neither of the set nor known to begin later`);
  }
  same(SPENT, (row) => isSpentAbove(row, base.height));
  same('tx', (row) => isTxAbove(row, base.height));
  const blocks = (side: Side) => side.rows.get(CHAIN)!.filter((row) => !row.startsWith(RESERVED));
  const all = blocks(whole);
  const from = all.findIndex((row) => row.includes(` ${toHex(base.hash)}`));
  assertSameRows(blocks(begun), [headerOnly(all[from], begun.store), ...all.slice(from + 1)], `${when}: blocks`);
  assert.equal(begun.rows.get('delta')!.length, all.length - from - 1, `${when}: undo records`);
  const [ours, theirs] = [reserved(begun), reserved(whole)];
  for (const name of ['head', 'set_hash']) assert.equal(ours.get(name), theirs.get(name), `${when}: ${name}`);
  const kept = begun.store.network.family.name === 'cardano' ? ['header'] : [];
  assert.deepEqual([...ours.keys()].filter((name) => !theirs.has(name)).sort(), ['base', ...kept, 'pruned'], when);
  assert.deepEqual(begun.store.digest(), whole.store.digest(), when);
  assert.deepEqual(begun.store.verify().faults, [], `${when}: verify`);
}

/** Follows to the end and goes back step by step, both stores together. */
async function followed(world: World, place: number, groups: number, more: readonly string[] = []): Promise<void> {
  const folder = temporary();
  const { blocks } = world;
  const everything = [...world.everything, ...more];
  const base = blocks[place];
  const when = `${world.name}, from place ${place} (height ${base.height})`;
  await synced(world, join(folder, 'first'), place + 1, 20, (store) => exported(store, join(folder, 'snapshot')));
  await imported(world, join(folder, 'snapshot'), join(folder, 'begun'), everything);
  await withStore(
    world,
    join(folder, 'whole'),
    async (whole) => {
      applyIn(whole, blocks.slice(0, place + 1), 20);
      await withStore(
        world,
        join(folder, 'begun'),
        (begun) => {
          const both = (at: string): void => assertSame(sideOf(begun), sideOf(whole), base, `${when}, ${at}`);
          both('as imported');
          const untouched = dump(begun.engine);
          for (const store of [begun, whole]) applyIn(store, blocks.slice(place + 1), groups);
          both('followed');
          const steps = [blocks.length - 5, place + Math.ceil((blocks.length - place) / 2), place + 1];
          for (const to of steps.filter((each) => each > place && each < blocks.length)) {
            for (const store of [begun, whole]) store.rollback(blocks[to]);
            both(`back at ${to}`);
            assertPast(begun, whole, base, when);
          }
          assertRefused(begun, () => begun.rollback(null), 'HORIZON');
          if (place > 0) assertRefused(begun, () => begun.rollback(blocks[place - 1]), 'POINT_UNKNOWN');
          begun.rollback(base);
          for (const [column, rows] of dump(begun.engine))
            assertSameRows(rows, untouched.get(column)!, `${when}, back at the base: ${column}`);
          assert.equal(begun.horizon()?.height, base.height);
          assertRefused(begun, () => begun.rollback(null), 'HORIZON');
        },
        everything,
      );
    },
    everything,
  );
}

/** Small windows: both stores forget, and go back as far as they can. */
async function pruned(world: World, carried: boolean): Promise<void> {
  const folder = temporary();
  const { blocks } = world;
  const [place, soon] = [60, 70];
  const windows = ['utxo.pruneDepth=15', 'utxo.rollbackWindow=30', `utxo.delta.selfContained=${carried}`];
  await synced(world, join(folder, 'first'), place + 1, 20, (store) => exported(store, join(folder, 'snapshot')));
  await imported(world, join(folder, 'snapshot'), join(folder, 'begun'), windows);
  const forget = (store: OpenStore): void => {
    while (!store.prune(7).done);
  };
  const horizonOf = (store: OpenStore): number => store.horizon()?.height ?? -1;
  await synced(
    world,
    join(folder, 'whole'),
    place + 1,
    20,
    async (whole) => {
      await withStore(
        world,
        join(folder, 'begun'),
        async (begun) => {
          for (const store of [begun, whole]) {
            applyIn(store, blocks.slice(place + 1, soon + 1), 4);
            forget(store);
          }
          assert.equal(horizonOf(begun), blocks[place].height, 'nothing of what is above it was forgotten yet');
          for (const store of [begun, whole]) {
            applyIn(store, blocks.slice(soon + 1), 4);
            forget(store);
          }
          assert.equal(horizonOf(begun), horizonOf(whole));
          assert.ok(horizonOf(begun) > blocks[place].height);
          const taken = await exported(whole, join(folder, 'from-whole'), whole.horizon());
          assert.deepEqual(
            await exported(begun, join(folder, 'from-begun'), begun.horizon()),
            taken,
            'a snapshot of the oldest known block',
          );
          for (const store of [begun, whole]) store.rollback(store.horizon());
          assert.deepEqual(begun.digest(), whole.digest());
          assert.deepEqual(await exported(begun, join(folder, 'from-back')), taken, 'and from a store that went back to it');
          assert.deepEqual(begun.verify().faults, []);
          assertSameRows(dump(begun.engine).get(SPENT)!, dump(whole.engine).get(SPENT)!, 'spent outputs');
        },
        windows,
      );
    },
    windows,
  );
}

/** The snapshot's own block can be asked about from above, and nothing before it. */
function assertPast(begun: OpenStore, whole: OpenStore, base: Block, when: string): void {
  const keys = [...whole.engine.scan(SPENT)].map(([key]) => key);
  const then = (store: OpenStore) =>
    store.read((query) => {
      const past = query.at(base);
      return keys.map((key) => past.outpoint(outpointTxId(key), outpointIndex(key)));
    });
  const expected = then(whole);
  // What was spent before the snapshot it never saw.
  const wanted = expected.map((output) => (output?.spent === null ? output : null));
  assert.deepEqual(then(begun), wanted, when);
  if (base.height > 0)
    assert.throws(
      () => begun.read((query) => query.at(null)),
      (error) => isUnspentError(error, 'POINT_UNKNOWN'),
    );
  assert.throws(
    () => begun.read((query) => query.changes(query.blockByHash(base.hash)!)),
    (error) => isUnspentError(error, 'PRUNED'),
  );
}

describe('a store that begins with a snapshot', () => {
  const ancient = cardano(TEST_SEED, 'ancient');
  const boundaries = ancient.blocks.flatMap(({ boundary }, i) => (boundary && i > 0 ? [i] : []));
  it('has boundary blocks to begin with', () => assert.ok(boundaries.length >= 1));
  for (const [place, groups] of [
    [40, 8],
    [120, 1],
    ...boundaries.flatMap((at) => [
      [at - 1, 6],
      [at, 6],
      [at + 1, 3],
    ]),
  ]) {
    it(`follows from block ${place} of ${ancient.name}`, () => followed(ancient, place, groups));
  }
  const conway = cardano(TEST_SEED + 1, 'conway');
  it(`follows from the middle of ${conway.name}`, () => followed(conway, 77, 5));
  const forged = bitcoin(TEST_SEED + 2);
  it('with undo records that carry their outputs', () => followed(conway, 90, 3, ['utxo.delta.selfContained=true']));
  for (const world of [forged, conway]) {
    for (const carried of [false, true])
      it(`${world.name} prunes as any other, ${carried ? 'with' : 'without'} outputs in its undo records`, () => pruned(world, carried));
  }
  for (const place of [0, 30, 111]) it(`follows from block ${place} of ${forged.name}`, () => followed(forged, place, 9));
});
