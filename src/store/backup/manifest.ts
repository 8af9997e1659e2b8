/**
 * What a backup says of itself: which store at which block, and every file with
 * its size and hash. It is written last, so a folder with a manifest is whole.
 */
import { join } from 'node:path';
import { readRegular } from '../../files/regular.ts';
import { isHex } from '../../util/bytes.ts';
import { checkedText, parseChecked } from '../../util/checked-text.ts';
import { UnspentError } from '../../util/errors.ts';
import { BACKUP_MANIFEST_BYTES_MAX } from '../../util/limits.ts';
import { VERSION } from '../../util/version.ts';

export const BACKUP_MANIFEST_FILE = 'manifest.json';
const FORMAT = 'unspent-backup';
const FORMAT_VERSION = 1;

/** A file of a backup. */
export interface BackupFile {
  /** Relative to the data directory that it is restored to, with slashes. */
  readonly path: string;
  /** Its size. */
  readonly bytes: number;
  /** Of all its bytes, in hex. */
  readonly sha256: string;
  /** Of a file that never changes: the hash of its end, which no other file has. */
  readonly tail?: string;
}

/** What a backup says of itself. */
export interface BackupManifest {
  /** Its name in the folder of backups. */
  readonly name: string;
  /** When it was made. */
  readonly createdAt: string;
  /** The version that made it. */
  readonly createdBy: string;
  /** The network of its store. */
  readonly network: string;
  /** The format of its store. */
  readonly schema: number;
  /** The engine of its store. */
  readonly engine: string;
  /** The block it is of, as people write it; null: the store had none. */
  readonly point: { readonly height: number; readonly slot: number; readonly hash: string } | null;
  /** Count, value and digest of the unspent set; null: the store keeps none. */
  readonly digest: { readonly utxos: number; readonly value: string; readonly digest: string } | null;
  /** The last operation in the files of the database; null: they were not copied as they are. */
  readonly sequence: number | null;
  /** Files of the data directory beside the store that are in it. */
  readonly besides: readonly string[];
  /** And those that are not. */
  readonly leftOut: readonly string[];
  /** Every file. */
  readonly files: readonly BackupFile[];
}

export function backupManifestText(manifest: Omit<BackupManifest, 'createdBy'>): string {
  return checkedText({ format: FORMAT, version: FORMAT_VERSION, createdBy: `unspent ${VERSION}`, ...manifest });
}

/** Throws BACKUP_INVALID. */
export function readBackupManifest(backup: string): BackupManifest {
  const path = join(backup, BACKUP_MANIFEST_FILE);
  const invalid = (what: string, cause?: unknown): UnspentError => backupInvalid(backup, `${BACKUP_MANIFEST_FILE} ${what}`, cause);
  let text: string;
  try {
    text = new TextDecoder().decode(readRegular(path, { bytesMax: BACKUP_MANIFEST_BYTES_MAX, links: 'refuse' }));
  } catch (cause) {
    throw invalid(`cannot be read: ${(cause as Error).message}`, cause);
  }
  const content = parseChecked(text);
  if (content === null) throw invalid('is not as it was written: its checksum is wrong');
  const { format, version, ...manifest } = content;
  if (format !== FORMAT) throw invalid(`has no "format": "${FORMAT}"`);
  if (version !== FORMAT_VERSION) throw invalid(`has version ${version}; this version of unspent reads ${FORMAT_VERSION}`);
  if (!isManifest(manifest)) throw invalid('is not one of a backup');
  return manifest;
}

export function backupInvalid(backup: string, what: string, cause?: unknown): UnspentError {
  return new UnspentError('BACKUP_INVALID', `the backup ${backup} is not whole: ${what}`, { backup }, cause);
}

/** The checksum says that we wrote it; this, that whoever else did so wrote no path that leads out of the folder. */
function isManifest(content: Record<string, unknown>): content is Record<string, unknown> & BackupManifest {
  const { name, createdAt, network, schema, engine, files, besides, leftOut } = content;
  const texts = [name, createdAt, network, engine].every((each) => typeof each === 'string');
  if (!texts || typeof schema !== 'number' || !isNames(besides) || !isNames(leftOut)) return false;
  return Array.isArray(files) && files.every(isFile);
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && !name.includes('/'));
}

const PATH = /^(?!.*(?:^|\/)\.\.?(?:\/|$))[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)?$/;

function isFile(value: unknown): value is BackupFile {
  const { path, bytes, sha256 } = value as Partial<Record<keyof BackupFile, unknown>>;
  return typeof path === 'string' && PATH.test(path) && Number.isSafeInteger(bytes) && typeof sha256 === 'string' && isHex(sha256, 32);
}
