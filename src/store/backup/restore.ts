/**
 * Backups checked, and made a store again. What is restored is under a mark that
 * keeps everybody from opening it, until every file has its hash, the store opens,
 * all that can be recomputed agrees, and the digest is the one of the backup.
 */
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import {
  DATABASE_FOLDER,
  databaseDirectory,
  IDENTITY_FILE,
  type Identity,
  readIdentity,
  SCHEMA_VERSION,
  writeIdentity,
} from '../../engine/directory.ts';
import { checkDatabaseFiles } from '../../engine/open.ts';
import { renderPoint } from '../../query/render.ts';
import { BEGINS_ANEW, UnspentError } from '../../util/errors.ts';
import { NewDirectory } from '../directory.ts';
import type { StoreIdentity } from '../identity.ts';
import { configFrom, type SettingValues } from '../options.ts';
import { type OpenStore, openStore } from '../store.ts';
import { clearUnfinished } from '../unfinished.ts';
import { hashFile, syncFolder } from './file-copy.ts';
import { findBackup, STORE_FOLDER } from './folder.ts';
import { type BackupManifest, backupInvalid } from './manifest.ts';
import { type BackupProgress, systemError } from './write.ts';

/** Which backup, and how it is checked. */
export interface VerifyBackupOptions {
  /** Which of the folder. Default: the newest. */
  readonly name?: string | undefined;
  /** Aborting it stops the work. */
  readonly signal?: AbortSignal | undefined;
  /** Told now and then what is being done and how far it is. */
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
}

/** How a store is made of a backup. */
export interface RestoreOptions extends VerifyBackupOptions {
  /** Directory of the new store. Default: the setting `data`. */
  readonly data?: string | undefined;
  /** Settings. They go before environment variables (`UNSPENT_*`) and ./unspent.toml. */
  readonly settings?: SettingValues | undefined;
  /**
   * All settings, loaded already; `settings` is then left aside.
   * @internal
   */
  readonly config?: Config | undefined;
}

/** Checks every byte of a backup, without a store. Throws BACKUP_INVALID, BACKUP_MISSING. */
export async function verifyBackup(folder: string, options: VerifyBackupOptions = {}): Promise<BackupManifest> {
  const { path, manifest } = findBackup(folder, options.name);
  await readFiles(path, manifest, null, options);
  await checkFiles(path, join(path, STORE_FOLDER, DATABASE_FOLDER), manifest);
  return manifest;
}

/** Makes a store of a backup. Throws BACKUP_INVALID, STORE_EXISTS, STORE_SCHEMA, and leaves nothing behind. */
export async function restoreBackup(folder: string, options: RestoreOptions = {}): Promise<BackupManifest> {
  const config = configFrom(options);
  const data = options.data ?? config.data;
  const { path, manifest } = findBackup(folder, options.name);
  checkSchema(manifest);
  const identity = identityOf(path) as StoreIdentity;
  await clearUnfinished(data, readIdentity(data) as StoreIdentity | null);
  const made = new NewDirectory(data);
  try {
    writeIdentity(data, { ...identity, importing: 'backup', besides: manifest.besides });
    mkdirSync(databaseDirectory(data), { mode: 0o700 });
    await readFiles(path, manifest, data, options);
    await checkFiles(path, databaseDirectory(data), manifest);
    await checkStore(path, data, manifest, config, options);
    await syncFolder(databaseDirectory(data));
  } catch (error) {
    for (const name of manifest.besides) rmSync(join(data, name), { force: true });
    made.remove();
    throw systemError(error, data);
  }
  writeIdentity(data, identity);
  return manifest;
}

/** As it was in the backup; it has a checksum of its own. */
function identityOf(path: string): Identity {
  try {
    const identity = readIdentity(join(path, STORE_FOLDER));
    if (identity !== null) return identity;
  } catch (error) {
    throw backupInvalid(path, (error as Error).message, error);
  }
  throw backupInvalid(path, `${IDENTITY_FILE} is missing`);
}

function checkSchema({ schema, createdBy, name }: BackupManifest): void {
  if (schema === SCHEMA_VERSION) return;
  const message = `the backup ${name} is of a store of schema ${schema}, made by ${createdBy}; this version reads ${SCHEMA_VERSION}`;
  const next =
    schema < SCHEMA_VERSION ? `restore it with ${createdBy}, then run \`unspent upgrade\` with this one` : `restore it with ${createdBy}`;
  throw new UnspentError('STORE_SCHEMA', `${message}: ${next}`, { schema, newest: SCHEMA_VERSION });
}

/** Every file has its size and hash, and there is no other. `data`: where they are copied to, all but the identity. */
async function readFiles(path: string, manifest: BackupManifest, data: string | null, options: VerifyBackupOptions): Promise<void> {
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    options.onProgress?.({ what: 'files', done, total });
  };
  const store = join(path, STORE_FOLDER);
  const listed = new Set(manifest.files.map((file) => file.path));
  const extra = filesIn(store).find((name) => !listed.has(name));
  if (extra !== undefined) throw backupInvalid(path, `${extra} is not in its manifest`);
  for (const file of manifest.files) {
    const from = join(store, file.path);
    const size = statSync(from, { throwIfNoEntry: false })?.size;
    if (size !== file.bytes)
      throw backupInvalid(path, `${file.path} ${size === undefined ? 'is missing' : `has ${size} bytes instead of ${file.bytes}`}`);
    const to = data === null || file.path === IDENTITY_FILE ? null : join(data, file.path);
    const hash = await hashFile(from, file.bytes, to, { signal: options.signal, onBytes });
    if (hash !== file.sha256) throw backupInvalid(path, `${file.path} has another hash than when it was written`);
  }
}

function filesIn(store: string): string[] {
  const entries = readdirSync(store, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name).slice(store.length + 1));
}

async function checkFiles(path: string, database: string, { sequence }: BackupManifest): Promise<void> {
  if (sequence === null) return;
  try {
    await checkDatabaseFiles(database, sequence);
  } catch (error) {
    throw backupInvalid(path, (error as Error).message, error);
  }
}

async function checkStore(path: string, data: string, manifest: BackupManifest, config: Config, options: RestoreOptions): Promise<void> {
  const store = await openStore({ data, config, create: false, control: false, unfinished: true });
  try {
    const wrong = differences(store, manifest, options);
    if (wrong !== null) throw backupInvalid(path, wrong);
  } finally {
    await store.close();
  }
}

/** Null: the store is what the manifest says, and agrees with itself. */
function differences(store: OpenStore, manifest: BackupManifest, { signal, onProgress }: VerifyBackupOptions): string | null {
  const progress = (what: BackupProgress['what'], done: number, total: number): void => {
    if (signal?.aborted) throw new UnspentError('INTERRUPTED', 'stopped; nothing is left of the store', { advice: BEGINS_ANEW });
    onProgress?.({ what, done, total });
  };
  const { head } = store.fold;
  const point = head === null ? null : renderPoint(head, store.network.dialect);
  if (point?.hash !== manifest.point?.hash) return `it opens at block ${point?.hash}, and says ${manifest.point?.hash}`;
  const { faultCount, faults } = store.verify((_, rows) => progress('verify', rows, 0));
  if (faultCount > 0) return `it has ${faultCount} faults, the first: ${faults[0].column} ${faults[0].key} ${faults[0].what}`;
  if (manifest.digest === null) return null;
  const { digest } = store.digest((rows) => progress('digest', rows, manifest.digest?.utxos ?? 0));
  return digest === manifest.digest.digest ? null : `its digest is ${digest}, and says ${manifest.digest.digest}`;
}
