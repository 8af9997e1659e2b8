/**
 * The identity of a data directory, checked before the database touches
 * anything: DIR/unspent.json says what the store is, DIR/db/ holds it.
 *
 * The identity is written first and atomically, so a crash at any moment of
 * the creation leaves an empty directory or a valid new store.
 */
import { accessSync, closeSync, constants, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../files/regular.ts';
import { checkedText, parseChecked } from '../util/checked-text.ts';
import { UnspentError } from '../util/errors.ts';

/** Raised when a store of the older schema can no longer be read as it is. */
export const SCHEMA_VERSION = 3;

export const IDENTITY_FILE = 'unspent.json';
export const DATABASE_FOLDER = 'db';
/** What is left of a database whose removal was interrupted. */
export const REMOVED_FOLDER = 'db.removed';
const TEMPORARY_SUFFIX = '.tmp';
/** There while a process has the store open: its socket for others (store/control/). */
export const CONTROL_FOLDER = 'control';

/** There while a backup is made: files of the database that must not go meanwhile (store/backup/). */
export const PINNED_FOLDER = 'backup.pinned';

/** All that a store itself puts into its directory. */
export const STORE_ENTRIES: readonly string[] = [
  IDENTITY_FILE,
  IDENTITY_FILE + TEMPORARY_SUFFIX,
  DATABASE_FOLDER,
  REMOVED_FOLDER,
  CONTROL_FOLDER,
  PINNED_FOLDER,
];

/** Limit of unspent.json: ours has a few hundred bytes, so a larger file is not ours. */
const IDENTITY_BYTES_MAX = 64 * 1024;

/** What an interrupted write of ours, or a fresh file system, leaves in a directory that is otherwise empty. */
const NOT_CONTENT = new Set([IDENTITY_FILE + TEMPORARY_SUFFIX, CONTROL_FOLDER, PINNED_FOLDER, 'lost+found']);

/** Wallets are kept beside a store, and may be there before it (wallet/database-url.ts, server/wallets/wallet-token.ts). */
const WALLET_FILES = /^wallets\.(sqlite(-wal|-shm|-journal)?|token)$/;

const DATABASE_KINDS = ['rocks', 'sqlite'] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

/** The file that a database of each engine cannot be opened without. */
const FIRST_FILE: Readonly<Record<DatabaseKind, string>> = { rocks: 'CURRENT', sqlite: 'store.sqlite' };

/** What an engine writes before that file when it creates a database; a crash may leave these alone. */
const BEFORE_FIRST_FILE = /^(LOCK|IDENTITY|MANIFEST-000001|\d+\.dbtmp)$/;

export interface Identity {
  readonly schema: number;
  readonly network: string;
  /** Whatever else the store must remember about itself, as JSON. */
  readonly [setting: string]: unknown;
}

export function databaseDirectory(directory: string): string {
  return join(directory, DATABASE_FOLDER);
}

/** The identity of the store in the directory; null where there is no directory or nothing in it. Throws STORE_SCHEMA for one of another format. Changes nothing. */
export function readIdentity(directory: string): Identity | null {
  const identity = readAnyIdentity(directory);
  if (identity !== null) checkSchema(directory, identity.schema);
  return identity;
}

/** The same of a store of an earlier format. */
export function readAnyIdentity(directory: string): Identity | null {
  const entries = listDirectory(directory);
  if (entries === null) return null;
  accessOrThrow(directory);
  if (!entries.includes(IDENTITY_FILE)) {
    const content = entries.filter((name) => !NOT_CONTENT.has(name) && !WALLET_FILES.test(name)).sort();
    if (content.length === 0) return null;
    const some = content.slice(0, 3).join(', ') + (content.length > 3 ? ', ...' : '');
    throw new UnspentError('STORE_FOREIGN', `${directory} is not a store and not empty: it holds ${some}`, { directory });
  }
  const identity = parseIdentity(directory);
  databaseKind(databaseDirectory(directory));
  return identity;
}

/** Makes the directory if need be. On return the identity is on the disk; before, the old one or none is. */
export function writeIdentity(directory: string, identity: Identity): void {
  try {
    mkdirSync(directory, { recursive: true });
    writeFileAtomically(directory, IDENTITY_FILE, checkedText({ format: 'unspent', ...identity }));
  } catch (cause) {
    throw systemError(cause, directory, 'cannot be written');
  }
}

/**
 * Removes the database and then, last, the identity: until then the directory is
 * what that says. The database goes as a whole, under another name, before its
 * files do: with some of them gone it would pass for a damaged one.
 */
export function removeStore(directory: string): void {
  const database = databaseDirectory(directory);
  const removed = join(directory, REMOVED_FOLDER);
  try {
    rmSync(removed, { recursive: true, force: true });
    if (listDirectory(database) !== null) renameSync(database, removed);
    rmSync(removed, { recursive: true, force: true });
    for (const folder of [CONTROL_FOLDER, PINNED_FOLDER]) rmSync(join(directory, folder), { recursive: true, force: true });
    rmSync(join(directory, IDENTITY_FILE), { force: true });
  } catch (cause) {
    throw systemError(cause, directory, 'cannot be removed');
  }
}

export function checkNetwork(identity: Identity, network: string): void {
  if (identity.network === network) return;
  throw new UnspentError('STORE_NETWORK', `the store is of network '${identity.network}', not of '${network}'`, {
    store: identity.network,
    wanted: network,
  });
}

/**
 * Which engine made the database that is there; null: none is, or one that was
 * only half created. One that lacks the file it begins with must not be opened:
 * either engine would create another over what is left.
 */
export function databaseKind(database: string): DatabaseKind | null {
  const files = listDirectory(database) ?? [];
  const kinds = DATABASE_KINDS.filter((kind) => files.includes(FIRST_FILE[kind]));
  if (kinds.length === 1) return kinds[0];
  if (files.every((name) => BEFORE_FIRST_FILE.test(name))) return null;
  const first = files.some((name) => name.startsWith(FIRST_FILE.sqlite)) ? FIRST_FILE.sqlite : FIRST_FILE.rocks;
  const what = kinds.length > 1 ? `it has files of ${kinds.join(' and ')}` : `${first} is missing beside ${files.length} other files`;
  throw new UnspentError('STORE_DAMAGED', `the store is damaged (${database}): ${what}`, { directory: database });
}

/** Temporary file, fsync, rename, fsync of the directory: the whole text or the file as it was. */
export function writeFileAtomically(directory: string, name: string, text: string): void {
  const temporary = join(directory, name + TEMPORARY_SUFFIX);
  const file = openSync(temporary, 'w');
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, join(directory, name));
  // Windows has no descriptors of directories, and writes their entries by itself.
  if (process.platform === 'win32') return;
  const folder = openSync(directory, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function parseIdentity(directory: string): Identity {
  const path = join(directory, IDENTITY_FILE);
  const damaged = (why: string, cause?: unknown) =>
    new UnspentError('STORE_DAMAGED', `the store is damaged (${directory}): ${IDENTITY_FILE} ${why}`, { directory, file: path }, cause);
  let text: string;
  try {
    text = new TextDecoder().decode(readRegular(path, { bytesMax: IDENTITY_BYTES_MAX, links: 'follow' }));
  } catch (cause) {
    if (cause instanceof UnspentError) throw damaged(`cannot be read: ${cause.message}`, cause);
    throw systemError(cause, path, 'cannot be read');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw damaged('is not JSON', cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged('is not an object');
  const { format, ...identity } = value as Record<string, unknown>;
  const { schema, network } = identity as Partial<Identity>;
  if (format !== 'unspent') throw damaged(`has no "format": "unspent"`);
  if (typeof schema !== 'number' || !Number.isInteger(schema) || schema < 1) throw damaged('has no valid "schema"');
  // Before the rest is looked at: a newer schema may have changed it.
  if (schema > SCHEMA_VERSION) checkSchema(directory, schema);
  if (typeof network !== 'string' || network === '') throw damaged('has no valid "network"');
  if (parseChecked(text) === null) throw damaged('is not as it was written: its checksum is wrong');
  const { checksum: _, ...checked } = identity;
  return { ...checked, schema, network };
}

function checkSchema(directory: string, schema: number): void {
  if (schema === SCHEMA_VERSION) return;
  const next = schema < SCHEMA_VERSION ? '; `unspent upgrade --dry-run` says what it takes' : '';
  const message = `the store in ${directory} has schema ${schema}; this version reads ${SCHEMA_VERSION}${next}`;
  throw new UnspentError('STORE_SCHEMA', message, { directory, schema, newest: SCHEMA_VERSION });
}

/** Null where there is nothing of that name. */
function listDirectory(directory: string): string[] | null {
  try {
    return readdirSync(directory);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return null;
    throw systemError(cause, directory, code === 'ENOTDIR' ? 'is not a directory' : 'cannot be read');
  }
}

function accessOrThrow(directory: string): void {
  try {
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw systemError(cause, directory, 'must be readable and writable');
  }
}

/** What failed while a store was opened, as a failure of its directory where it is what the system said of a file. */
export function storeFailure(error: unknown, directory: string): unknown {
  return (error as NodeJS.ErrnoException).syscall === undefined || error instanceof UnspentError
    ? error
    : systemError(error, directory, 'cannot be read or written');
}

function systemError(cause: unknown, path: string, what: string): UnspentError {
  const error = cause as NodeJS.ErrnoException;
  const code = error.code === 'ENOSPC' ? 'DISK_FULL' : 'IO';
  return new UnspentError(code, `${path} ${what} (${error.code ?? error.message})`, { path }, cause);
}
