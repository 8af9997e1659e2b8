/** What only RocksDB can get wrong: files, locks, filters. */
import { deepEqual, equal, match, notDeepEqual, ok, rejects, throws } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine } from '../../../src/engine/engine.ts';
import { attachRocks, openRocks } from '../../../src/engine/rocks/rocks.ts';
import { Tables } from '../../../src/engine/rocks/tables.ts';
import { toHex, utf8, writeU32 } from '../../../src/util/bytes.ts';
import { filesOf } from '../../support/open-copy.ts';
import { eventually, until } from '../../support/patience.ts';
import { COLUMNS, coded, fill, keyOf, keysOf, NAMES, newDirectory, open, reading, SMALL, SOURCE, shown } from './rig.ts';

describe('a rocks store', () => {
  it('is there again after closing', async () => {
    const directory = newDirectory();
    const first = await open(directory);
    fill(first, 100, 100);
    const contents = NAMES.map((name) => shown(first.scan(name)));
    ok(first.stats().bytes > 1_000_000);
    equal(first.stats().properties['rocksdb.background-errors'], '0');
    await first.close();
    for (let round = 0; round < 2; round++) {
      const again = await openRocks(directory, COLUMNS, { ...SMALL, createIfMissing: false });
      deepEqual(
        NAMES.map((name) => shown(again.scan(name))),
        contents,
      );
      await again.close();
    }
  });

  it('has the prefix extractor RocksDB was told of', async () => {
    const directory = newDirectory();
    await (await open(directory)).close();
    const file = readdirSync(directory).find((name) => name.startsWith('OPTIONS-'));
    const sections = readFileSync(join(directory, file!), 'utf8').split('[CFOptions ');
    match(sections.find((text) => text.startsWith('"prefixes"'))!, /prefix_extractor=(\{id=)?rocksdb\.FixedPrefix\.28/);
    match(sections.find((text) => text.startsWith('"prefixes"'))!, /memtable_prefix_bloom_size_ratio=0\.02/);
    match(sections.find((text) => text.startsWith('"points"'))!, /prefix_extractor=nullptr/);
    match(sections.find((text) => text.startsWith('"points"'))!, /filter_policy=.*bloomfilter:10/);
  });

  it('opens once: STORE_LOCKED here and in another process, and the first goes on', async () => {
    const directory = newDirectory();
    const engine = await open(directory);
    await rejects(open(directory), coded('STORE_LOCKED', directory));
    const script = `import { attachRocks, openRocks } from ${JSON.stringify(SOURCE)};
      await openRocks(${JSON.stringify(directory)}, ${JSON.stringify(COLUMNS)}, ${JSON.stringify(SMALL)})
        .then(() => console.log('opened'), (error) => console.log(error.code));`;
    equal(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim(), 'STORE_LOCKED');
    fill(engine, 2, 2);
    await engine.close();
  });

  it('refuses what is not there, not a directory, or has other columns', async () => {
    const missing = newDirectory();
    await rejects(openRocks(missing, COLUMNS, { ...SMALL, createIfMissing: false }), coded('STORE_MISSING', missing));
    equal(existsSync(missing), false);
    mkdirSync(missing);
    await rejects(openRocks(missing, COLUMNS, { ...SMALL, createIfMissing: false }), coded('STORE_MISSING', missing));
    deepEqual(readdirSync(missing), []);

    const file = newDirectory();
    writeFileSync(file, 'x');
    await rejects(open(file), coded('IO', file));
    await rejects(open(join(file, 'below')), coded('IO', file));

    const store = newDirectory();
    await (await open(store)).close();
    const files = filesOf(store);
    await rejects(open(store, COLUMNS.slice(0, 2)), coded('STORE_SHAPE', store));
    deepEqual(filesOf(store), files);
  });

  it('makes columns it does not have yet, in a store that is there', async () => {
    const directory = newDirectory();
    const first = await open(directory, COLUMNS.slice(0, 2));
    first.batch().commit();
    await first.close();
    const engine = await open(directory);
    fill(engine, 10, 10);
    equal(shown(engine.scan('ordered')).length, 100);
    await engine.close();
  });

  it('empties a retired column, gives its space back, and lets it come again', async () => {
    const directory = newDirectory();
    const first = await open(directory);
    fill(first, 300, 100);
    const kept = shown(first.scan('points'));
    await first.close();
    const rest = COLUMNS.filter(({ name }) => name !== 'prefixes');
    const retire = (retired: string[]) => openRocks(directory, rest, { ...SMALL, retired });
    const full = (await reading(directory, COLUMNS, (engine) => engine.stats('prefixes'))).bytes;
    ok(full > 1_000_000, `${full}`);

    await rejects(retire([]), coded('STORE_SHAPE', directory));
    const engine = await retire(['prefixes', 'never']);
    deepEqual(
      engine.columns.map(({ name }) => name),
      rest.map(({ name }) => name),
    );
    throws(() => engine.scan('prefixes'), /assertion failed/);
    equal(shown(engine.scan('points')).length, kept.length);
    const tables = () => new Tables(directory).of('prefixes').bytes;
    await until(
      () => tables() < 100_000,
      () => `${tables()} bytes of tables are left`,
    );
    await engine.close();
    await (await retire(['never', 'prefixes'])).close();

    const again = await openRocks(directory, COLUMNS, { ...SMALL, retired: ['never'] });
    deepEqual(shown(again.scan('prefixes')), []);
    deepEqual(shown(again.scan('points')), kept);
    fill(again, 50, 10);
    equal(shown(again.scan('prefixes')).length, 500);
    await again.close();
  });

  it('empties a retired column again where that was cut short', async () => {
    const directory = newDirectory();
    const first = await open(directory);
    fill(first, 20, 20);
    await first.close();
    const script = `import { attachRocks, openRocks } from ${JSON.stringify(SOURCE)};
      const opening = openRocks(${JSON.stringify(directory)}, ${JSON.stringify(COLUMNS.slice(0, 1))},
        ${JSON.stringify({ ...SMALL, retired: ['prefixes', 'ordered'] })});
      for (;;) await new Promise((resolve) => setImmediate(resolve));`;
    for (let ms = 0; ms < 40; ms += 10) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
      const ended = once(child, 'close');
      await sleep(60 + ms);
      child.kill('SIGKILL');
      await ended;
    }
    const engine = await openRocks(directory, COLUMNS.slice(0, 1), { ...SMALL, retired: ['prefixes', 'ordered'] });
    equal(shown(engine.scan('points')).length, 400);
    await engine.close();
    await reading(directory, COLUMNS, (all) => {
      deepEqual([...all.scan('prefixes'), ...all.scan('ordered')], []);
    });
  });

  it('tells how many rows a column has, in memory and in tables, from another thread too', async () => {
    const directory = newDirectory();
    const engine = await open(directory);
    for (let row = 1; row <= 80; row++) {
      const batch = engine.batch();
      for (let at = 0; at < 500; at++) batch.put('points', keyOf(row * 1000 + at, 34), keyOf(at, 60));
      for (let at = 0; at < 100 && row > 40; at++) batch.del('points', keyOf((row - 20) * 1000 + at, 34));
      batch.commit();
      if (row % 10 !== 0) continue;
      const rows = 500 * row - 100 * Math.max(0, row - 40);
      const reader = attachRocks(engine.handle, COLUMNS);
      for (const each of [engine, reader]) {
        // Rows that are just going from memory into a table count nowhere for a moment; while tables are being merged, both those
        // and the merged ones count.
        await eventually(() => {
          const said = Number(each.stats('points').properties['rocksdb.estimate-num-keys']);
          ok(said >= 0.9 * rows && said <= 2.5 * rows, `${said} said of ${rows}`);
        });
        equal(each.stats('ordered').properties['rocksdb.estimate-num-keys'], '0');
      }
      await reader.close();
    }
    ok(readdirSync(directory).some((name) => name.endsWith('.sst')));
    await eventually(() => {
      const said = Number(engine.stats('points').properties['rocksdb.estimate-num-keys']);
      ok(said >= 0.95 * 36_000 && said <= 1.25 * 36_000, `${said} said of 36000, when the tables are merged`);
    });
    await engine.close();
  });

  it('tells the cache of its main column', async () => {
    const columns = COLUMNS.map((column) => ({ ...column, main: column.name === 'points' }));
    const directory = newDirectory();
    await reading(directory, columns, (engine) => fill(engine, 100, 50));
    const engine = await openRocks(directory, columns, { ...SMALL, cacheBytes: 60_000_000 });
    const figure = (name: string) => Number(engine.stats().properties[`rocksdb.block-cache-${name}`]);
    // Eight of the twelve parts are the looked-up column's.
    equal(Math.round(figure('capacity') / 1e6), 40);
    const before = figure('usage');
    equal([...engine.scan('points')].length, 5000);
    ok(figure('usage') > before + 100_000, `${before}, then ${figure('usage')}`);
    await engine.close();
  });

  it('tells of each column what its tables say', async () => {
    const directory = newDirectory();
    const first = await open(directory);
    fill(first, 100, 50);
    const batch = first.batch();
    for (let at = 0; at < 1000; at++) batch.del('points', keyOf(at, 34));
    batch.commit();
    await first.close();
    await reading(directory, COLUMNS, async (engine) => {
      // Opening merges tables; until the old ones are gone, both count.
      await eventually(() => {
        const [points, prefixes] = ['points', 'prefixes'].map((name) => engine.stats(name));
        equal(prefixes.properties['rocksdb.estimate-num-keys'], '5000');
        equal(prefixes.properties['rocksdb.num-deletions'], '0');
        // Keys of 36 bytes, 8 bytes of RocksDB's own each, and values of 32.
        equal(prefixes.properties['rocksdb.raw-size'], `${5000 * (36 + 8 + 32)}`);
        equal(prefixes.properties['rocksdb.total-sst-files-size'], `${prefixes.bytes}`);
        const left = Number(points.properties['rocksdb.estimate-num-keys']);
        ok(left >= 3000 && left <= 4000, `${left} keys of 4000`);
        const bytes = NAMES.reduce((sum, name) => sum + engine.stats(name).bytes, 0);
        const tables = readdirSync(directory).filter((name) => name.endsWith('.sst'));
        ok(bytes <= tables.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0));
        ok(bytes > 0.5 * engine.stats().bytes, `${bytes} of ${engine.stats().bytes}`);
      });
      // A table that is being written has no end yet. Merging may go on meanwhile: then the figures are taken anew.
      writeFileSync(join(directory, '999999.sst'), new Uint8Array(1000));
      await eventually(() => {
        const beside = engine.stats('points').properties;
        rmSync(join(directory, '999999.sst'));
        const alone = engine.stats('points').properties;
        writeFileSync(join(directory, '999999.sst'), new Uint8Array(1000));
        deepEqual(beside, alone);
      });
      rmSync(join(directory, '999999.sst'));
    });
  });

  it('is created over a creation that was cut short', async () => {
    const directory = newDirectory();
    mkdirSync(directory);
    for (const name of ['LOCK', 'IDENTITY', 'MANIFEST-000001', '000001.dbtmp']) writeFileSync(join(directory, name), '');
    const engine = await open(directory);
    fill(engine, 2, 2);
    await engine.close();
  });
});

