/**
 * What is in a data directory before it is a store: an import or a restoring
 * writes under a mark in unspent.json, which goes when all of it was found to be
 * right. What is killed leaves the mark, and the next one begins anew.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { databaseDirectory, removeStore } from '../engine/directory.ts';
import { openEngineIn } from '../engine/open.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import type { StoreIdentity } from './identity.ts';

/** Throws STORE_UNFINISHED. */
export function checkFinished(identity: StoreIdentity | null, data: string, isExpected: boolean): void {
  if (identity?.upgrading !== undefined)
    throw new UnspentError('STORE_UNFINISHED', `the store in ${data} is being upgraded, and that was not finished`, { data });
  if (identity?.importing === undefined || isExpected) return;
  const what = identity.importing === 'backup' ? 'a backup was being restored' : 'a snapshot was being imported';
  throw new UnspentError('STORE_UNFINISHED', `${what} into ${data}, and was not finished`, { data });
}

/** What an import or a restoring that was killed has left goes; whatever else is there stays. Throws STORE_EXISTS or STORE_LOCKED. */
export async function clearUnfinished(data: string, identity: StoreIdentity | null): Promise<void> {
  if (identity === null) return;
  if (identity.importing === undefined) {
    throw new UnspentError('STORE_EXISTS', `there is a store of '${identity.network}' in ${data} already`, { data });
  }
  try {
    // Another process that works in there holds its lock.
    const engine = await openEngineIn(databaseDirectory(data), [], { createIfMissing: true, retired: identity.columns ?? [] });
    await engine.close();
  } catch (error) {
    // Whatever else is wrong with it goes with it.
    if (isUnspentError(error, 'STORE_LOCKED')) throw error;
  }
  for (const name of identity.besides ?? []) rmSync(join(data, name), { force: true });
  removeStore(data);
}
