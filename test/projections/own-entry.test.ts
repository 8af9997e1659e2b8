/**
 * Another index, added by its entry alone, as a program would or as a new folder
 * of `src/projections` would: it is undone byte for byte, checked by `verify`,
 * shown in the status, filled when a store that has blocks gets it, and a store
 * that keeps it is not opened without it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Batch } from '../../src/engine/engine.ts';
import { OUTPOINT_BYTES } from '../../src/ledgers/outpoint.ts';
import { AT, type Coin } from '../../src/projections/coin.ts';
import type { ProjectionEntry } from '../../src/projections/entry.ts';
import type { Inspection, ProjectionCheck } from '../../src/projections/inspection.ts';
import type { Projection, Step } from '../../src/projections/projection.ts';
import { projectionTable } from '../../src/projections/registry.ts';
import { compactDirectory } from '../../src/store/compact.ts';
import { exportSnapshot, importSnapshot } from '../../src/store/snapshots.ts';
import { type OpenStore, openStore } from '../../src/store/store.ts';
import { verifyStore } from '../../src/store/verify/verify.ts';
import { concatBytes, copyBytes } from '../../src/util/bytes.ts';
import { coded, data, devnet as followed, openWith, root, sourceTo, using } from '../store/fill-store-rig.ts';
import { assertSameDump, Devnet, devnetOptions, dump, KEEP_ALL, memoryRig, type Rig, TEST_SEED } from '../support/harness.ts';

const NAME = 'index.height';
const COLUMN = 'utxo_height';
const NOTHING = new Uint8Array(0);

/** Unspent outputs by the height of their block: height u32 | outpoint -> nothing. */
const heightIndex: ProjectionEntry = {
  name: NAME,
  from: 'outputs',
  make: () => heightProjection(),
  check: (inspection) => new HeightCheck(inspection),
};

function rowKey({ bytes, at, keyBytes, keyAt }: Coin): Uint8Array {
  const key = new Uint8Array(4 + OUTPOINT_BYTES);
  copyBytes(bytes, at + AT.height, key, 0, 4);
  copyBytes(keyBytes, keyAt, key, 4, OUTPOINT_BYTES);
  return key;
}

function heightProjection(): Projection {
  function move({ added, removed }: Step, batch: Batch): undefined {
    for (const coin of removed) batch.del(COLUMN, rowKey(coin));
    for (const coin of added) batch.put(COLUMN, rowKey(coin), NOTHING);
  }
  return {
    name: NAME,
    columns: [{ name: COLUMN, access: 'order', weight: 4 }],
    fillable: 'exact',
    apply: (step, _view, batch) => move(step, batch),
    revert: (step, _undo, _view, batch) => move(step, batch),
  };
}

class HeightCheck implements ProjectionCheck {
  readonly column = COLUMN;
  private readonly inspection: Inspection;

  constructor(inspection: Inspection) {
    this.inspection = inspection;
  }

  expect(coins: readonly Coin[]): void {
    const { reader } = this.inspection;
    for (const coin of coins) if (reader.get(COLUMN, rowKey(coin)) === undefined) this.inspection.fault(COLUMN, rowKey(coin), 'is missing');
  }

  finish(): number {
    const rows = [...this.inspection.reader.scan(COLUMN)].length;
    if (rows !== this.inspection.utxos) this.inspection.fault(COLUMN, NOTHING, `has ${rows} rows`);
    return rows;
  }
}

const OPTIONS = { keeps: [...KEEP_ALL, NAME], table: projectionTable([heightIndex]) };
const VERIFY = { projections: OPTIONS.keeps, table: OPTIONS.table };

/** From the devnet's own model, which never read a block. */
function assertIsIndex(rig: Rig): void {
  const wanted = [...rig.devnet.chain.utxos.values()].map(({ height, txId, index }) =>
    Buffer.from(concatBytes(bigEndian(Math.max(height, 0)), txId, bigEndian(index))).toString('hex'),
  );
  const rows = Array.from(rig.engine.scan(COLUMN), ([key]) => Buffer.from(key).toString('hex'));
  assert.deepEqual(rows, wanted.sort());
}

function bigEndian(number: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
}

