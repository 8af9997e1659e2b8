/**
 * A store belongs to the user who runs its process. Root may open the store of
 * any user, and leaves files in it that this user cannot open again: a backup or
 * a look by root while a service is stopped would keep the service from starting.
 */
import { mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTITY_FILE, storeFailure } from '../engine/directory.ts';
import { UnspentError } from '../util/errors.ts';

const ROOT = 0;

/** Of a store that is there. Throws STORE_OWNER, IO, DISK_FULL. */
export function checkOwner(data: string): void {
  if (process.geteuid?.() !== ROOT) return;
  const owner = foreignOwner(data);
  if (owner === null) return;
  throw new UnspentError(
    'STORE_OWNER',
    `the store in ${data} belongs to user ${owner}, and files that root makes in it would be closed to that user`,
    { data, owner },
  );
}

/** Who cannot open what root makes in the store; null: nobody is kept out. */
function foreignOwner(data: string): number | null {
  try {
    const owner = statSync(join(data, IDENTITY_FILE)).uid;
    return owner === ROOT || ownerOfNew(data) === owner ? null : owner;
  } catch (error) {
    throw storeFailure(error, data);
  }
}

/** Folders that a container or a virtual machine shares with its host may give whatever is made in them to one user. */
function ownerOfNew(data: string): number {
  const probe = mkdtempSync(join(data, '.owner-'));
  try {
    return statSync(probe).uid;
  } finally {
    rmdirSync(probe);
  }
}
