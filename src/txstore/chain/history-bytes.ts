/** With a record the bytes of its transaction go from the history (`txs.boundHistory`): its row keeps the id. */
import type { Batch, Reader } from '../../engine/engine.ts';
import { HISTORY_TX, historyTxKey } from '../../projections/history/rows.ts';
import { readTxRow, TX } from '../../projections/transactions.ts';

/** A loser that was in no block has no bytes in the history. */
export function dropHistoryBytes(reader: Reader, deleted: readonly Uint8Array[], batch: Batch): void {
  for (const [n, row] of reader.getMany(TX, deleted).entries()) {
    if (row === undefined) continue;
    const { height, txIndex } = readTxRow(row);
    batch.put(HISTORY_TX, historyTxKey(height, txIndex), deleted[n]);
  }
}
