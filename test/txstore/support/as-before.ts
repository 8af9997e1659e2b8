/** The rows of a store as they were before ADR 79 and 80: nothing in the index of what is due, a row for each tombstone. */
import type { Engine } from '../../../src/engine/engine.ts';
import { TXID_BYTES } from '../../../src/ledgers/outpoint.ts';
import { pairKey, TX_DUE, TX_RECORD, TX_TOMBSTONE } from '../../../src/txstore/embedded/columns.ts';
import { loadedTx } from '../../../src/txstore/embedded/loaded-tx.ts';
import { readRecords } from '../../../src/txstore/embedded/reads.ts';
import { writeU32 } from '../../../src/util/bytes.ts';

export function rewriteAsBefore(engine: Engine): void {
  const batch = engine.batch();
  for (const [key] of engine.scan(TX_DUE)) batch.put(TX_DUE, key, new Uint8Array());
  for (const [txId, row] of engine.scan(TX_RECORD)) {
    if (txId.length !== TXID_BYTES) continue;
    const { state } = loadedTx(txId, Uint8Array.from(row), 0, row.length, true);
    if (state.pruned.length === 0) continue;
    for (const tombstone of readRecords(engine, [txId])[0]!.tombstones) {
      const height = new Uint8Array(4);
      writeU32(height, 0, tombstone.height);
      batch.put(TX_TOMBSTONE, pairKey(txId, tombstone.txId), height);
    }
    state.pruned = [];
    state.hasTombstones = true;
    batch.put(TX_RECORD, txId, state.encoded());
  }
  batch.commit();
}
