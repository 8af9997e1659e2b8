/**
 * What is large and belongs to a transaction may rest outside its record, where
 * no batch or transaction holds both. It is there before its record, and goes
 * after it: a blob without a record costs its space until it is swept, a record
 * without its blob is never there.
 */
import { PRUNE_BLOBS_SWEPT } from '../../util/limits.ts';
import type { PruneCounters } from './counters.ts';

export interface TxBlobs {
  /** Of records that are deleted. One that is not there is no error. Returns how many there were. */
  delete(txIds: readonly Uint8Array[]): Promise<number>;
  /** Ids of records that passes have deleted and whose blobs may be there still. */
  orphans(limit: number): Promise<readonly Uint8Array[]>;
}

/** False: it failed, which is counted; `sweepBlobs` tries again. */
export async function deleteBlobs(blobs: TxBlobs, txIds: readonly Uint8Array[], counters: PruneCounters): Promise<boolean> {
  if (txIds.length === 0) return true;
  try {
    counters.add('prune_blob_deleted_total', await blobs.delete(txIds));
    return true;
  } catch {
    counters.add('prune_blob_errors_total');
    return false;
  }
}

/** Deletes what earlier passes, or a process that was killed, have left; as far as that is possible now. */
export async function sweepBlobs(blobs: TxBlobs, counters: PruneCounters): Promise<void> {
  try {
    for (;;) {
      const txIds = await blobs.orphans(PRUNE_BLOBS_SWEPT);
      if (!(await deleteBlobs(blobs, txIds, counters)) || txIds.length < PRUNE_BLOBS_SWEPT) return;
    }
  } catch {
    counters.add('prune_blob_errors_total');
  }
}
