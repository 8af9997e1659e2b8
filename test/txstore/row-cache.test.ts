/** What the embedded store has at hand: never anything but what was put there last. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../src/chains/random.ts';
import { openMemory } from '../../src/engine/memory.ts';
import { PROGRESS_KEY, TOTALS_KEY, TX_RECORD, TX_STORE_COLUMNS } from '../../src/txstore/embedded/columns.ts';
import { EmbeddedTxStore } from '../../src/txstore/embedded/index.ts';
import { KnownIds } from '../../src/txstore/embedded/known-ids.ts';
import { GONE, MinedHeights, UNKNOWN } from '../../src/txstore/embedded/mined-heights.ts';
import { ReferenceFilter } from '../../src/txstore/embedded/reference-filter.ts';
import { RowCache } from '../../src/txstore/embedded/row-cache.ts';
import { TxCache } from '../../src/txstore/embedded/tx-cache.ts';
import { toHex } from '../../src/util/bytes.ts';
import { TEST_SEED } from '../support/harness.ts';
import { ANYBODY, idOf, SETTINGS } from './support/world.ts';

describe('records at hand', () => {
  it('are those that were put last, as long as there is room', () => {
    for (const capacity of [1024, 4096, 60_000]) {
      const random = new Random(TEST_SEED, capacity);
      const ids = Array.from({ length: 120 }, () => random.bytes(32));
      // Numbers of entries end every fifty laps or so.
      const [cache, last] = [new RowCache(capacity, 13 * capacity), new Map<string, Uint8Array>()];
      let hits = 0;
      for (let n = 0; n < 20_000; n++) {
        const id = random.pick(ids);
        if (random.chance(0.001)) {
          cache.clear();
          last.clear();
        }
        if (random.chance(0.5)) {
          const row = random.bytes(random.chance(0.2) ? 0 : random.int(capacity / 6));
          cache.put(id, row);
          last.set(toHex(id), row);
        }
        const at = cache.find(id);
        if (at === null) continue;
        hits++;
        assert.equal(toHex(cache.bytes, at, at + cache.lengthAt(at)), toHex(last.get(toHex(id))!));
      }
      assert.ok(hits > 5000, `${hits}`);
      assert.deepEqual(
        [...cache.findAll(ids)],
        ids.map((id) => cache.find(id) ?? -1),
      );
    }
  });

  it('keep the newest: one that was put just now is there, and small ones are many', () => {
    const random = new Random(TEST_SEED);
    const cache = new RowCache(64 * 1024);
    const ids = Array.from({ length: 5000 }, () => random.bytes(32));
    let [asked, missing] = [0, 0];
    for (const [n, id] of ids.entries()) {
      cache.put(id, new Uint8Array(100));
      assert.ok(cache.find(id) !== null);
      for (const recent of ids.slice(Math.max(0, n - 300), n + 1)) {
        asked++;
        if (cache.find(recent) === null) missing++;
      }
    }
    assert.ok(missing < 0.1 * asked, `${missing} of ${asked} have left a group that was full`);
    assert.equal(cache.find(ids[0]), null);
  });

  it('what is held is not ended by what is added, and an id that is there is not added', () => {
    for (const capacity of [1024, 16 * 1024]) {
      const random = new Random(TEST_SEED, capacity);
      const cache = new RowCache(capacity, 40 * capacity);
      let refused = 0;
      for (let turn = 0; turn < 200; turn++) {
        for (let n = random.int(20); n > 0; n--) cache.put(random.bytes(32), random.bytes(random.int(90)));
        cache.hold();
        const held: Uint8Array[] = [];
        for (;;) {
          const id = random.bytes(32);
          if (!cache.add(id, random.bytes(50))) break;
          held.push(id);
          for (const known of held) assert.ok(cache.find(known) !== null);
          assert.equal(cache.add(random.pick(held), random.bytes(50)), false);
        }
        cache.release();
        if (held.length > 3) refused++;
        for (const id of held) cache.forget(id);
      }
      assert.ok(refused > 100, `${refused}`);
    }
  });

  it('an id that certainly has no record has none, while those of before a restart are still being learnt', () => {
    const random = new Random(TEST_SEED);
    const engine = openMemory(TX_STORE_COLUMNS);
    const stored = new Map<string, Uint8Array>();
    const store = (id: Uint8Array): void => {
      const batch = engine.batch();
      batch.put(TX_RECORD, id, Uint8Array.of(1));
      batch.commit();
      stored.set(toHex(id), id);
    };
    // Many begin alike.
    const newId = (): Uint8Array => (random.chance(0.3) ? random.bytes(32).fill(random.int(3), 0, 4) : random.bytes(32));
    for (const key of [PROGRESS_KEY, TOTALS_KEY]) engine.batch().put(TX_RECORD, key, Uint8Array.of(1));
    engine.batch().commit();
    for (let n = 0; n < 3000; n++) store(newId());
    const ids = new KnownIds(stored.size, 1024);
    for (let n = 0; n < 6000; n++) {
      if (n % 20 === 0) ids.learn(engine, 30);
      if (random.chance(0.5)) {
        const id = newId();
        if (stored.has(toHex(id))) continue;
        store(id);
        ids.add(id);
      } else {
        const id = random.pick([...stored.values()]);
        const batch = engine.batch();
        batch.del(TX_RECORD, id);
        batch.commit();
        stored.delete(toHex(id));
        ids.remove(id);
      }
      if (n % 100 === 0) assert.equal(ids.thatMayBe([...stored.values()]).length, stored.size);
    }
    const others = Array.from({ length: 2000 }, () => random.bytes(32));
    assert.ok(ids.thatMayBe(others).length < 400, 'most of the others are known not to be there');
    for (const id of stored.values()) ids.remove(id);
    assert.equal(ids.thatMayBe(others).length, 0);
  });

  it('TX_EXISTS after a restart, whatever is learnt of the ids that are there', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    const open = () => new EmbeddedTxStore(engine, SETTINGS, { depthMax: 288 }, new TxCache(1024 * 1024));
    const random = new Random(TEST_SEED);
    const txs = Array.from({ length: 400 }, () => ({ txId: random.bytes(32), inputs: [], outputs: [{ amount: 1n, script: ANYBODY }] }));
    await open().create(txs, 100);
    const store = open();
    for (const [n, tx] of txs.entries()) {
      await assert.rejects(store.create([tx], 100), { code: 'TX_EXISTS' });
      await store.create([{ ...tx, txId: random.bytes(32) }], 100);
      if (n % 50 !== 0) continue;
      await store.delete([tx.txId]);
      await store.create([tx], 100);
      await assert.rejects(store.create([tx], 100), { code: 'TX_EXISTS' });
      await assert.rejects(
        store.create(
          [
            { ...tx, txId: idOf('N') },
            { ...tx, txId: idOf('N') },
          ],
          100,
        ),
        { code: 'TX_EXISTS' },
      );
    }
    assert.equal((await store.stats()).records, 800);
  });

  it('heights are those that were told last, as long as there is room; of the unmined nothing is known', () => {
    for (const entries of [10, 1024, 3000]) {
      const random = new Random(TEST_SEED, entries);
      const ids = Array.from({ length: 2 * entries }, () => random.bytes(32));
      const [heights, last] = [new MinedHeights(entries), new Map<string, number>()];
      let known = 0;
      for (let n = 0; n < 30_000; n++) {
        const id = random.pick(ids);
        const height = random.chance(0.2) ? GONE : random.int(500);
        if (height === GONE) heights.setGone(id);
        else heights.setMined(id, height);
        last.set(toHex(id), height);
        const other = random.pick(ids);
        const found = heights.get(other);
        if (found === UNKNOWN) continue;
        known++;
        assert.equal(found, last.get(toHex(other)));
      }
      assert.ok(known > 5000, `${known}`);
      assert.deepEqual(
        [...heights.getAll(ids)],
        ids.map((id) => heights.get(id)),
      );
      heights.setMined(ids[0], GONE);
      assert.equal(heights.get(ids[0]), UNKNOWN, 'a block at the last height is not a record that is gone');
      heights.clear();
      assert.ok(ids.every((id) => heights.get(id) === UNKNOWN));
    }
  });

  it('are given up when another store has written to the same engine', async () => {
    const engine = openMemory(TX_STORE_COLUMNS);
    const open = () => new EmbeddedTxStore(engine, SETTINGS, { depthMax: 288 }, new TxCache());
    const [one, other] = [open(), open()];
    await one.create([{ txId: idOf('P'), inputs: [], outputs: [{ amount: 1n, script: ANYBODY }] }], 100);
    await other.spend([{ txId: idOf('C'), inputs: [{ txId: idOf('P'), index: 0 }] }], 100);
    await assert.rejects(one.spend([{ txId: idOf('D'), inputs: [{ txId: idOf('P'), index: 0 }] }], 100), { code: 'SPENT' });
    await other.delete([idOf('P')]);
    await assert.rejects(one.spend([{ txId: idOf('C'), inputs: [{ txId: idOf('P'), index: 0 }] }], 100), { code: 'TX_NOT_FOUND' });
    assert.deepEqual(await one.readChildren([idOf('P')]), [{ kind: 'absent' }]);
  });

  it('F3 a parent with a reference is never one that certainly has none', () => {
    const random = new Random(TEST_SEED);
    const [filter, references] = [new ReferenceFilter(), [] as Uint8Array[]];
    for (let n = 0; n < 20_000; n++) {
      if (references.length > 0 && random.chance(0.4)) {
        const at = random.int(references.length);
        filter.remove(references[at]);
        references.splice(at, 1);
      } else {
        const parent = random.bytes(32);
        filter.add(parent);
        references.push(parent);
      }
    }
    for (const parent of references) assert.ok(filter.mayHave(parent));
    for (const parent of references) filter.remove(parent);
    for (const parent of references) assert.ok(!filter.mayHave(parent));
    const busy = random.bytes(32);
    for (let n = 0; n < 70_000; n++) filter.add(busy);
    for (let n = 0; n < 70_000; n++) filter.remove(busy);
    assert.ok(filter.mayHave(busy), 'more references than can be counted');
  });
});
