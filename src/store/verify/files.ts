/**
 * The files of a store beside its rows: an engine that compares the pages of a
 * large one with their checksums beside its work is waited for, so that `verify`
 * says that a store is whole only when all of it was looked at.
 */
import type { Engine } from '../../engine/engine.ts';
import { UnspentError } from '../../util/errors.ts';
import { SQLITE_CHECK_LOOK_MS } from '../../util/limits.ts';
import { pause } from '../../util/pause.ts';

/**
 * True when every page was compared; false where the engine compares none in this way. When a page is damaged every
 * read that follows throws STORE_DAMAGED. Throws IO where pages cannot be read.
 */
export async function comparePages(engine: Engine, onProgress: (pagesLeft: number) => void): Promise<boolean> {
  if (engine.pagesUnchecked === undefined) return false;
  for (let left = engine.pagesUnchecked; left !== 0; left = engine.pagesUnchecked) {
    if (left === null) throw new UnspentError('IO', 'the pages of the store cannot be read to be compared with their checksums');
    onProgress(left);
    await pause(SQLITE_CHECK_LOOK_MS, {});
  }
  return true;
}
