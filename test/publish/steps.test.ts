/** Blocks that are told as one: they count as many, and nothing is read for it that undoing them has read or knows. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Reader } from '../../src/engine/engine.ts';
import { META_PREFIX } from '../../src/projections/chain.ts';
import { appliedSince, type UndoBounds } from '../../src/publish/block-changes.ts';
import type { CopyChange } from '../../src/publish/change.ts';
import { StoreMoment } from '../../src/publish/published-store.ts';
import { toHex } from '../../src/util/bytes.ts';
import { assertSameDump, Devnet, devnetOptions, dump, KEEP_ALL, memoryRig, TEST_SEED } from '../support/harness.ts';
import { MemoryTarget } from '../support/publish/memory-target.ts';
import { publishedStore, startPublisher } from '../support/publish/rig.ts';

const BLOCKS = 40;
const BOUNDS: UndoBounds = { bytesMax: 1 << 28, portion: 7, stepRows: 0 };

function devnetStore() {
  const devnet = new Devnet(devnetOptions(TEST_SEED, 'conway'), { dressed: true });
  const rig = memoryRig(devnet, { keeps: KEEP_ALL });
  return { devnet, rig, store: publishedStore(rig, 'devnet', devnet.ledger) };
}

/** Keys that it is asked for, each time, and rows of scans. */
function watched(reader: Reader, asked: Map<string, number>): Reader {
  const count = (column: string, key: Uint8Array): void => {
    const name = `${column} ${toHex(key)}`;
    asked.set(name, (asked.get(name) ?? 0) + 1);
  };
  return {
    get: (column, key) => reader.getMany(column, [key])[0],
    getMany(column, keys) {
      for (const key of keys) count(column, key);
      return reader.getMany(column, keys);
    },
    scan: (column, options) => reader.scan(column, options),
  };
}

describe('blocks that are told as one', () => {
  it('are so many changes, in one transaction', async () => {
    const { rig, store } = devnetStore();
    const target = new MemoryTarget();
    const told: (readonly CopyChange[])[] = [];
    const publisher = await startPublisher(store, target, { onPublished: (_, changes) => told.push(changes) });
    await publisher.sendSnapshot();
    rig.forward(BLOCKS, [3]);
    await publisher.advance();
    publisher.close();
    assertSameDump(target.dump(), dump(store.engine), 'the copy');
    assert.deepEqual(
      told.map((changes) => changes.map(({ count }) => count)),
      [[BLOCKS]],
    );
    assert.equal(target.head.seq, 1 + BLOCKS);
    assert.equal(publisher.counts.blocks, BLOCKS);
  });

  it('are cut where they change too many rows, and are the same however they are cut', () => {
    const { rig, store } = devnetStore();
    rig.forward(BLOCKS, [5]);
    const moment = new StoreMoment(store);
    const rows = (stepRows: number): ReadonlyMap<string, string> => {
      const { steps } = appliedSince(moment.snapshot, null, moment, { ...BOUNDS, stepRows });
      assert.equal(
        steps.reduce((sum, { count }) => sum + count, 0),
        BLOCKS,
      );
      assert.ok(stepRows === 0 ? steps.length === BLOCKS : steps.length > 1 && steps.length < BLOCKS, `${steps.length} steps`);
      const all = new Map<string, string>();
      for (const { columns } of steps) {
        for (const { column, puts, deletes } of columns) {
          for (const [key, value] of puts) all.set(`${column} ${toHex(key)}`, toHex(value));
          for (const key of deletes) all.delete(`${column} ${toHex(key)}`);
        }
      }
      return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
    };
    assert.deepEqual(rows(0), rows(400));
    moment.release();
  });

  it('are told without reading a row twice, or a new one of an index at all', () => {
    const { rig, store } = devnetStore();
    rig.forward(BLOCKS, [5]);
    const moment = new StoreMoment(store);
    const asked = new Map<string, number>();
    const { steps } = appliedSince(watched(moment.snapshot, asked), null, moment, { ...BOUNDS, stepRows: 400 });
    const twice = [...asked].filter(([, times]) => times > 1).map(([name]) => name);
    assert.deepEqual(twice, []);
    const known = ['utxo_address', 'utxo_payment', 'utxo_place', 'tx', 'chain_hash', 'chain', 'delta'];
    for (const column of known) {
      const changes = steps.flatMap(({ columns }) => columns.filter((change) => change.column === column));
      const gone = new Set(changes.flatMap(({ deletes }) => deletes.map((key) => toHex(key))));
      const there = changes.flatMap(({ puts }) => puts.map(([key]) => key)).filter((key) => !gone.has(toHex(key)));
      const ofBlocks = there.filter((key) => key[0] !== META_PREFIX || column !== 'chain');
      assert.ok(ofBlocks.length > 0, `${column} has new rows`);
      for (const key of ofBlocks) assert.ok(!asked.has(`${column} ${toHex(key)}`), `${column} ${toHex(key)} is not read`);
    }
    moment.release();
  });
});
