/** What is in a folder of backups, as their manifests say; nothing else is read. */
import { join } from 'node:path';
import { backupNames, findBackupFolder, partialNames } from './folder.ts';
import { type BackupManifest, readBackupManifest } from './manifest.ts';

/** A folder of backups. */
export interface BackupList {
  /** Where it is. */
  readonly folder: string;
  /** Those that are whole, the oldest first; `failure`: why one cannot be read. */
  readonly backups: readonly { readonly name: string; readonly manifest: BackupManifest | null; readonly failure: string | null }[];
  /** Those that are being made, or whose process died. */
  readonly unfinished: readonly string[];
}

/** What is in a folder of backups. Throws BACKUP_MISSING. */
export function listBackups(folder: string): BackupList {
  const path = findBackupFolder(folder);
  const backups = backupNames(path).map((name) => {
    try {
      return { name, manifest: readBackupManifest(join(path, name)), failure: null };
    } catch (error) {
      return { name, manifest: null, failure: (error as Error).message };
    }
  });
  return { folder: path, backups, unfinished: partialNames(path) };
}
