/** What only RocksDB can get wrong: files, locks, damage, filters, failing disks. */
import { deepEqual, equal, match, notDeepEqual, ok, rejects, throws } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ColumnSpec, Engine, Row } from '../../src/engine/engine.ts';
import { openRocks } from '../../src/engine/rocks.ts';
import { storeError } from '../../src/engine/rocks-errors.ts';
import { Tables } from '../../src/engine/rocks-tables.ts';
import { compareBytes, toHex, utf8, writeU32 } from '../../src/util/bytes.ts';
import { type ErrorCode, UnspentError } from '../../src/util/errors.ts';

const COLUMNS: readonly ColumnSpec[] = [
  { name: 'points', access: 'point', weight: 1 },
  { name: 'prefixes', access: 'prefix', prefixBytes: 28, weight: 1 },
  { name: 'ordered', access: 'order', weight: 1 },
];
const NAMES = COLUMNS.map((column) => column.name);
const SOURCE = new URL('../../src/engine/rocks.ts', import.meta.url).href;

/** Memtables as small as they get, so that a little data makes many tables. */
const SMALL = { createIfMissing: true, memtableBytes: 0, cacheBytes: 0 };

let root: string;
let made = 0;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'unspent-rocks-'));
});
after(() => rmSync(root, { recursive: true }));

const newDirectory = () => join(root, `${made++}`);
const open = (directory: string, columns = COLUMNS) => openRocks(directory, columns, SMALL);
const reading = async <T>(directory: string, columns: readonly ColumnSpec[], body: (engine: Engine) => T | Promise<T>): Promise<T> => {
  const engine = await open(directory, columns);
  try {
    return await body(engine);
  } finally {
    await engine.close();
  }
};
const coded = (code: ErrorCode, directory: string) => (error: unknown) => {
  ok(error instanceof UnspentError, `${error}`);
  equal(error.code, code);
  ok(error.message.includes(directory), error.message);
  return true;
};

/** A pseudo-random key: the same number, the same bytes. */
function keyOf(at: number, bytes: number): Uint8Array {
  return createHash('sha512').update(`${at}`).digest().subarray(0, bytes);
}

