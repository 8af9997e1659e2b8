/**
 * Where an open store lies. A directory that is moved or deleted under a running
 * process goes on being written to by the files that are open, until the next
 * one is to be made: what is deleted is lost without a word, and what is moved
 * ends in the middle of something. So it is looked at now and then.
 */
import { statSync } from 'node:fs';
import { databaseDirectory } from '../engine/directory.ts';
import { UnspentError } from '../util/errors.ts';
import { PLACE_CHECK_MS } from '../util/limits.ts';
import { pause } from '../util/pause.ts';

export class StorePlace {
  private readonly data: string;
  private readonly folder: string | null;

  /** Of a store that has just been opened. */
  constructor(data: string) {
    this.data = data;
    this.folder = folderAt(data);
  }

  /** Throws STORE_GONE when another folder, or none, is where the store was; ends with the signal. */
  async watch(signal: AbortSignal): Promise<void> {
    // An engine of a program's own may have none.
    while (!signal.aborted && this.folder !== null) {
      await pause(PLACE_CHECK_MS, { signal, ref: false });
      if (!signal.aborted) this.check();
    }
  }

  check(): void {
    if (this.folder === null || folderAt(this.data) === this.folder) return;
    throw new UnspentError('STORE_GONE', `${this.data} was moved or deleted while the store in it was open`, { data: this.data });
  }
}

/** Which folder the database has there, whatever it is called; null: none. */
function folderAt(data: string): string | null {
  const found = statSync(databaseDirectory(data), { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
