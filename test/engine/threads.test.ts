/**
 * A reader on another thread through the handle of the engine, on each engine:
 * every snapshot it takes is one moment of all columns while the owner commits
 * without pause. This file is also the owner's thread.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { ColumnSpec } from '../../src/engine/engine.ts';
import { attachEngine, type EngineHandle, openEngineIn } from '../../src/engine/open.ts';
import { readU32, writeU32 } from '../../src/util/bytes.ts';

const COLUMNS: readonly ColumnSpec[] = ['a', 'b', 'c', 'd'].map((name) => ({ name, access: 'point', weight: 1 }));
const NAMES = COLUMNS.map((column) => column.name);
const ROWS = 60;
const KEY = Uint8Array.of(1, 0);
const SNAPSHOTS = 300;

interface Work {
  readonly directory: string;
  readonly kind: 'rocks' | 'sqlite';
}

if (isMainThread)
  for (const kind of ['rocks', 'sqlite'] as const)
    it(`takes consistent snapshots beside a busy writer: ${kind}`, () => takesConsistentSnapshots(kind));
else await writeUntilTold(workerData as Work);

async function takesConsistentSnapshots(kind: Work['kind']): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'unspent-threads-'));
  const writer = new Worker(new URL(import.meta.url), { workerData: { directory, kind } satisfies Work });
  // Asked for before anything is awaited: the last message and the end of the thread may be told at once.
  const ended = new Promise((resolve) => writer.once('exit', resolve));
  try {
    const [handle] = (await once(writer, 'message')) as [EngineHandle];
    equal(handle.kind, kind);
    const reader = await attachEngine(handle, COLUMNS);
    let newest = 0;
    for (let taken = 0; taken < SNAPSHOTS || newest < SNAPSHOTS / 10; taken++) {
      const snapshot = reader.snapshot(NAMES);
      const counts = NAMES.map((name) => readU32(snapshot.get(name, KEY)!, 0));
      deepEqual(
        counts,
        NAMES.map(() => counts[0]),
      );
      for (const name of NAMES) for (const [, value] of snapshot.scan(name)) equal(readU32(value, 0), counts[0]);
      snapshot.release();
      ok(counts[0] >= newest);
      newest = counts[0];
    }
    ok(reader.stats().bytes > 0);
    await reader.close();
    writer.postMessage('stop');
    const [commits] = (await once(writer, 'message')) as [number];
    ok(commits >= newest, `${commits} commits, newest seen ${newest}`);
    await ended;
  } finally {
    await writer.terminate();
    rmSync(directory, { recursive: true });
  }
}

async function writeUntilTold({ directory, kind }: Work): Promise<void> {
  const engine = await openEngineIn(directory, COLUMNS, { kind, createIfMissing: true });
  let told = false;
  parentPort!.once('message', () => {
    told = true;
  });
  let commits = 0;
  while (!told) {
    const batch = engine.batch();
    const value = new Uint8Array(4);
    writeU32(value, 0, ++commits);
    // As large as a small block's, or the writer would only ever be between two commits.
    for (const name of NAMES) for (let row = 0; row < ROWS; row++) batch.put(name, Uint8Array.of(1, row), value);
    batch.commit();
    if (commits === 1) parentPort!.postMessage(engine.handle);
    if (commits % 100 === 0) await new Promise(setImmediate);
  }
  await engine.close();
  parentPort!.postMessage(commits);
}
