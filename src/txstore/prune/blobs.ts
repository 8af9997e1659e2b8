/**
 * What is large and belongs to a transaction rests outside its record: scripts,
 * the whole transaction. A blob is written while its record is being created and
 * deleted after its record: a blob without a record is harmless and is swept, a
 * finished record without its blob is not.
 */
import type { TxStore } from '../store.ts';
import type { PruneCounters } from './counters.ts';

export interface TxBlobs {
  put(txId: Uint8Array, blob: Uint8Array): Promise<void>;
  get(txId: Uint8Array): Promise<Uint8Array | null>;
  /** One that is not there is no error. */
  delete(txId: Uint8Array): Promise<void>;
  /** Ids of blobs, ascending. */
  list(after: Uint8Array | null, limit: number): Promise<readonly Uint8Array[]>;
}

/** Failures are counted; `sweepBlobs` tries again. */
export async function deleteBlobs(blobs: TxBlobs, txIds: readonly Uint8Array[], counters: PruneCounters): Promise<number> {
  let deleted = 0;
  for (const txId of txIds) {
    try {
      await blobs.delete(txId);
      deleted++;
    } catch {
      counters.add('prune_blob_errors_total');
    }
  }
  counters.add('prune_blob_deleted_total', deleted);
  return deleted;
}

/**
 * Deletes blobs without a record; returns how many. Whoever stores a transaction makes its record first (`isCreating`),
 * then its blob, and finishes the record then, so that no blob of a record to come is taken for an orphan.
 */
export async function sweepBlobs(store: TxStore, blobs: TxBlobs, counters: PruneCounters, limit: number): Promise<number> {
  let swept = 0;
  let after: Uint8Array | null = null;
  for (;;) {
    const txIds: readonly Uint8Array[] = await blobs.list(after, limit);
    if (txIds.length === 0) return swept;
    const records = await store.batchGet(txIds);
    const orphans = txIds.filter((_, n) => records[n] === null);
    swept += await deleteBlobs(blobs, orphans, counters);
    after = txIds[txIds.length - 1];
  }
}
