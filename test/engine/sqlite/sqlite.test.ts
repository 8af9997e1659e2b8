/** What only SQLite can get wrong: its files, its lock, its log beside readers. */
import { deepEqual, equal, rejects } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sqliteError } from '../../../src/engine/sqlite/errors.ts';
import { assertState, COLUMNS, coded, commitNext, newDirectory, open, SMALL } from './rig.ts';

const NAMES = COLUMNS.map(({ name }) => name);
const FACTORY = new URL('../../../src/engine/open.ts', import.meta.url).href;

async function filled(directory: string, commits: number): Promise<void> {
  const engine = await open(directory);
  for (let i = 0; i < commits; i++) commitNext(engine);
  await engine.close();
}

describe('a SQLite store', () => {
  it('is there again after closing, in one file, its checksums and its seal', async () => {
    const directory = newDirectory();
    await filled(directory, 50);
    deepEqual(readdirSync(directory).sort(), ['LOCK', 'store.sqlite', 'store.sums', 'unspent.seal']);
    const again = await open(directory, COLUMNS, { createIfMissing: false });
    equal(again.unclosed, null);
    equal(assertState(again), 50);
    await again.close();
  });

  it('opens once: STORE_LOCKED here and in another process, and the first goes on', async () => {
    const directory = newDirectory();
    const engine = await open(directory);
    await rejects(open(directory), coded('STORE_LOCKED', directory));
    const script = `import { openEngineIn } from ${JSON.stringify(FACTORY)};
      await openEngineIn(${JSON.stringify(directory)}, ${JSON.stringify(COLUMNS)}, ${JSON.stringify(SMALL)})
        .then(() => console.log('opened'), (error) => console.log(error.code));`;
    equal(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).trim(), 'STORE_LOCKED');
    commitNext(engine);
    await engine.close();
    await (await open(directory)).close();
  });

  it('refuses what is not there, not a directory, or has other columns, and leaves it as it was', async () => {
    const missing = newDirectory();
    await rejects(open(missing, COLUMNS, { createIfMissing: false }), coded('STORE_MISSING', missing));
    equal(existsSync(missing), false);
    const file = newDirectory();
    writeFileSync(file, 'x');
    await rejects(open(join(file, 'below')), coded('IO', file));

    const directory = newDirectory();
    await filled(directory, 30);
    const files = readdirSync(directory).sort();
    await rejects(open(directory, COLUMNS.slice(0, 2)), coded('STORE_SHAPE', 'c'));
    deepEqual(readdirSync(directory).sort(), files);
    await rejects(open(directory, COLUMNS, { existing: ['a', 'gone'] }), coded('STORE_DAMAGED', 'gone'));
    const again = await open(directory);
    equal(assertState(again), 30);
    await again.close();
  });

  it('makes columns it does not have yet, and drops those that nobody asks for', async () => {
    const directory = newDirectory();
    await filled(directory, 30);
    const more = await open(directory, [COLUMNS[0], { ...COLUMNS[0], name: 'd' }], { retired: ['b', 'c', 'never'] });
    equal(more.stats('d').bytes, 0);
    await more.close();
    const again = await open(directory, COLUMNS, { retired: ['d'] });
    deepEqual([...again.scan('b')], []);
    equal([...again.scan('a')].length, 401);
    await again.close();
  });

  it('is created over a creation that was cut short', async () => {
    const directory = newDirectory();
    mkdirSync(directory);
    for (const name of ['LOCK', 'store.sqlite']) writeFileSync(join(directory, name), '');
    await filled(directory, 2);
    equal(existsSync(join(directory, 'unspent.seal')), true);
  });

  it('says who did not close it, and what a failed open leaves of such a store opens', async () => {
    const [directory, copy] = [newDirectory(), newDirectory()];
    const engine = await open(directory);
    for (let i = 0; i < 30; i++) commitNext(engine);
    cpSync(directory, copy, { recursive: true });
    await engine.close();
    await rejects(open(copy, COLUMNS.slice(0, 2)), coded('STORE_SHAPE'));
    await (await open(copy)).close();
    cpSync(join(directory, 'store.sqlite'), join(copy, 'store.sqlite'));
    await rejects(open(copy), coded('STORE_DAMAGED', 'page'));
    cpSync(join(directory, 'store.sums'), join(copy, 'store.sums'));
    await rejects(open(copy), coded('STORE_DAMAGED', 'commits'));
  });

  it('begins its log anew beside snapshots that are always held', async () => {
    const directory = newDirectory();
    const engine = await open(directory, COLUMNS, { memtableBytes: 500_000 });
    const logBytes = (): number => statSync(join(directory, 'store.sqlite-wal')).size;
    // One in this thread, and one in another: each takes the next before it lets go of the last.
    let held = engine.snapshot(NAMES);
    const reader = new Worker(new URL('./reader.ts', import.meta.url), { workerData: { handle: engine.handle, columns: COLUMNS } });
    const ended = new Promise((resolve) => reader.once('exit', resolve));
    await once(reader, 'message');
    let shrunk = 0;
    let commits = 0;
    for (let bytes = 0; shrunk < 3 && commits < 5000; bytes = logBytes()) {
      equal(commitNext(engine), ++commits);
      if (logBytes() < bytes) shrunk++;
      const next = engine.snapshot(NAMES);
      held.release();
      held = next;
      if (commits % 20 === 0) equal(assertState(held), commits);
    }
    equal(shrunk, 3, `in ${commits} commits`);
    reader.postMessage('stop');
    await ended;
    await engine.close();
  });
});

describe('what SQLite says', () => {
  const failure = (body: (database: DatabaseSync) => void, path = ':memory:'): unknown => {
    const database = new DatabaseSync(path);
    try {
      body(database);
    } catch (error) {
      return sqliteError(error, 'DIR');
    } finally {
      database.close();
    }
    return undefined;
  };

  it('is told in our codes', () => {
    const file = newDirectory();
    writeFileSync(file, Buffer.alloc(10_000, 'not a database'));
    const full = failure((database) =>
      database.exec('PRAGMA max_page_count = 3; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))'),
    );
    coded('DISK_FULL', 'DIR')(full);
    coded('STORE_DAMAGED', 'DIR')(failure((database) => database.exec('SELECT * FROM t'), file));
    const system = (code: string) => sqliteError(Object.assign(new Error(code), { code, syscall: 'open' }), 'DIR');
    coded('DISK_FULL')(system('ENOSPC'));
    coded('IO')(system('EACCES'));
  });

  it('leaves mistakes of ours what they are', () => {
    const mistake = new TypeError('ours');
    equal(sqliteError(mistake, 'DIR'), mistake);
  });
});
