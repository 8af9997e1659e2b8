/**
 * The files of an open RocksDB, held between two commits while it flushes and
 * merges tables on its own: what is copied of them opens, and is that commit.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkDatabaseFiles } from '../../../src/engine/open.ts';
import { type PinnedFiles, releaseFiles } from '../../../src/engine/pinned-files.ts';
import { readManifest } from '../../../src/engine/rocks/manifest.ts';
import { openRocks } from '../../../src/engine/rocks/rocks.ts';
import { nextTurn } from '../../../src/util/time-slice.ts';
import { COLUMNS, keyOf, NAMES, newDirectory, open, SMALL, shown } from './rig.ts';

function copyOf({ directory, files }: PinnedFiles): string {
  const to = newDirectory();
  mkdirSync(to);
  for (const { name, bytes, isFinal } of files) {
    if (isFinal) linkSync(join(directory, name), join(to, name));
    else {
      copyFileSync(join(directory, name), join(to, name));
      truncateSync(join(to, name), bytes);
    }
  }
  return to;
}

test('files that are held between two commits are the database of that commit, whatever RocksDB does meanwhile', async () => {
  const directory = newDirectory();
  const place = join(directory, '..', 'pinned');
  const engine = await open(directory);
  const held: { readonly pinned: PinnedFiles; readonly rows: readonly string[][] }[] = [];
  for (let round = 0; round < 240; round++) {
    const batch = engine.batch();
    for (let i = 0; i < 20; i++) {
      // Written again and again, so that merging has something to drop.
      batch.put('points', keyOf((round * 20 + i) % 300, 34), keyOf(round, 64));
      batch.put('ordered', keyOf(round * 20 + i, 30), new Uint8Array(1500).fill(round));
      if (round > 20 && i < 10) batch.del('ordered', keyOf((round - 20) * 20 + i, 30));
    }
    batch.commit();
    if (round % 30 === 17) {
      const pinned = engine.pinFiles(place);
      ok(pinned !== null);
      held.push({ pinned, rows: NAMES.map((name) => shown(engine.scan(name))) });
    }
    await nextTurn();
  }
  const live = new Set(readdirSync(directory));
  const merged = held.flatMap(({ pinned }) => pinned.files.filter(({ name, isFinal }) => isFinal && !live.has(name)));
  ok(merged.length > 0, 'some of the tables are gone from the database by now');
  for (const { pinned, rows } of held) {
    const copy = copyOf(pinned);
    await checkDatabaseFiles(copy, pinned.sequence);
    const again = await openRocks(copy, COLUMNS, { ...SMALL, existing: NAMES });
    try {
      deepEqual(
        NAMES.map((name) => shown(again.scan(name))),
        rows,
      );
    } finally {
      await again.close();
    }
    releaseFiles(pinned);
    ok(!existsSync(pinned.directory));
  }
  await engine.close();
  const { tables, isWhole } = readManifest(directory);
  const onDisk = readdirSync(directory).filter((name) => name.endsWith('.sst'));
  ok(isWhole && onDisk.length > 0);
  deepEqual(
    [...tables.keys()].map((number) => `${`${number}`.padStart(6, '0')}.sst`).sort(),
    onDisk.sort(),
    'the manifest names what is there',
  );
  for (const [number, bytes] of tables) equal(statSync(join(directory, `${`${number}`.padStart(6, '0')}.sst`)).size, bytes);
});