describe('an index that the source knows nothing of', () => {
  it('is undone byte for byte, and is what the chain says', () => {
    const turns = fc.array(fc.tuple(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 0, max: 20 })), { minLength: 1, maxLength: 4 });
    const groups = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 });
    const property = fc.property(fc.nat({ max: 1_000_000 }), turns, groups, (seed, steps, sizes) => {
      const devnet = new Devnet(devnetOptions(seed, seed % 2 === 0 ? 'conway' : 'ancient'), { dressed: true });
      const rig = memoryRig(devnet, OPTIONS);
      const empty = dump(rig.engine);
      for (const [forward, back] of steps) {
        rig.forward(forward, sizes);
        const depth = Math.min(back, devnet.chain.blocks.length);
        rig.fold.rollback(devnet.pointBelow(depth));
        devnet.chain.rollback(depth);
      }
      rig.forward(3, sizes);
      assertIsIndex(rig);
      assert.deepEqual(verifyStore(rig.engine, devnet.ledger, VERIFY).faults, []);
      const straight = memoryRig(devnet, OPTIONS);
      straight.apply(devnet.blocks());
      assertSameDump(dump(rig.engine), dump(straight.engine), 'after the last fork');
      rig.fold.rollback(null);
      assertSameDump(dump(rig.engine), empty, 'back at the origin');
    });
    fc.assert(property, { seed: TEST_SEED, numRuns: 15 });
  });

  it('is checked by its own check', () => {
    const rig = memoryRig(new Devnet(devnetOptions(6, 'conway')), OPTIONS);
    rig.forward(20);
    const [key] = [...rig.engine.scan(COLUMN)][3];
    const batch = rig.engine.batch();
    batch.del(COLUMN, key);
    batch.commit();
    const { faults, indexRows } = verifyStore(rig.engine, rig.devnet.ledger, VERIFY);
    assert.deepEqual(
      faults.map(({ column, what }) => [column, what]),
      [
        [COLUMN, 'is missing'],
        [COLUMN, `has ${indexRows[COLUMN]} rows`],
      ],
    );
  });

  const own = { projections: [heightIndex] };
  const rowsOf = (store: OpenStore): readonly string[] => dump(store.engine).get(COLUMN) ?? [];

  it('is kept by a store from its first block, or filled later; with the same rows', async () => {
    const rows = await using(openWith([], own), async (store) => {
      await store.follow(sourceTo(40, 10));
      assert.deepEqual(store.status().projections, ['chain', 'transactions', 'utxo', NAME]);
      assert.ok(COLUMN in store.status().keys);
      const { faults, indexRows, utxos } = store.verify();
      assert.deepEqual(faults, []);
      assert.equal(indexRows[COLUMN], utxos);
      return rowsOf(store);
    });
    const late = `${data}-late`;
    await using(openWith([], { data: late }), async (store) => void (await store.follow(sourceTo(30, 10))));
    await using(openWith([], { ...own, data: late }), async (store) => {
      assert.deepEqual(store.reshaped.added, [NAME]);
      assert.deepEqual(
        store.fills().map(({ projection }) => projection),
        [NAME],
      );
      assert.ok(!(COLUMN in store.verify().indexRows), 'it is not checked before it is ready');
      await store.follow(sourceTo(40, 10));
      assert.deepEqual(store.fills(), []);
      assert.deepEqual(store.verify().faults, []);
      assert.deepEqual(rowsOf(store), rows);
    });
  });

  it('belongs to its store: without the entry it is not opened, compacted or changed', async () => {
    await using(openWith([], own), async (store) => void (await store.follow(sourceTo(20, 10))));
    await assert.rejects(openWith([], { create: false }), coded('STORE_SHAPE'));
    await assert.rejects(openWith([]), coded('STORE_SHAPE'));
    await assert.rejects(compactDirectory({ data }), coded('STORE_SHAPE'));
    await compactDirectory({ data, ...own });
    // Whoever only looks needs no setting for it, and one that lacks it is not changed by looking.
    await using(openStore({ data, create: false, ...own }), (store) => assert.ok(rowsOf(store).length > 0));
    const bare = `${data}-bare`;
    await using(openWith([], { data: bare }), async (store) => void (await store.follow(sourceTo(10, 10))));
    await using(openStore({ data: bare, create: false, ...own }), (store) =>
      assert.deepEqual(store.status().projections, ['chain', 'transactions', 'utxo']),
    );
  });

  it('is made from a snapshot', async () => {
    const folder = `${root}/own-snapshot`;
    const rows = await using(openWith([], own), async (store) => {
      await store.follow(sourceTo(20, 10));
      await exportSnapshot(store, folder);
      return rowsOf(store);
    });
    const { genesisByron: byron, genesisShelley: shelley } = followed.chain;
    const imported = `${data}-imported`;
    await importSnapshot(folder, { data: imported, genesis: { byron, shelley }, ...own });
    await using(openStore({ data: imported, create: false, ...own }), (store) => {
      assert.deepEqual(rowsOf(store), rows);
      assert.deepEqual(store.verify().faults, []);
    });
  });
});
