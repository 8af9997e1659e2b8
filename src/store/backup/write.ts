/**
 * Makes a backup of an open store: in a folder of its own beside the others,
 * which is given its name when all of it is on the disk. Blocks go on coming
 * meanwhile. Files that an earlier backup has are linked, not copied; memory holds
 * a buffer, however large the store is.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { copyRows } from '../../engine/copy-rows.ts';
import { DATABASE_FOLDER, databaseKind, IDENTITY_FILE, readIdentity } from '../../engine/directory.ts';
import type { Reader } from '../../engine/engine.ts';
import { checkDatabaseFiles, openEngineIn } from '../../engine/open.ts';
import { type PinnedFile, type PinnedFiles, tryLink } from '../../engine/pinned-files.ts';
import type { Network } from '../../families/family.ts';
import { UNSPENT } from '../../projections/utxo.ts';
import { DigestSum } from '../../query/digest.ts';
import { renderPoint } from '../../query/render.ts';
import { readHead } from '../../state/head.ts';
import { BEGINS_ANEW, UnspentError } from '../../util/errors.ts';
import { BACKUP_SLICE_MS } from '../../util/limits.ts';
import { TimeSlice } from '../../util/time-slice.ts';
import { copyDatabase, copyJournal, findBesides } from './besides.ts';
import { type CopyOptions, hashFile, hashTail, syncFolder, writeText } from './file-copy.ts';
import { backupNames, beginPartial, OWNER_FILE, openBackupFolder, removeIfEmpty, STORE_FOLDER, tryMakeFolder } from './folder.ts';
import { BACKUP_MANIFEST_FILE, type BackupFile, type BackupManifest, backupManifestText, readBackupManifest } from './manifest.ts';
import type { PinnedStore } from './pinned-store.ts';

/** How a backup is made. */
export interface BackupOptions {
  /** Copies every file that no earlier backup has, also where a link to the store's own would do: a second copy on the same disk. Default false. */
  readonly copy?: boolean | undefined;
  /** How many backups stay in the folder, this one included; older ones are deleted when it is whole. Default: all. */
  readonly keep?: number | undefined;
  /** Aborting it stops the work, and leaves nothing of it. */
  readonly signal?: AbortSignal | undefined;
  /** Told now and then what is being done and how far it is. */
  readonly onProgress?: ((progress: BackupProgress) => void) | undefined;
}

/** How far a backup, or restoring one, is. */
export interface BackupProgress {
  /** What is being done. */
  readonly what: 'files' | 'rows' | 'digest' | 'verify';
  /** Bytes of files, or rows. */
  readonly done: number;
  /** Of how many; 0: not known. */
  readonly total: number;
}

/** A backup that was made. */
export interface BackupReport {
  /** Where it is. */
  readonly path: string;
  /** What it says of itself. */
  readonly manifest: BackupManifest;
  /** What was written. */
  readonly written: FileCount;
  /** What is a link to a file that was there. */
  readonly linked: FileCount;
  /** Names of the backups that were deleted. */
  readonly removed: readonly string[];
}

/** Files, and their bytes. */
export interface FileCount {
  /** How many. */
  readonly files: number;
  /** Their sizes added up. */
  readonly bytes: number;
}

/** The store to be backed up. */
interface BackupSource {
  readonly data: string;
  readonly network: Network;
  /** Holds the block that the store is at. */
  pin(): PinnedStore | Promise<PinnedStore>;
}

/** Throws STORE_FOREIGN, INTERRUPTED, DISK_FULL, IO, and leaves nothing behind. */
export async function writeBackup(source: BackupSource, folder: string, options: BackupOptions = {}): Promise<BackupReport> {
  try {
    const place = await openBackupFolder(folder);
    const partial = await beginPartial(place);
    const writer = new BackupWriter(source, place, partial, options);
    try {
      const manifest = await writer.write();
      const path = join(place, manifest.name);
      await rename(partial, path);
      rmSync(join(path, OWNER_FILE), { force: true });
      await syncFolder(place);
      return { path, manifest, written: writer.written, linked: writer.linked, removed: removeOld(place, options.keep) };
    } catch (error) {
      rmSync(partial, { recursive: true, force: true });
      writer.giveBackName();
      throw error;
    }
  } catch (error) {
    throw systemError(error, folder);
  }
}

