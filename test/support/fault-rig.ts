/**
 * A small RocksDB with tables and a log, and failures in the file operations of
 * opening and closing it: of our own in this process, of RocksDB's in another
 * under strace. Afterwards it must open and be what it was.
 */
import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, { cpSync, readdirSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import type { ColumnSpec, Engine } from '../../src/engine/engine.ts';
import { openRocks, type RocksEngine } from '../../src/engine/rocks/rocks.ts';
import { toHex, writeU32 } from '../../src/util/bytes.ts';
import { copyOfOpen } from './open-copy.ts';

const COLUMNS: readonly ColumnSpec[] = [
  { name: 'busy', access: 'point', weight: 3 },
  { name: 'seldom', access: 'order', weight: 1 },
];
const NAMES = COLUMNS.map(({ name }) => name);

export function openFaultStore(directory: string): Promise<RocksEngine> {
  return openRocks(directory, COLUMNS, { createIfMissing: true, memtableBytes: 0, cacheBytes: 0, existing: NAMES });
}

function contentOf(engine: Engine): string {
  return NAMES.map((name) => Array.from(engine.scan(name), ([key, value]) => `${toHex(key)}=${value.length}`).join()).join('\n');
}

/** Two sessions, so that there are tables and logs. `close` false: as if the process had been killed. */
export async function makeFaultStore(directory: string, close: boolean): Promise<string> {
  const working = `${directory}-working`;
  let content = '';
  for (let session = 0; session < 2; session++) {
    const engine = await openFaultStore(working);
    for (let commit = 0; commit < 60; commit++) {
      const key = new Uint8Array(8);
      writeU32(key, 0, session * 1000 + commit);
      const batch = engine.batch();
      batch.put('busy', key, new Uint8Array(6000).fill(commit));
      if (commit % 7 === 0) batch.put('seldom', key, key);
      batch.commit();
    }
    content = contentOf(engine);
    if (session === 1 && !close) await copyOfOpen(working, directory);
    await engine.close();
  }
  if (close) cpSync(working, directory, { recursive: true });
  rmSync(working, { recursive: true });
  return content;
}

export async function equalsAfterwards(directory: string, content: string, what: string): Promise<void> {
  let engine: RocksEngine;
  try {
    engine = await openFaultStore(directory);
  } catch (error) {
    throw new Error(`${what}: does not open any more`, { cause: error });
  }
  try {
    equal(contentOf(engine), content, what);
  } finally {
    await engine.close();
  }
}

/** Functions of node:fs that stores and engines use, and whether a full disk can fail them. */
const OPERATIONS = {
  readdirSync: false,
  statSync: false,
  existsSync: false,
  readFileSync: false,
  readSync: false,
  openSync: true,
  renameSync: false,
  rmSync: false,
  mkdirSync: true,
  writeFileSync: true,
  fsyncSync: true,
  accessSync: false,
  fstatSync: false,
  closeSync: false,
  lstatSync: false,
  linkSync: true,
  chmodSync: false,
  rmdirSync: false,
  mkdtempSync: true,
  realpathSync: false,
  unlinkSync: false,
} as const;
type Operation = keyof typeof OPERATIONS;

/** Runs the body with the nth call of any of these operations failing; returns which that was, null where there were fewer. */
export async function withFailing(nth: number, code: 'EIO' | 'ENOSPC', body: () => Promise<unknown>): Promise<Operation | null> {
  const originals = new Map<Operation, (...args: never[]) => unknown>();
  let calls = 0;
  let failed: Operation | null = null;
  for (const [name, fillsDisk] of Object.entries(OPERATIONS) as [Operation, boolean][]) {
    if (code === 'ENOSPC' && !fillsDisk) continue;
    const original = fs[name] as (...args: never[]) => unknown;
    originals.set(name, original);
    Object.assign(fs, {
      [name]: (...args: never[]) => {
        if (++calls !== nth) return original(...args);
        failed = name;
        // The system lets go of a descriptor whatever it then says.
        if (name === 'closeSync') original(...args);
        const text = code === 'EIO' ? 'i/o error' : 'no space left on device';
        throw Object.assign(new Error(`${code}: ${text}, ${name}`), { code, errno: code === 'EIO' ? -5 : -28, syscall: name.slice(0, -4) });
      },
    });
  }
  syncBuiltinESMExports();
  try {
    await body();
  } finally {
    Object.assign(fs, Object.fromEntries(originals));
    syncBuiltinESMExports();
  }
  return failed;
}

/** System calls RocksDB and we make on files, and the failures each can have. */
export const SYSTEM_CALLS: Readonly<Record<string, readonly string[]>> = {
  openat: ['ENOSPC', 'EIO'],
  write: ['ENOSPC', 'EIO'],
  pwrite64: ['ENOSPC', 'EIO'],
  fallocate: ['ENOSPC'],
  ftruncate: ['EIO'],
  rename: ['ENOSPC', 'EIO'],
  unlink: ['EIO'],
  fsync: ['EIO'],
  fdatasync: ['EIO'],
  sync_file_range: ['EIO'],
  read: ['EIO'],
  pread64: ['EIO'],
};

const CHILD = join(import.meta.dirname, 'fault-child.ts');
const NODE = [process.execPath, '--disable-warning=ExperimentalWarning', CHILD];

/** Whether strace may be used here; else why not. */
export function straceSkip(): string | false {
  const tried = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']);
  return tried.status === 0 ? false : 'strace is not installed, or may not trace';
}

/** The files of the store that there are, and those that RocksDB will make next. */
function pathsOf(directory: string): string[] {
  const numbers = Array.from({ length: 60 }, (_, i) => `${i + 1}`.padStart(6, '0'));
  const made = numbers.flatMap((number) => [
    `${number}.log`,
    `${number}.sst`,
    `MANIFEST-${number}`,
    `${number}.dbtmp`,
    `OPTIONS-${number}.dbtmp`,
  ]);
  const own = ['', 'CURRENT', 'LOCK', 'IDENTITY', 'unspent.seal', 'unspent.seal.tmp', 'unspent.open'];
  return [...new Set([...made, ...own, ...readdirSync(directory)])].flatMap((name) => ['-P', join(directory, name)]);
}

export interface Injected {
  /** What the child said; null where RocksDB aborted it. */
  readonly said: string | null;
  readonly signal: NodeJS.Signals | null;
  /** How many calls were failed. */
  readonly hits: number;
}

/** Opens and closes the store in a child whose nth such call fails; with `from` also all later ones. */
export function inject(directory: string, call: string, code: string, nth: number, from: boolean): Injected {
  const trace = `${directory}.trace`;
  const how = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${code}:when=${nth}${from ? '+' : ''}`];
  const ran = spawnSync('strace', ['-f', '-qq', '-o', trace, ...how, ...pathsOf(directory), ...NODE, directory], { encoding: 'utf8' });
  const hits = fs.readFileSync(trace, 'utf8').split('(INJECTED)').length - 1;
  rmSync(trace);
  return { said: ran.stdout === '' ? null : ran.stdout, signal: ran.signal, hits };
}
