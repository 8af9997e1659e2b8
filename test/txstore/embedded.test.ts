/** The embedded transaction store tells the stories of safe deletion: in memory all of them, on RocksDB some. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openMemory } from '../../src/engine/memory.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import {
  TX_DUE,
  TX_PRESERVED,
  TX_RECORD,
  TX_REFERENCE,
  TX_STORE_COLUMNS,
  TX_TOMBSTONE,
  TX_UNMINED,
} from '../../src/txstore/embedded/columns.ts';
import { EmbeddedTxStore } from '../../src/txstore/embedded/index.ts';
import { indexDifferences, rebuildIndexes } from '../../src/txstore/embedded/indexes.ts';
import { TxUnit } from '../../src/txstore/embedded/unit.ts';
import { toHex } from '../../src/util/bytes.ts';
import { INDEX_DIFFERENCES_KEPT, INDEX_ROWS_AT_ONCE } from '../../src/util/limits.ts';
import { runEmbeddedMutations } from './embedded-mutations.ts';
import { runTxScenarios, scenarioTitled } from './scenarios.ts';
import { rewriteAsBefore } from './support/as-before.ts';
import { BreakingEngine, everyChangeIsOneBatch } from './support/breaking-engine.ts';
import { missingOnEngine } from './support/chain-missing.ts';
import { changedSinceRead } from './support/changed-since-read.ts';
import { contentOf, fillIndexes } from './support/changes.ts';
import { openEmbedded, SMALL_CACHE_BYTES } from './support/embedded.ts';
import { withCommitHooks } from './support/kill-story.ts';
import { refusedHalfWay } from './support/refused.ts';
import { removalThatFails, removedInPlace } from './support/removed-in-place.ts';
import { blockAt, idOf, nameOf, SETTINGS, TxWorld } from './support/world.ts';

runTxScenarios('embedded, in memory', (settings, limit) => openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit));
runEmbeddedMutations();

describe('transaction store: embedded', () => {
  it('SD62 indexes that are lost are made anew from the records', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await fillIndexes(world);
    const before = contentOf(engine);
    assert.deepEqual([...indexDifferences(engine)], []);
    for (const column of [TX_DUE, TX_UNMINED, TX_PRESERVED, TX_REFERENCE]) {
      assert.ok([...engine.scan(column)].length > 0, column);
      engine.clear(column);
    }
    const batch = engine.batch();
    batch.put(TX_DUE, new Uint8Array(36), new Uint8Array());
    batch.commit();
    const { differences } = rebuildIndexes(engine);
    assert.equal(differences.filter(({ kind }) => kind === 'surplus').length, 1);
    assert.deepEqual(contentOf(engine), before);
    assert.equal(rebuildIndexes(engine).count, 0);
  });

  it('SD62 an index of any length is made anew with a few thousand rows at hand', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    const txs = Array.from({ length: INDEX_ROWS_AT_ONCE + 500 }, (_, n) => ({ txId: idOf(`t${n}`), inputs: [], outputs: [] }));
    await world.store.create(txs, 100);
    engine.clear(TX_UNMINED);
    let largest = 0;
    const watched = withCommitHooks(engine, {
      before(_, size) {
        largest = Math.max(largest, size);
      },
    });
    const { count, differences } = rebuildIndexes(watched);
    assert.deepEqual([count, differences.length], [txs.length, INDEX_DIFFERENCES_KEPT]);
    assert.ok(largest <= INDEX_ROWS_AT_ONCE + 1, `${largest} rows in one batch`);
  });

  it('SD37 SD67 F5 F15 every change is one batch: one that is not committed leaves nothing', async () => {
    await everyChangeIsOneBatch(openMemory(TX_STORE_COLUMNS));
  });

  it('a record that a change deletes is not made again in it, because its keys would stay', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await world.add('P', { at: 90 });
    const unit = new TxUnit(engine, SETTINGS, 100);
    unit.delete(unit.need(idOf('P')));
    assert.throws(() => unit.create({ txId: idOf('P'), inputs: [], outputs: [] }), /not made again/);
  });

  it('F12 a record that a block needs and that is missing is told with both ids', async () => {
    await missingOnEngine(openMemory(TX_STORE_COLUMNS));
  });

  it('a batch that is refused half-way leaves nothing, neither in the store nor at hand', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await refusedHalfWay(world);
  });

  it('F4 F5 a change that fails between the reads of a pass and its removal leaves nothing that the removal believes', async () => {
    const engine = new BreakingEngine(openMemory(TX_STORE_COLUMNS));
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await world.add('G', { at: 80, mined: 80, outputs: 2 });
    await world.add('P', { at: 90, mined: 90, spends: ['G:0'] });
    await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
    const { store } = world;
    const [parent] = await store.readParents([{ txId: idOf('P') }]);
    engine.isBroken = true;
    await assert.rejects(store.delete([idOf('G')]), /the disk is gone/);
    engine.isBroken = false;
    const children = [{ txId: idOf('C'), version: 100 }];
    const removed = await store.removeParents({ height: 388, parents: [{ parent: parent!, children }], cursor: null });
    assert.deepEqual([removed.deleted, removed.tombstonesWritten, removed.parentsMissing], [[idOf('P')], 1, 0]);
  });

  it('SD62 what the index says of a record is found when it is wrong, and the record is read where it says nothing', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    for (const name of ['P', 'Q', 'R']) await world.add(name, { at: 90, mined: 90 });
    await world.add('C', { at: 100, mined: 100, spends: ['P:0', 'Q:0', 'R:0'] });
    const [first, second, third] = [...engine.scan(TX_DUE)];
    const batch = engine.batch();
    // As an earlier version wrote it; cut; and of a record that was never so.
    batch.put(TX_DUE, first[0], new Uint8Array());
    batch.put(TX_DUE, second[0], second[1].subarray(1));
    batch.put(TX_DUE, third[0], third[1].with(5, 77));
    batch.commit();
    assert.deepEqual(
      [...indexDifferences(engine)].map(({ key, kind }) => `${key} ${kind}`),
      [second, third].map(([key]) => `${toHex(key)} differs`),
    );
    rebuildIndexes(engine);
    assert.deepEqual([...engine.scan(TX_DUE)], [[first[0], new Uint8Array()], second, third]);
    batch.put(TX_DUE, second[0], second[1].subarray(1));
    batch.commit();
    assert.deepEqual(await world.pass(388), ['P', 'Q', 'R']);
    assert.deepEqual([...engine.scan(TX_DUE)], []);
  });

  it('SD19 tombstones go with their record, wherever they stand', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await scenarioTitled('SD19')((settings, limit) => openEmbedded(engine, settings, limit));
    assert.deepEqual([...engine.scan(TX_TOMBSTONE)], []);
  });

  it('SD19 SD31 rows as an earlier version wrote them mean what they meant', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await world.add('P', { at: 90, mined: 90, outputs: 2 });
    await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
    await world.add('D', { at: 100, mined: 100, spends: ['C:0'] });
    assert.deepEqual(await world.pass(388), ['C']);
    rewriteAsBefore(engine);
    world.opened = await openEmbedded(engine, SETTINGS, { depthMax: 288 }, SMALL_CACHE_BYTES);
    world.pruner = world.newPruner();
    assert.equal([...engine.scan(TX_TOMBSTONE)].length, 1);
    assert.deepEqual((await world.get('P')).tombstones, [{ txId: idOf('C'), height: 388 }]);
    for (const output of ['P:0', 'P:1']) await world.refused('INVALID_SPEND', () => world.spend('C', [output], 400));
    await world.add('E', { at: 400, mined: 400, spends: ['P:1'] });
    rewriteAsBefore(engine);
    assert.deepEqual([...indexDifferences(engine)], []);
    assert.deepEqual(await world.pass(688), ['P']);
    assert.deepEqual([...engine.scan(TX_TOMBSTONE)], []);
  });

  it('P8 records are removed where they lie, with parents that come later in the pass', removedInPlace);

  it('F5 F15 a removal where records lie that fails leaves nothing that the next one believes', removalThatFails);

  it('F4 a record that changed since its row of the index was read is read anew', async () => {
    await changedSinceRead((settings, limit) => openEmbedded(openMemory(TX_STORE_COLUMNS), settings, limit));
  });

  it('F2 a record that is damaged is not stable, and not used', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await world.add('P', { at: 90, mined: 90 });
    await world.add('C', { at: 100, mined: 100, spends: ['P:0'] });
    const row = engine.get(TX_RECORD, idOf('C'))!;
    const batch = engine.batch();
    batch.put(TX_RECORD, idOf('C'), row.subarray(0, row.length - 1));
    batch.commit();
    world.opened = await openEmbedded(engine, SETTINGS, { depthMax: 288 }, SMALL_CACHE_BYTES);
    world.pruner = world.newPruner();
    assert.equal((await world.outcome(388)).kept, 1);
    assert.equal(world.kept('read_error'), 1);
    await assert.rejects(world.find('C'), { code: 'STORE_DAMAGED' });
    batch.put(TX_RECORD, idOf('C'), row);
    batch.commit();
  });

  it('F2 a record that is damaged keeps itself and its children, and no neighbour', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    await world.add('G', { at: 80, mined: 80, outputs: 9 });
    await world.add('P', { at: 90, mined: 90, outputs: 60 });
    await world.add('Q', { at: 90, mined: 90, spends: ['G:0'] });
    for (let n = 0; n < 6; n++) await world.add(`N${n}`, { at: 90, mined: 90 });
    const spends = Array.from({ length: 60 }, (_, n) => `P:${n}`);
    await world.add('C', { at: 100, mined: 100, spends: [...spends, 'Q:0', 'N0:0', 'N1:0', 'N2:0', 'N3:0', 'N4:0', 'N5:0'] });
    const batch = engine.batch();
    const rows = ['G', 'P'].map((name): [Uint8Array, Uint8Array] => [idOf(name), engine.get(TX_RECORD, idOf(name))!.slice()]);
    for (const [key, row] of rows) batch.put(TX_RECORD, key, row.subarray(0, row.length - 1));
    batch.commit();
    world.opened = await openEmbedded(engine, SETTINGS, { depthMax: 288 }, SMALL_CACHE_BYTES);
    world.pruner = world.newPruner();
    const { end, deleted, kept } = await world.outcome(388);
    assert.deepEqual([end, deleted, kept, world.kept('read_error')], ['completed', 6, 2, 2]);
    assert.deepEqual(
      world.pruner
        .blocked(9)
        .map(({ txId }) => nameOf(txId))
        .sort(),
      ['P', 'Q'],
    );
    for (const [key, row] of rows) batch.put(TX_RECORD, key, row);
    batch.commit();
    world.opened = await openEmbedded(engine, SETTINGS, { depthMax: 288 }, SMALL_CACHE_BYTES);
    world.pruner = world.newPruner();
    assert.deepEqual(await world.pass(389), ['P', 'Q']);
  });

  it('lives on RocksDB, also after it was closed', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'unspent-txstore-'));
    try {
      const first = await openEngineIn(directory, TX_STORE_COLUMNS, { createIfMissing: true });
      const world = await TxWorld.open((settings, limit) => openEmbedded(first, settings, limit));
      await fillIndexes(world);
      assert.deepEqual(await world.pass(389), ['Q', 'L', 'H'].sort());
      const records = await world.opened.records();
      await first.close();
      const second = await openEngineIn(directory, TX_STORE_COLUMNS, { createIfMissing: true });
      const opened = await openEmbedded(second, SETTINGS, { depthMax: 288 });
      assert.deepEqual(await opened.records(), records);
      await opened.checkIndexes();
      await opened.store.setMined([{ txId: idOf('C10'), index: 0 }], blockAt(400), true, 400);
      assert.equal((await opened.store.pruneProgress()).prunedHeight, 389);
      await second.close();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('F8 refuses a window below the deepest reorganisation', () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    assert.throws(() => new EmbeddedTxStore(engine, SETTINGS, { depthMax: 289 }), { code: 'CONFIG' });
  });
});