class BackupWriter {
  readonly written = { files: 0, bytes: 0 };
  readonly linked = { files: 0, bytes: 0 };
  private readonly source: BackupSource;
  private readonly partial: string;
  private readonly options: BackupOptions;
  private readonly store: string;
  private readonly place: string;
  private readonly earlier: ReadonlyMap<string, EarlierFile>;
  private readonly files: BackupFile[] = [];
  /** The empty folder that holds its name; null: none yet. */
  private held: string | null = null;
  private done = 0;
  private total = 0;

  constructor(source: BackupSource, place: string, partial: string, options: BackupOptions) {
    this.source = source;
    this.place = place;
    this.partial = partial;
    this.options = options;
    this.store = join(partial, STORE_FOLDER);
    this.earlier = earlierFiles(place);
  }

  async write(): Promise<BackupManifest> {
    const { data, network } = this.source;
    const besides = findBesides(data);
    const database = join(this.store, DATABASE_FOLDER);
    mkdirSync(database, { recursive: true, mode: 0o700 });
    for (const name of besides.databases) await copyDatabase(join(data, name), join(this.store, name));
    const pinned = await this.source.pin();
    try {
      const identity = readIdentity(data);
      if (identity === null) throw new UnspentError('STORE_MISSING', `there is no store in ${data}`, { data });
      const createdAt = new Date().toISOString();
      if (pinned.files === null) await this.copyRows(pinned);
      else await this.takeFiles(pinned.files);
      await this.copyWhole(data, IDENTITY_FILE);
      for (const name of besides.journals) await copyJournal(join(data, name), join(this.store, name));
      for (const name of [...besides.databases, ...besides.journals]) await this.listed(name);
      const sequence = pinned.files?.sequence ?? null;
      if (sequence !== null) await checkDatabaseFiles(database, sequence);
      const head = readHead(pinned.reader);
      const digest = pinned.columns.some(({ name }) => name === UNSPENT) ? await this.digest(pinned.reader, head?.utxos ?? 0) : null;
      for (const folder of [database, this.store]) await syncFolder(folder);
      const manifest = {
        name: this.takeName(createdAt, head?.height ?? 0),
        createdAt,
        network: identity.network,
        schema: identity.schema,
        engine: databaseKind(database) ?? '',
        point: head === null ? null : renderPoint(head, network.dialect),
        digest,
        sequence,
        besides: [...besides.databases, ...besides.journals],
        leftOut: besides.leftOut,
        files: this.files,
      };
      await writeText(join(this.partial, BACKUP_MANIFEST_FILE), backupManifestText(manifest));
      await syncFolder(this.partial);
      return readBackupManifest(this.partial);
    } finally {
      await pinned.release();
    }
  }

  /**
   * The time, so that names are in order; and the height, for people. An empty folder holds it until the backup takes
   * its place: two that are made at once must not want the same.
   */
  private takeName(createdAt: string, height: number): string {
    const name = `${createdAt.replaceAll(/[-:]|\.\d+/g, '')}-${height}`;
    for (let number = 1; ; number++) {
      const wanted = number === 1 ? name : `${name}.${number}`;
      const path = join(this.place, wanted);
      if (!tryMakeFolder(path)) continue;
      this.held = path;
      return wanted;
    }
  }

  /** It came to nothing. */
  giveBackName(): void {
    if (this.held !== null) removeIfEmpty(this.held);
  }

