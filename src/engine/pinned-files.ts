/**
 * The files of a database at one moment, held in a folder of their own by hard
 * links: whatever the engine deletes meanwhile stays there until the folder goes.
 */
import { linkSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

export interface PinnedFile {
  readonly name: string;
  /** Of a file that the engine still adds to: as many as belong to that moment. */
  readonly bytes: number;
  /** Written once and never changed: another link to it is as good as a copy. */
  readonly isFinal: boolean;
}

/** Plain data, that can be sent to another thread. */
export interface PinnedFiles {
  readonly directory: string;
  readonly files: readonly PinnedFile[];
  /** The last operation that they hold. */
  readonly sequence: number;
}

/** What a file system says that has no hard links, or not between these two places, or not as many. */
const NO_LINKS = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** False: there cannot be one. Throws whatever else the system says. */
export function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

export function releaseFiles({ directory }: PinnedFiles): void {
  rmSync(directory, { recursive: true, force: true });
  try {
    rmdirSync(dirname(directory));
  } catch {
    // Another backup is being made, or it is gone already.
  }
}
