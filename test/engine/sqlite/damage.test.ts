/**
 * Damaged SQLite stores: a flipped bit in the tables is never believed, a log
 * that is cut gives one commit exactly or is refused, and files that do not
 * belong together are refused.
 */
import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import {
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import { PAGE_BYTES } from '../../../src/engine/sqlite/files.ts';
import { attachSqlite, openSqlite } from '../../../src/engine/sqlite/sqlite.ts';
import { comparePages } from '../../../src/store/verify/files.ts';
import { checkedText } from '../../../src/util/checked-text.ts';
import { assertState, COLUMNS, coded, commitNext, newDirectory, open } from './rig.ts';

const FLIPS = 60;
const CUTS = 60;

/** As a kill would leave it. A log of `logBytes` is moved into the tables, and again when it has grown by half of that. */
async function unclosed(commits: number, logBytes = 2_000_000): Promise<string> {
  const [directory, copy] = [newDirectory(), newDirectory()];
  const engine = await open(directory, COLUMNS, { memtableBytes: logBytes });
  for (let i = 0; i < commits / 2; i++) commitNext(engine);
  // Keeps part of the log out of the tables, and all of it from beginning anew.
  const snapshot = engine.snapshot(['a']);
  for (let i = commits / 2; i < commits; i++) commitNext(engine);
  snapshot.release();
  cpSync(directory, copy, { recursive: true });
  await engine.close();
  return copy;
}

const CLOSED_COMMITS = 40;

async function closed(): Promise<string> {
  const directory = newDirectory();
  const engine = await open(directory);
  for (let i = 0; i < CLOSED_COMMITS; i++) commitNext(engine);
  await engine.close();
  return directory;
}

/** Not closed, and with hardly a page in its log. */
async function reopened(): Promise<string> {
  const [directory, copy] = [await closed(), newDirectory()];
  const engine = await open(directory);
  cpSync(directory, copy, { recursive: true });
  await engine.close();
  return copy;
}

function flipBit(path: string, at: number, bit: number): void {
  const file = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, at);
  byte[0] ^= 1 << bit;
  writeSync(file, byte, 0, 1, at);
  closeSync(file);
}

