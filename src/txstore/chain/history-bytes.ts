/**
 * With a record the bytes of its transaction go from the history
 * (`txs.boundHistory`): its row keeps the id. They are the blobs of the records
 * (prune/blobs.ts). Records in the same engine take theirs along in one batch;
 * those of records in a database go when the database has committed.
 */
import type { Batch, Engine, Reader } from '../../engine/engine.ts';
import { HISTORY_TX, historyTxKey } from '../../projections/history/rows.ts';
import { readTxRow, TX } from '../../projections/transactions.ts';
import type { TxBlobs } from '../prune/blobs.ts';
import type { FedRecords } from './chain-records.ts';

/** A loser that was in no block has no bytes in the history. Returns how many had. */
export function dropHistoryBytes(reader: Reader, deleted: readonly Uint8Array[], batch: Batch): number {
  let dropped = 0;
  for (const [n, row] of reader.getMany(TX, deleted).entries()) {
    if (row === undefined) continue;
    const { height, txIndex } = readTxRow(row);
    batch.put(HISTORY_TX, historyTxKey(height, txIndex), deleted[n]);
    dropped++;
  }
  return dropped;
}

/** The bytes in the history of a store whose records are in a database. */
export class HistoryBlobs implements TxBlobs {
  readonly #engine: Engine;
  readonly #records: Pick<FedRecords, 'blobsLeft' | 'blobsDeleted'>;

  constructor(engine: Engine, records: Pick<FedRecords, 'blobsLeft' | 'blobsDeleted'>) {
    this.#engine = engine;
    this.#records = records;
  }

  /** On the disk before the database forgets that they are to go. */
  async delete(txIds: readonly Uint8Array[]): Promise<number> {
    const batch = this.#engine.batch();
    let dropped = 0;
    try {
      dropped = dropHistoryBytes(this.#engine, txIds, batch);
      batch.commit({ fsync: true });
    } catch (error) {
      // The engine has one batch for all: what is in it must not go with the next commit.
      batch.clear();
      throw error;
    }
    await this.#records.blobsDeleted(txIds);
    return dropped;
  }

  orphans(limit: number): Promise<readonly Uint8Array[]> {
    return this.#records.blobsLeft(limit);
  }
}