/** `owners` prefixes of `each` rows, written round by round so that every table holds some of each. */
function fill(engine: Engine, owners: number, each: number): void {
  for (let row = 0; row < each; row++) {
    const batch = engine.batch();
    for (let owner = 0; owner < owners; owner++) {
      const key = new Uint8Array(36);
      key.set(keyOf(owner, 28));
      writeU32(key, 32, row);
      batch.put('prefixes', key, keyOf(row, 32));
      batch.put('points', keyOf(owner * each + row, 34), keyOf(row, 60));
      batch.put('ordered', key.slice(20), keyOf(row, 60));
    }
    batch.commit();
  }
}

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
    match(sections.find((text) => text.startsWith('"points"'))!, /prefix_extractor=nullptr/);
    match(sections.find((text) => text.startsWith('"points"'))!, /filter_policy=.*bloomfilter:10/);
  });

  it('opens once: STORE_LOCKED here and in another process, and the first goes on', async () => {
    const directory = newDirectory();
    const engine = await open(directory);
    await rejects(open(directory), coded('STORE_LOCKED', directory));
    const script = `import { openRocks } from ${JSON.stringify(SOURCE)};
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
    for (let waited = 0; tables() > 100_000 && waited < 10_000; waited += 50) await sleep(50);
    ok(tables() < 100_000, `${tables()} bytes of tables are left`);
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
    const script = `import { openRocks } from ${JSON.stringify(SOURCE)};
      const opening = openRocks(${JSON.stringify(directory)}, ${JSON.stringify(COLUMNS.slice(0, 1))},
        ${JSON.stringify({ ...SMALL, retired: ['prefixes', 'ordered'] })});
      for (;;) await new Promise((resolve) => setImmediate(resolve));`;
    for (let ms = 0; ms < 40; ms += 10) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
      await sleep(60 + ms);
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    const engine = await openRocks(directory, COLUMNS.slice(0, 1), { ...SMALL, retired: ['prefixes', 'ordered'] });
    equal(shown(engine.scan('points')).length, 400);
    await engine.close();
    await reading(directory, COLUMNS, (all) => {
      deepEqual([...all.scan('prefixes'), ...all.scan('ordered')], []);
    });
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
      for (let last = ''; last !== readdirSync(directory).join(); await sleep(200)) last = readdirSync(directory).join();
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
      // A table that is being written has no end yet.
      writeFileSync(join(directory, '999999.sst'), new Uint8Array(1000));
      deepEqual(engine.stats('points').properties, points.properties);
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

describe('damage', () => {
  let whole: string;
  before(async () => {
    whole = newDirectory();
    const engine = await open(whole);
    fill(engine, 200, 100);
    await engine.close();
  });

  const first = (directory: string, pattern: RegExp) =>
    join(
      directory,
      readdirSync(directory)
        .sort()
        .find((name) => pattern.test(name))!,
    );
  const cut = (path: string, bytes: number) => truncateSync(path, statSync(path).size - bytes);
  const cutHalf = (path: string) => cut(path, statSync(path).size >> 1);
  const overwrite = (path: string) => writeFileSync(path, new Uint8Array(statSync(path).size).fill(7));

  const damages: Record<string, (directory: string) => void> = {
    'a table is missing': (at) => rmSync(first(at, /\.sst$/)),
    'a table is garbage': (at) => overwrite(first(at, /\.sst$/)),
    'a table is cut short': (at) => cutHalf(first(at, /\.sst$/)),
    'CURRENT is garbage': (at) => writeFileSync(join(at, 'CURRENT'), 'garbage'),
    'CURRENT names no manifest': (at) => writeFileSync(join(at, 'CURRENT'), 'MANIFEST-999999\n'),
    'CURRENT is missing': (at) => rmSync(join(at, 'CURRENT')),
    'the manifest is empty': (at) => truncateSync(first(at, /^MANIFEST/)),
    'the manifest is garbage': (at) => overwrite(first(at, /^MANIFEST/)),
    'the manifest is missing': (at) => rmSync(first(at, /^MANIFEST/)),
    'a table and the lock file are missing': (at) => {
      rmSync(first(at, /\.sst$/));
      rmSync(join(at, 'LOCK'));
    },
  };
  /** RocksDB takes these for the traces of a crash, or may; after a proper close they are damage. */
  const sealedDamages: Record<string, (directory: string) => void> = {
    'a log is missing': (at) => rmSync(first(at, /\.log$/)),
    'a log is cut short': (at) => cutHalf(first(at, /\.log$/)),
    'the manifest is cut in half': (at) => cutHalf(first(at, /^MANIFEST/)),
    'the last bytes of the manifest are missing': (at) => cut(first(at, /^MANIFEST/), 5),
  };

  const refuses = async (damage: (directory: string) => void) => {
    const directory = newDirectory();
    cpSync(whole, directory, { recursive: true });
    damage(directory);
    const files = filesOf(directory);
    await rejects(open(directory), coded('STORE_DAMAGED', directory));
    deepEqual(filesOf(directory), files);
    await rejects(open(directory), coded('STORE_DAMAGED', directory));
  };

  for (const [what, damage] of Object.entries({ ...damages, ...sealedDamages })) {
    it(`is refused and left as it was: ${what}`, () => refuses(damage));
  }
  for (const [what, damage] of Object.entries(damages)) {
    it(`is refused and left as it was after a crash too: ${what}`, () =>
      refuses((directory) => {
        rmSync(join(directory, 'unspent.seal'));
        damage(directory);
      }));
  }

  it('inside a table is an error where it is read, not a shorter answer', async () => {
    const directory = newDirectory();
    cpSync(whole, directory, { recursive: true });
    for (const name of readdirSync(directory).filter((file) => file.endsWith('.sst'))) {
      const bytes = readFileSync(join(directory, name));
      bytes[bytes.length >> 2] ^= 0xff;
      writeFileSync(join(directory, name), bytes);
    }
    const engine = await open(directory);
    const read = async () => NAMES.map((name) => shown(engine.scan(name)));
    await rejects(read(), coded('STORE_DAMAGED', directory));
    await engine.close();
  });

  it('is not seen in a whole store, sealed or not', async () => {
    for (const sealed of [true, false]) {
      const directory = newDirectory();
      cpSync(whole, directory, { recursive: true });
      if (!sealed) rmSync(join(directory, 'unspent.seal'));
      const engine = await open(directory);
      equal(existsSync(join(directory, 'unspent.seal')), false);
      equal(shown(engine.scan('points')).length, 20_000);
      await engine.close();
      equal(existsSync(join(directory, 'unspent.seal')), true);
    }
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

describe('a failing disk', () => {
  it('fails the commit, keeps the store as it was, and leaves it usable after reopening', {
    skip: process.platform === 'win32',
  }, async () => {
    const directory = newDirectory();
    const engine = await open(directory);
    fill(engine, 5, 5);
    const contents = NAMES.map((name) => shown(engine.scan(name)));
    await engine.close();
    // A limit on file size fails the write in the middle of the log, as a full disk would.
    const script = `import { openRocks } from ${JSON.stringify(SOURCE)};
      const engine = await openRocks(${JSON.stringify(directory)}, ${JSON.stringify(COLUMNS)}, ${JSON.stringify(SMALL)});
      const batch = engine.batch();
      for (let at = 0; at < 100; at++) batch.put('points', Uint8Array.of(1, at), new Uint8Array(100_000));
      try { batch.commit(); console.log('committed'); } catch (error) { console.log(error.code); }
      console.log(batch.size, engine.get('points', Uint8Array.of(1, 0)));
      await engine.close().catch((error) => console.log('close', error.code));`;
    const shell = `trap '' XFSZ; ulimit -f 1000; exec "$0" --input-type=module -e "$1"`;
    const said = execFileSync('sh', ['-c', shell, process.execPath, script], { encoding: 'utf8' }).trim().split('\n');
    deepEqual(said.slice(0, 2), ['IO', '0 undefined']);
    const again = await open(directory);
    deepEqual(
      NAMES.map((name) => shown(again.scan(name))),
      contents,
    );
    fill(again, 6, 6);
    await again.close();
  });

  it('is told from damage by what RocksDB says', () => {
    const native = (code: string | undefined, message: string) => Object.assign(new Error(message), code ? { code } : {});
    const code = (cause: Error) => storeError(cause, '/store').code;
    equal(code(native('LEVEL_IO_ERROR', 'IO error: No space left on device: While appending to file: /store/000012.log')), 'DISK_FULL');
    equal(code(native('LEVEL_IO_ERROR', 'IO error: While fsync: /store/000012.log: Input/output error')), 'IO');
    equal(code(native('LEVEL_CORRUPTION', 'Corruption: block checksum mismatch')), 'STORE_DAMAGED');
    equal(code(native(undefined, 'Invalid argument: whatever')), 'IO');
    const cause = native('LEVEL_IO_ERROR', 'IO error: x');
    equal(storeError(cause, '/store').cause, cause);
  });
});

function filesOf(directory: string): Record<string, string> {
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(directory, name)))
      .digest('hex');
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, hash(name)]),
  );
}

function keysOf(rows: Iterable<Row>): string[] {
  return Array.from(rows, ([key]) => toHex(key));
}

function shown(rows: Iterable<Row>): string[] {
  let last: Uint8Array | undefined;
  return Array.from(rows, ([key, value]) => {
    ok(last === undefined || compareBytes(last, key) < 0);
    last = key;
    return `${toHex(key)}=${toHex(value)}`;
  });
}
