/**
 * Damaged SQLite stores: a row that is read is the row that was written, a log
 * that is cut gives one commit exactly or is refused, and files that do not
 * belong together are refused.
 */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Random } from '../../../src/chains/random.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { assertState, COLUMNS, coded, commitNext, newDirectory, open } from './rig.ts';

const FLIPS = 150;
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

function copyOf(directory: string): string {
  const copy = newDirectory();
  cpSync(directory, copy, { recursive: true });
  return copy;
}

type Content = ReadonlyMap<string, string>;

function contentOf(engine: Engine): Content {
  const rows = COLUMNS.flatMap(({ name }) => Array.from(engine.scan(name), ([key, value]) => [name, key, value] as const));
  return new Map(rows.map(([name, key, value]) => [`${name} ${Buffer.from(key).toString('hex')}`, Buffer.from(value).toString('hex')]));
}

describe('a damaged SQLite store', () => {
  it(`gives no row that was not written, whichever of ${FLIPS} bits is flipped`, async (t) => {
    const random = new Random(1, 41);
    const directory = newDirectory();
    const engine = await open(directory);
    for (let i = 0; i < 40; i++) commitNext(engine);
    const whole = contentOf(engine);
    await engine.close();
    const bytes = readFileSync(join(directory, 'store.sqlite'));
    const counts = { refused: 0, harmless: 0, fewer: 0 };
    for (let i = 0; i < FLIPS; i++) {
      const damaged = Uint8Array.from(bytes);
      damaged[random.int(bytes.length)] ^= 1 << random.int(8);
      writeFileSync(join(directory, 'store.sqlite'), damaged);
      // Each time as it was closed, but for that bit.
      const copy = copyOf(directory);
      const found = await open(copy)
        .then(async (opened) => {
          try {
            const content = contentOf(opened);
            const counted = COLUMNS.reduce((sum, { name }) => sum + Number(opened.stats(name).properties['rows']), 0);
            return { content, counted };
          } finally {
            await opened.close();
          }
        })
        .catch((error: unknown) => {
          ok(
            isUnspentError(error, 'STORE_DAMAGED') || isUnspentError(error, 'STORE_SCHEMA') || isUnspentError(error, 'STORE_SHAPE'),
            `${error}`,
          );
          return null;
        });
      rmSync(copy, { recursive: true });
      if (found === null) {
        counts.refused++;
        continue;
      }
      for (const [row, value] of found.content) equal(value, whole.get(row), row);
      // Rows that cannot be found any more are missed by whoever counts them.
      if (found.content.size < whole.size) ok(found.counted > found.content.size);
      if (found.content.size < whole.size) counts.fewer++;
      else counts.harmless++;
    }
    t.diagnostic(JSON.stringify(counts));
    ok(counts.refused > FLIPS / 3, JSON.stringify(counts));
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
    for (let i = 0; i < 2; i++) await rejects(open(directory), coded('STORE_DAMAGED', 'commits'));
  });
});