function copyOf(directory: string): string {
  const copy = newDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

describe('a damaged SQLite store', () => {
  for (const [how, from] of [
    ['closed', closed],
    ['not closed', reopened],
  ] as const) {
    it(`is refused, or what it was, whichever of ${FLIPS} bits is flipped: ${how}`, async (t) => {
      const random = new Random(1, 41);
      const directory = await from();
      const pages = statSync(join(directory, 'store.sqlite')).size / PAGE_BYTES;
      const outcomes = { refused: 0, whole: 0 };
      for (let i = 0; i < FLIPS; i++) {
        const copy = copyOf(directory);
        // Every other one in the first bytes of a page: there is the count of its rows, and where they are.
        const at = random.int(pages) * PAGE_BYTES + random.int(i % 2 === 0 ? 32 : PAGE_BYTES);
        flipBit(join(copy, 'store.sqlite'), at, random.int(8));
        try {
          const engine = await open(copy);
          assertState(engine);
          await engine.close();
          outcomes.whole++;
        } catch (error) {
          coded('STORE_DAMAGED')(error);
          await rejects(open(copy), coded('STORE_DAMAGED'));
          outcomes.refused++;
        }
        rmSync(copy, { recursive: true });
      }
      t.diagnostic(JSON.stringify(outcomes));
      // Of a store that was not closed, the pages that the log has again do no harm.
      ok(how === 'closed' ? outcomes.whole === 0 : outcomes.refused > 0, JSON.stringify(outcomes));
    });
  }

  it('is refused without its checksums, or with others; a store that never had any gets them', async () => {
    const directory = await closed();
    const without = copyOf(directory);
    rmSync(join(without, 'store.sums'));
    await rejects(open(without), coded('STORE_DAMAGED', 'store.sums'));
    const cut = copyOf(directory);
    truncateSync(join(cut, 'store.sums'), 8);
    rmSync(join(cut, 'unspent.seal'));
    await rejects(open(cut), coded('STORE_DAMAGED', 'page'));

    const old = await unclosed(30);
    rmSync(join(old, 'store.sums'));
    const mark = join(old, 'unspent.open');
    const { commits } = JSON.parse(readFileSync(mark, 'utf8'));
    await rejects(open(old), coded('STORE_DAMAGED', 'store.sums is missing'));
    writeFileSync(mark, checkedText({ process: 1, since: null, commits }));
    const engine = await open(old);
    equal(assertState(engine), 30);
    commitNext(engine);
    await engine.close();
    flipBit(join(old, 'store.sqlite'), PAGE_BYTES + 3, 0);
    await rejects(open(old), coded('STORE_DAMAGED', 'page 2'));
  });

  it('takes no commit while the checksums of moved pages cannot be written, and goes on when they can', async () => {
    const directory = newDirectory();
    const engine = await open(directory);
    commitNext(engine);
    const [sums, away] = [join(directory, 'store.sums'), join(directory, 'away')];
    renameSync(sums, away);
    mkdirSync(sums);
    // The log is long enough after some commits.
    let taken = 1;
    throws(() => {
      for (; taken < 50; taken++) commitNext(engine);
    }, coded('IO'));
    for (let i = 0; i < 3; i++) throws(() => commitNext(engine), coded('IO'));
    rmdirSync(sums);
    renameSync(away, sums);
    for (let i = 0; i < 10; i++) commitNext(engine);
    await engine.close();
    const again = await open(directory);
    equal(assertState(again), taken + 10);
    await again.close();
  });

  it('of which only the first pages are looked at before it is open is refused as soon as one of the others is found', async () => {
    const directory = await closed();
    const options = { createIfMissing: false, memtableBytes: 100_000, cacheBytes: 1_000_000, checkBytes: 2 * PAGE_BYTES };
    const whole = openSqlite(directory, COLUMNS, options);
    const reader = attachSqlite(whole.handle, COLUMNS);
    const left: number[] = [];
    equal(await comparePages(reader, (pages) => left.push(pages)), true);
    deepEqual([whole.pagesUnchecked, left.length], [0, 1], 'the one piece was waited for');
    equal(assertState(whole), CLOSED_COMMITS);
    await reader.close();
    await whole.close();
    const last = statSync(join(directory, 'store.sqlite')).size - 1;
    flipBit(join(directory, 'store.sqlite'), last, 0);
    const engine = openSqlite(directory, COLUMNS, options);
    equal(await comparePages(engine, () => {}), true);
    for (const call of [
      () => engine.get('a', Uint8Array.of(0)),
      () => [...engine.scan('b')],
      () => commitNext(engine),
      () => engine.snapshot(['a']).get('a', Uint8Array.of(0)),
    ]) {
      throws(call, coded('STORE_DAMAGED', `page ${Math.ceil(last / PAGE_BYTES)}`));
    }
    await engine.close();
  });

  it(`is at one commit exactly, or refused, when its log is cut at ${CUTS} places`, async (t) => {
    const random = new Random(1, 42);
    // The commits write 5.7 MB: the log is moved once, and the last third of it stays.
    const directory = await unclosed(34, 4_000_000);
    const log = join(directory, 'store.sqlite-wal');
    const { size } = statSync(log);
    const seen = new Set<number>();
    let refused = 0;
    for (let i = 0; i < CUTS; i++) {
      const copy = copyOf(directory);
      truncateSync(join(copy, 'store.sqlite-wal'), i === 0 ? 0 : i === 1 ? size - 1 : random.int(size));
      try {
        const engine = await open(copy);
        seen.add(assertState(engine));
        commitNext(engine);
        assertState(engine);
        await engine.close();
      } catch (error) {
        coded('STORE_DAMAGED')(error);
        // Nothing was changed: it is refused again.
        await rejects(open(copy), coded('STORE_DAMAGED'));
        refused++;
      }
      rmSync(copy, { recursive: true });
    }
    t.diagnostic(`${size} bytes of log, ${refused} refused, the others at ${[...seen].sort().join(', ')}`);
    ok(refused > 0 && seen.size > 2, `${refused} refused, ${seen.size} different commits`);
  });

  it('is refused without its log, without its tables, and with tables of another day', async () => {
    const directory = await unclosed(30);
    const withoutLog = copyOf(directory);
    rmSync(join(withoutLog, 'store.sqlite-wal'));
    await rejects(open(withoutLog), coded('STORE_DAMAGED', 'store.sqlite-wal'));
    const withoutTables = copyOf(directory);
    rmSync(join(withoutTables, 'store.sqlite'));
    await rejects(open(withoutTables), coded('STORE_DAMAGED', 'store.sqlite is missing'));
    const engine = await open(directory);
    equal(engine.unclosed?.process, process.pid);
    equal(assertState(engine), 30);
    await engine.close();

    const older = copyOf(directory);
    const next = await open(directory);
    commitNext(next);
    await next.close();
    cpSync(join(older, 'store.sqlite'), join(directory, 'store.sqlite'));
    const sizes = [older, directory].map((place) => statSync(join(place, 'store.sqlite')).size);
    deepEqual(sizes[0], sizes[1]);
    for (let i = 0; i < 2; i++) await rejects(open(directory), coded('STORE_DAMAGED', 'page'));
    cpSync(join(older, 'store.sums'), join(directory, 'store.sums'));
    for (let i = 0; i < 2; i++) await rejects(open(directory), coded('STORE_DAMAGED', 'commits'));
  });
});
