/**
 * Stores to be damaged, and what may come of it. An account says of every commit
 * which rows there are after it: whatever opens must be at one of them exactly.
 * A store that was closed must be at the last, or refuse.
 */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ColumnSpec, Engine } from '../../src/engine/engine.ts';
import { openEngineIn } from '../../src/engine/open.ts';
import { readU32, toHex, writeU32 } from '../../src/util/bytes.ts';
import { checkStore, headOf } from './crash-check.ts';
import { openCrashStore } from './crash-store.ts';
import { Story } from './crash-story.ts';
import { pathTo, sourceTo } from './crash-tree.ts';
import { copyOfOpen } from './open-copy.ts';

export type DamagedEngine = 'rocks' | 'sqlite';

/** The least of RocksDB; of SQLite some commits, so that most pages are in the tables alone. */
const LOG_BYTES: Readonly<Record<DamagedEngine, number>> = { rocks: 0, sqlite: 400_000 };

export interface DamageBase {
  readonly directory: string;
  /** Opens a damaged copy and reads all of it; returns at which commit it is. Throws what the store throws, or an AssertionError. */
  readonly check: (directory: string) => Promise<'last' | 'earlier'>;
}

/** Bytes a commit adds to each: one column fills its memtable many times over, one hardly, and one is seldom written to. */
const BYTES = { busy: 6000, middling: 1500, seldom: 300 } as const;
const SELDOM_EVERY = 7;
const COLUMNS: readonly ColumnSpec[] = [
  { name: 'busy', access: 'point', weight: 3, main: true },
  { name: 'middling', access: 'prefix', prefixBytes: 2, weight: 1 },
  { name: 'seldom', access: 'order', weight: 1 },
];
const NAMES = COLUMNS.map(({ name }) => name);
const HEAD = Uint8Array.of(0xff);
/** Commits of the sessions. Rows are deleted again this many commits later. */
const SESSIONS = [60, 240, 400] as const;
const KEPT_COMMITS = 150;

const openEngine = (kind: DamagedEngine, directory: string, existing: readonly string[]) =>
  openEngineIn(join(directory, 'db'), COLUMNS, { kind, createIfMissing: true, memtableBytes: LOG_BYTES[kind], cacheBytes: 0, existing });

function rowOf(column: string, commit: number): Uint8Array {
  const bytes = BYTES[column as keyof typeof BYTES];
  const hash = createHash('sha512').update(`${column} ${commit}`).digest();
  return Uint8Array.from({ length: bytes }, (_, at) => hash[at % 64] ^ (at >> 6));
}

function keyOf(commit: number): Uint8Array {
  const key = new Uint8Array(8);
  key.set([commit % 5, commit % 3]);
  writeU32(key, 4, commit);
  return key;
}

const isWritten = (column: string, commit: number) => column !== 'seldom' || commit % SELDOM_EVERY === 0;

function commitRows(engine: Engine, commit: number): void {
  const batch = engine.batch();
  for (const column of NAMES) {
    if (isWritten(column, commit)) batch.put(column, keyOf(commit), rowOf(column, commit));
    const old = commit - KEPT_COMMITS;
    if (old > 0 && isWritten(column, old)) batch.del(column, keyOf(old));
  }
  const head = new Uint8Array(4);
  writeU32(head, 0, commit);
  batch.put('busy', HEAD, head);
  batch.commit();
}

/** Every row of the engine is what the account says of the commit it is at. */
function checkRows(engine: Engine): number {
  const head = engine.get('busy', HEAD);
  const commit = head === undefined ? 0 : readU32(head, 0);
  for (const column of NAMES) {
    const expected = new Map<string, Uint8Array>();
    for (let at = Math.max(1, commit - KEPT_COMMITS + 1); at <= commit; at++) {
      if (isWritten(column, at)) expected.set(toHex(keyOf(at)), rowOf(column, at));
    }
    for (const [key, value] of engine.scan(column)) {
      if (column === 'busy' && key.length === 1) continue;
      const wanted = expected.get(toHex(key));
      ok(wanted !== undefined, `${column} has a row too many at commit ${commit}: ${toHex(key)}`);
      ok(Buffer.from(value).equals(wanted), `${column} has another value at commit ${commit}: ${toHex(key)}`);
      expected.delete(toHex(key));
    }
    deepEqual([...expected.keys()], [], `${column} lacks rows at commit ${commit}`);
  }
  return commit;
}

/** After each of three sessions: as it is while it is open, and closed. */
export async function engineBases(folder: string, kind: DamagedEngine): Promise<DamageBase[]> {
  const bases: DamageBase[] = [];
  const working = join(folder, 'working');
  mkdirSync(working);
  for (const [session, last] of SESSIONS.entries()) {
    const engine = await openEngine(kind, working, session === 0 ? [] : NAMES);
    for (let commit = session === 0 ? 1 : SESSIONS[session - 1] + 1; commit <= last; commit++) commitRows(engine, commit);
    equal(checkRows(engine), last);
    const check = async (directory: string) => {
      const damaged = await openEngine(kind, directory, NAMES);
      try {
        return checkRows(damaged) === last ? 'last' : 'earlier';
      } finally {
        await damaged.close();
      }
    };
    const add = async (isClosed: boolean) => {
      const directory = join(folder, `engine-${session}-${isClosed ? 'closed' : 'open'}`);
      await copyOfOpen(working, directory);
      bases.push({ directory, check });
    };
    await add(false);
    await engine.close();
    await add(true);
  }
  return bases;
}

const STORY_BLOCKS = 200;
/** A whole store, after its first session and after its second. */
export async function storeBases(folder: string, seed: number, engine: DamagedEngine): Promise<DamageBase[]> {
  const story = new Story(seed, STORY_BLOCKS);
  const kind = { selfContained: false, set: [`engine.kind=${engine}`] };
  const working = join(folder, 'store');
  const bases: DamageBase[] = [];
  for (const height of [STORY_BLOCKS / 2, STORY_BLOCKS - 1]) {
    const store = await openCrashStore(working, story.tree.genesis, kind);
    const tip = pathTo(story.end)[height];
    await store.follow(sourceTo(tip, 1));
    const last = headOf(store);
    const check = async (directory: string) => {
      const damaged = await openCrashStore(directory, story.tree.genesis, { ...kind, reshape: false });
      try {
        checkStore(damaged, story);
        return headOf(damaged) === last ? 'last' : 'earlier';
      } finally {
        await damaged.close();
      }
    };
    const add = async (isClosed: boolean) => {
      const directory = join(folder, `store-${height}-${isClosed ? 'closed' : 'open'}`);
      await copyOfOpen(working, directory);
      bases.push({ directory, check });
    };
    await add(false);
    await store.close();
    await add(true);
  }
  return bases;
}
