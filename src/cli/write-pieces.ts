/**
 * A new file that is written while it is made, and is on the disk when that is
 * done. Where it fails or is stopped nothing is left of it.
 */
import { once } from 'node:events';
import { createWriteStream, rmSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemError } from '../store/backup/write.ts';
import { BEGINS_ANEW, UnspentError } from '../util/errors.ts';

/** Throws INTERRUPTED, DISK_FULL, and IO, also where there is a file of that name. */
export async function writePieces(path: string, pieces: Iterable<string>, signal: AbortSignal): Promise<void> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o644, flush: true });
  let isOurs = false;
  file.once('open', () => {
    isOurs = true;
  });
  try {
    await pipeline(Readable.from(pieces), file, { signal });
  } catch (cause) {
    if (!file.closed) await once(file, 'close');
    if (isOurs) rmSync(path, { force: true });
    if (signal.aborted) throw new UnspentError('INTERRUPTED', `stopped; nothing is left of ${path}`, { advice: BEGINS_ANEW }, cause);
    throw systemError(cause, path);
  }
}
