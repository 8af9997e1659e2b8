/**
 * The one way to an engine on disk: `openEngineIn` for the thread that writes,
 * `attachEngine` for one that reads the same store. Nobody else names an engine.
 *
 * A store's files say which engine made it, and that one opens it. For a new
 * store RocksDB is taken, or SQLite where RocksDB does not run; `kind` decides
 * otherwise. Each engine is loaded when it is first used: merely to load
 * RocksDB's binding kills the process on some machines (rocks-support.ts).
 */
import { UnspentError } from '../util/errors.ts';
import { type DatabaseKind, databaseKind } from './directory.ts';
import type { ColumnSpec, Engine } from './engine.ts';
import type { PinnedFiles } from './pinned-files.ts';
import type * as RocksModule from './rocks/rocks.ts';
import { thisMachine, whyRocksCannotLoad } from './rocks/support.ts';
import type { RocksOptions } from './rocks/tuning.ts';
import { readUncleanShutdown, type UncleanShutdown } from './seal.ts';
import type { SqliteHandle, SqliteOptions } from './sqlite/sqlite.ts';

export type { UncleanShutdown } from './seal.ts';

export interface EngineOptions extends RocksOptions, SqliteOptions {
  /** Default: auto. */
  readonly kind?: 'auto' | DatabaseKind;
}

/** Of the settings: a cache of 0 bytes is one that the engine fits into its memory. */
export function engineOptions<S extends { readonly cacheBytes: number }>({
  cacheBytes,
  ...settings
}: S): Omit<S, 'cacheBytes'> & { readonly cacheBytes?: number } {
  return cacheBytes === 0 ? settings : { ...settings, cacheBytes };
}

/** What another thread needs to read the same store; it can be sent there. */
export type EngineHandle = RocksModule.RocksHandle | SqliteHandle;

/** An engine in the thread that opened it. */
export interface OwnedEngine extends Engine {
  /** Good as long as this engine is open. */
  readonly handle: EngineHandle;
  /** Who had the store open before and did not close it. */
  readonly unclosed: UncleanShutdown | null;
  /**
   * The files of this moment, held in a new folder of `place`, for as long as that folder is there. Null: the file system
   * cannot. An engine without it keeps its rows in files that change: a copy of it is made by rows.
   */
  pinFiles?(place: string): PinnedFiles | null;
}

/**
 * Opens or creates the database in the directory. A column it does not have yet
 * is made; one it has and nobody names is STORE_SHAPE. When it fails, the store
 * is what it was. Throws STORE_ENGINE where the store, `kind` and the machine do
 * not go together.
 */
export async function openEngineIn(directory: string, columns: readonly ColumnSpec[], options: EngineOptions): Promise<OwnedEngine> {
  const kind = await chooseKind(directory, options.kind ?? 'auto');
  if (kind === 'sqlite') return (await import('./sqlite/sqlite.ts')).openSqlite(directory, columns, options);
  const rocks = await loadRocks();
  if (typeof rocks === 'string') throw unfit(`the engine 'rocks' does not run here: ${rocks}`, directory);
  return rocks.openRocks(directory, columns, options);
}

/** To read, in a thread of the process that has it open. It must be closed before the engine whose handle it is. */
export async function attachEngine(handle: EngineHandle, columns: readonly ColumnSpec[]): Promise<Engine> {
  if (handle.kind === 'sqlite') return (await import('./sqlite/sqlite.ts')).attachSqlite(handle, columns);
  return (await import('./rocks/rocks.ts')).attachRocks(handle, columns);
}

/** Of a database that nobody has open: throws STORE_DAMAGED where its files do not go together, up to that operation. Changes nothing. */
export async function checkDatabaseFiles(directory: string, sequence: number): Promise<void> {
  if (databaseKind(directory) !== 'rocks') return;
  (await import('./rocks/recovery.ts')).checkRecovery(directory, { columns: [], sequence });
}

/** The process that says it has the database open, or had it last and did not close it; null: none does. */
export function readHolderMark(directory: string): UncleanShutdown | null {
  return readUncleanShutdown(directory);
}

async function chooseKind(directory: string, wanted: 'auto' | DatabaseKind): Promise<DatabaseKind> {
  const made = databaseKind(directory);
  if (made !== null && wanted !== 'auto' && wanted !== made)
    throw unfit(`the store was made with the engine '${made}', and engine.kind says '${wanted}'`, directory);
  if (made !== null) return made;
  if (wanted !== 'auto') return wanted;
  return typeof (await loadRocks()) === 'string' ? 'sqlite' : 'rocks';
}

/** The engine on RocksDB, or why it cannot be had. */
async function loadRocks(): Promise<typeof RocksModule | string> {
  const obstacle = whyRocksCannotLoad(thisMachine());
  if (obstacle !== null) return obstacle;
  try {
    return await import('./rocks/rocks.ts');
  } catch (error) {
    // No build for this C library, or one that is older than the build needs.
    return `its binding cannot be loaded: ${(error as Error).message}`;
  }
}

function unfit(what: string, directory: string): UnspentError {
  return new UnspentError('STORE_ENGINE', `${what} (${directory})`, { directory });
}