  private async takeFiles({ directory, files }: PinnedFiles): Promise<void> {
    this.total = files.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const file of files) {
      const path = `${DATABASE_FOLDER}/${file.name}`;
      if (file.isFinal) this.files.push(await this.takeFinal(join(directory, file.name), path, file));
      else this.files.push({ path, bytes: file.bytes, sha256: await this.copy(join(directory, file.name), path, file.bytes) });
    }
  }

  /** A file that never changes: a link to the same file of an earlier backup, or to the store's own, or else a copy. */
  private async takeFinal(from: string, path: string, { bytes }: PinnedFile): Promise<BackupFile> {
    const to = join(this.store, path);
    const tail = await hashTail(from);
    const known = this.earlier.get(keyOf(path, bytes, tail));
    if (known !== undefined && existsSync(known.at) && tryLink(known.at, to)) {
      this.count(this.linked, bytes);
      this.onBytes(bytes);
      return { path, bytes, sha256: known.sha256, tail };
    }
    if (this.options.copy !== true && tryLink(from, to)) {
      this.count(this.linked, bytes);
      return { path, bytes, sha256: await hashFile(to, bytes, null, this.copyOptions()), tail };
    }
    return { path, bytes, sha256: await this.copy(from, path, bytes), tail };
  }

  private async copyRows({ reader, columns }: PinnedStore): Promise<void> {
    const { data } = this.source;
    const kind = databaseKind(join(data, DATABASE_FOLDER));
    const database = join(this.store, DATABASE_FOLDER);
    const engine = await openEngineIn(database, columns, { createIfMissing: true, ...(kind === null ? {} : { kind }) });
    try {
      await copyRows(reader, engine, (rows) => this.progress({ what: 'rows', done: rows, total: 0 }));
    } finally {
      await engine.close();
    }
    // It says nothing: whoever opens the database makes it anew.
    rmSync(join(database, 'LOCK'), { force: true });
    for (const name of readdirSync(database).sort()) await this.listed(`${DATABASE_FOLDER}/${name}`);
  }

  private async copyWhole(data: string, name: string): Promise<void> {
    const from = join(data, name);
    const { size } = statSync(from);
    this.files.push({ path: name, bytes: size, sha256: await this.copy(from, name, size) });
  }

  /** A file that is in place already. */
  private async listed(path: string): Promise<void> {
    const at = join(this.store, path);
    const { size } = statSync(at);
    this.count(this.written, size);
    this.files.push({ path, bytes: size, sha256: await hashFile(at, size, null, this.copyOptions()) });
  }

  private copy(from: string, path: string, bytes: number): Promise<string> {
    this.count(this.written, bytes);
    return hashFile(from, bytes, join(this.store, path), this.copyOptions());
  }

  private async digest(reader: Reader, total: number): Promise<BackupManifest['digest']> {
    const sum = new DigestSum();
    // In the thread of the fold, if a program makes a backup of its own store: blocks come in between.
    const slice = new TimeSlice(BACKUP_SLICE_MS);
    for (const [key, value] of reader.scan(UNSPENT)) {
      sum.add(key, 0, value, 0);
      if (sum.utxos % 1000 !== 0 || !slice.isOver) continue;
      this.progress({ what: 'digest', done: sum.utxos, total });
      await slice.turn();
    }
    const { utxos, value, digest } = sum.end();
    return { utxos, value: value.toString(), digest };
  }

  private copyOptions(): CopyOptions {
    return { signal: this.options.signal, onBytes: (bytes) => this.onBytes(bytes) };
  }

  private onBytes(bytes: number): void {
    this.done += bytes;
    this.progress({ what: 'files', done: this.done, total: Math.max(this.done, this.total) });
  }

  /** Throws INTERRUPTED. */
  private progress(progress: BackupProgress): void {
    if (this.options.signal?.aborted)
      throw new UnspentError('INTERRUPTED', 'stopped; nothing is left of the backup', { advice: BEGINS_ANEW });
    this.options.onProgress?.(progress);
  }

  private count(of: { files: number; bytes: number }, bytes: number): void {
    of.files++;
    of.bytes += bytes;
  }
}

interface EarlierFile {
  readonly at: string;
  readonly sha256: string;
}

/** What the backups in the folder have that never changes; of those that cannot be read nothing is taken. */
function earlierFiles(place: string): Map<string, EarlierFile> {
  const known = new Map<string, EarlierFile>();
  for (const name of backupNames(place)) {
    const files = filesOf(join(place, name));
    for (const { path, bytes, sha256, tail } of files) {
      if (tail !== undefined) known.set(keyOf(path, bytes, tail), { at: join(place, name, STORE_FOLDER, path), sha256 });
    }
  }
  return known;
}

function filesOf(backup: string): readonly BackupFile[] {
  try {
    return readBackupManifest(backup).files;
  } catch {
    // Whoever lists or restores it is told.
    return [];
  }
}

function keyOf(path: string, bytes: number, tail: string): string {
  return `${basename(path)} ${bytes} ${tail}`;
}

function removeOld(place: string, keep: number | undefined): string[] {
  if (keep === undefined) return [];
  const old = backupNames(place).slice(0, -keep);
  // Its manifest first: what is left of one that is half deleted is no backup.
  for (const name of old) {
    rmSync(join(place, name, BACKUP_MANIFEST_FILE));
    rmSync(join(place, name), { recursive: true, force: true });
  }
  return old;
}

export function systemError(cause: unknown, path: string): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (cause instanceof UnspentError || code === undefined) return cause;
  return new UnspentError(code === 'ENOSPC' ? 'DISK_FULL' : 'IO', `${path} cannot be written: ${message}`, { path }, cause);
}
