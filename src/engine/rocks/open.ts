/**
 * The way into a RocksDB: look whether everything is there, take the seal away,
 * and only then let RocksDB at the files. Whatever fails on the way leaves a
 * store that opens again and is what it was.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnspentError } from '../../util/errors.ts';
import { LATE_SEAL_MS } from '../../util/limits.ts';
import { isRunning } from '../../util/running.ts';
import { databaseKind } from '../directory.ts';
import { checkSeal, readUncleanShutdown, takeSeal, type UncleanShutdown } from '../seal.ts';
import { binding, type NativeColumn, type NativeDatabase, type NativeOpenOptions } from './binding.ts';
import { storeError } from './errors.ts';
import { checkRecovery } from './recovery.ts';

/** Looks at files that change meanwhile, before they are said to be another process's. */
const LOOKS_MAX = 5;
const LOOK_AGAIN_MS = 20;

export interface OpenedDatabase {
  readonly native: NativeDatabase;
  readonly handles: Readonly<Record<string, NativeColumn>>;
  /** Who had it open last and did not close it; null: it was closed, or is new. */
  readonly unclosed: UncleanShutdown | null;
}

/** `existing`: columns it must have unless it is empty. When this fails, the directory is as it was or as RocksDB's own crash would leave it. */
export async function openDatabase(directory: string, options: NativeOpenOptions, existing: readonly string[]): Promise<OpenedDatabase> {
  let restoreSeal: (() => void) | null = null;
  try {
    const isThere = prepareDirectory(directory, options.createIfMissing);
    if (isThere) await checkFiles(directory, existing);
    const holder = readUncleanShutdown(directory);
    const hadLock = readdirSync(directory).includes('LOCK');
    restoreSeal = takeSeal(directory);
    const native = binding.db_init(directory);
    let handles: Record<string, NativeColumn>;
    try {
      handles = await openNative(native, options);
    } catch (error) {
      // Behind a lock the files are another's. Otherwise RocksDB leaves at least its lock file before it fails.
      if (storeError(error, directory).code === 'STORE_LOCKED') restoreSeal = null;
      else if (!hadLock) rmSync(join(directory, 'LOCK'), { force: true });
      throw error;
    }
    try {
      return { native, handles, unclosed: await takeLateSeal(directory, restoreSeal === null ? holder : null) };
    } catch (error) {
      await closeNative(native);
      throw error;
    }
  } catch (error) {
    restoreSeal?.();
    throw storeError(error, directory);
  }
}

/**
 * A process that closes lets go of RocksDB's lock first and writes its seal then: we may have the lock before the seal is
 * there. It must not stay, since we change the files; and who writes it has closed. `holder`: who had the store open when
 * we looked before we had the lock. Returns who did not close it.
 */
async function takeLateSeal(directory: string, holder: UncleanShutdown | null): Promise<UncleanShutdown | null> {
  for (const until = performance.now() + LATE_SEAL_MS; ; await sleep(LOOK_AGAIN_MS)) {
    if (takeSeal(directory) !== null) return null;
    const other = readUncleanShutdown(directory)?.process ?? process.pid;
    if (other === process.pid || !isRunning(other) || performance.now() > until) {
      return takeSeal(directory) === null ? holder : null;
    }
  }
}

/** Throws STORE_DAMAGED. Where another process is at work on the files, they may look so for a moment; its lock will tell. */
async function checkFiles(directory: string, existing: readonly string[]): Promise<void> {
  for (let look = 1; ; look++) {
    const before = listing(directory);
    try {
      checkRecovery(directory, { columns: existing, sequence: checkSeal(directory)?.sequence ?? null });
      return;
    } catch (error) {
      if (listing(directory) === before) throw error;
      if (look === LOOKS_MAX) {
        throw new UnspentError('STORE_LOCKED', `another process is at work on the files of the store (${directory})`, { directory }, error);
      }
      await sleep(LOOK_AGAIN_MS);
    }
  }
}

function listing(directory: string): string {
  const sizes = readdirSync(directory).map((name) => [name, statSync(join(directory, name), { throwIfNoEntry: false })?.size]);
  return JSON.stringify(sizes.sort());
}

export function closeNative(native: NativeDatabase): Promise<void> {
  return new Promise((resolve, reject) => binding.db_close(native, (error) => (error ? reject(error) : resolve())));
}

function openNative(native: NativeDatabase, options: NativeOpenOptions): Promise<Record<string, NativeColumn>> {
  return new Promise((resolve, reject) => {
    binding.db_open(native, options, (error, columns) => (error ? reject(error) : resolve(columns)));
  });
}

/** Whether there is a database. RocksDB makes a directory and a lock file even where it then refuses: so we look first. */
function prepareDirectory(directory: string, create: boolean): boolean {
  if (databaseKind(directory) !== null) return true;
  if (!create) throw new UnspentError('STORE_MISSING', `there is no store (${directory})`, { directory });
  mkdirSync(directory, { recursive: true });
  return false;
}
