/** One record from a database that is fed with the blocks of a store, beside what the store itself knows of the transaction. */
import { parsePosition, resume } from '../events/position.ts';
import { TX } from '../projections/transactions.ts';
import type { Dialect } from '../query/dialect.ts';
import type { Query } from '../query/query.ts';
import type { Windows } from '../state/pruned.ts';
import type { FedRecords } from '../txstore/chain/chain-records.ts';
import { noRecord } from '../txstore/chain/document.ts';
import type { TxRecord } from '../txstore/records.ts';

export interface FedRecordSource {
  readonly records: Pick<FedRecords, 'readAt'>;
  readonly dialect: Pick<Dialect, 'parseId' | 'formatId'>;
  readonly windows: Windows;
  /** The newest state of the store. */
  read<T>(body: (query: Query) => T): T;
}

/** Throws PRUNED, NOT_FOUND, NOT_YET (`noRecord`). */
export async function findFedRecord({ records, dialect, windows, read }: FedRecordSource, txId: Uint8Array): Promise<TxRecord> {
  const {
    records: [record],
    position,
  } = await records.readAt([txId]);
  if (record !== null) return record;
  throw read((query) => {
    // Store and database may be some blocks apart, on different branches: up to the block that both have, both know everything.
    const common = position === null ? null : resume(parsePosition(position, query, dialect), query, windows);
    return noRecord(query.rowsOf([TX]), txId, dialect.formatId, common?.row?.height ?? -1);
  });
}