describe('prefix filters', () => {
  let engine: Engine;
  const OWNERS = 300;
  const EACH = 60;
  const model = new Map<string, string[]>();
  before(async () => {
    const directory = newDirectory();
    engine = await open(directory);
    fill(engine, OWNERS, EACH);
    // Owners of one table only: the filters of all other tables deny them.
    for (let owner = OWNERS; owner < 2 * OWNERS; owner++) {
      const batch = engine.batch();
      for (let row = 0; row < 100; row++) {
        const key = new Uint8Array(36);
        key.set(keyOf(owner, 28));
        writeU32(key, 32, row);
        batch.put('prefixes', key, keyOf(row, 32));
      }
      batch.commit();
    }
    await engine.close();
    engine = await open(directory);
    ok(readdirSync(directory).filter((name) => name.endsWith('.sst')).length > 5);
    for (const rows of [...Array(2 * OWNERS).keys()]) {
      const prefix = keyOf(rows, 28);
      model.set(
        toHex(prefix),
        Array.from({ length: rows < OWNERS ? EACH : 100 }, (_, row) => toHex(prefix) + row.toString(16).padStart(16, '0')),
      );
    }
  });
  after(() => engine.close());

  const bounds = (prefix: Uint8Array) => {
    const lt = Uint8Array.from(prefix);
    for (let at = 27; at >= 0; at--) {
      lt[at] = (lt[at] + 1) & 0xff;
      if (lt[at] !== 0) break;
    }
    return { gte: prefix, lt };
  };

  it('hide nothing of a prefix, forwards or backwards, nor invent one', () => {
    const snapshot = engine.snapshot(['prefixes']);
    for (const reader of [engine, snapshot]) {
      for (let owner = 0; owner < 3 * OWNERS; owner++) {
        const prefix = keyOf(owner, 28);
        const expected = model.get(toHex(prefix)) ?? [];
        deepEqual(keysOf(reader.scan('prefixes', bounds(prefix))), expected);
        deepEqual(keysOf(reader.scan('prefixes', { ...bounds(prefix), reverse: true })), expected.toReversed());
      }
    }
    snapshot.release();
  });

  it('hide nothing of the whole column, in interleaved scans of a snapshot neither', () => {
    const all = [...model.values()].flat().sort();
    deepEqual(keysOf(engine.scan('prefixes')), all);
    const snapshot = engine.snapshot(['prefixes']);
    deepEqual(keysOf(snapshot.scan('prefixes')), all);
    const scans = [0, 1, 2].map(() => snapshot.scan('prefixes')[Symbol.iterator]());
    const seen: string[][] = [[], [], []];
    const ended = new Set<number>();
    for (let turn = 0; ended.size < 3; turn++) {
      const which = turn % 3;
      for (let rows = 0; rows <= which * 70; rows++) {
        const next = scans[which].next();
        if (next.done) ended.add(which);
        else seen[which].push(toHex(next.value[0]));
      }
    }
    for (const keys of seen) deepEqual(keys, all);
    snapshot.release();
  });

  it('leave lookups of a snapshot exact after the store went on', () => {
    const snapshot = engine.snapshot(NAMES);
    const asked = Array.from({ length: 500 }, (_, at) => keyOf(at * 7, 34));
    const before = snapshot.getMany('points', asked).map((value) => value && toHex(value));
    const batch = engine.batch();
    for (const key of asked) batch.put('points', key, utf8('later'));
    batch.commit();
    deepEqual(
      snapshot.getMany('points', asked).map((value) => value && toHex(value)),
      before,
    );
    notDeepEqual(
      engine.getMany('points', asked).map((value) => value && toHex(value)),
      before,
    );
    snapshot.release();
  });
});
