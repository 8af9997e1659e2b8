/**
 * A store that has had a block remembers so in unspent.json. Its database may be
 * lost as a whole: a volume that is not mounted, a folder that was cleaned up.
 * Without the mark a new one would be made in its place, and the store would
 * answer as an empty one.
 */
import { readdirSync } from 'node:fs';
import { databaseDirectory, databaseKind, REMOVED_FOLDER, readIdentity, writeIdentity } from '../engine/directory.ts';
import type { Fold, FoldWatcher } from '../state/fold.ts';
import { UnspentError } from '../util/errors.ts';
import type { StoreIdentity } from './identity.ts';

/** Throws STORE_DAMAGED where the store has had blocks and there is no database. What an import or a removal has left is neither. */
export function checkBegun(identity: StoreIdentity | null, data: string): void {
  if (identity?.begun !== true || identity.importing !== undefined || identity.engine !== undefined) return;
  const database = databaseDirectory(data);
  if (databaseKind(database) !== null || readdirSync(data).includes(REMOVED_FOLDER)) return;
  throw new UnspentError('STORE_DAMAGED', `the store is damaged (${data}): it has had blocks, and its database is gone (${database})`, {
    directory: data,
  });
}

/** Marks it, now or with its first block. */
export function markBegun(identity: StoreIdentity | null, data: string, fold: Fold): void {
  if (identity?.begun === true) return;
  if (fold.head !== null) {
    mark(data);
    return;
  }
  const watcher: FoldWatcher = {
    applied() {
      fold.watchers.delete(watcher);
      mark(data);
    },
  };
  fold.watchers.add(watcher);
}

/** Where it cannot be written now, whoever opens the store next does it. */
function mark(data: string): void {
  try {
    const identity = readIdentity(data);
    if (identity !== null) writeIdentity(data, { ...identity, begun: true });
  } catch {
    // Less is known should the database be lost; the blocks are as good as without it.
  }
}
