/** A record as a document, and how one is found: what was pruned is said to be so, and is never taken for unknown. */
import type { Reader } from '../../engine/engine.ts';
import { readTxRow, TX } from '../../projections/transactions.ts';
import { toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { TX_STORE_COLUMNS } from '../embedded/columns.ts';
import { readRecords } from '../embedded/reads.ts';
import type { TxOutput, TxRecord } from '../records.ts';
import type { FormatId } from './report.ts';

/** The columns that `findRecord` reads. */
export const TXS_READ_COLUMNS: readonly string[] = [TX, ...TX_STORE_COLUMNS.map(({ name }) => name)];

/** In the engine of the chain. Throws as `noRecord` says. */
export function findRecord(reader: Reader, txId: Uint8Array, formatId: FormatId): TxRecord {
  const [record] = readRecords(reader, [txId]);
  if (record === null) throw noRecord(reader, txId, formatId);
  return record;
}

/**
 * Why there is no record: PRUNED for a transaction of the chain whose record is gone, NOT_FOUND for one that nobody has
 * seen, NOT_YET for one of a block that the records have not taken in. `reached`: the height up to which they have all blocks.
 */
export function noRecord(reader: Reader, txId: Uint8Array, formatId: FormatId, reached = Number.POSITIVE_INFINITY): UnspentError {
  const row = reader.get(TX, txId);
  const name = formatId(txId);
  if (row === undefined) return new UnspentError('NOT_FOUND', `there is no transaction ${name} here`, { txId: name });
  const { height } = readTxRow(row);
  if (height > reached)
    return new UnspentError('NOT_YET', `transaction ${name} is in block ${height}, and the records are at block ${reached}`, {
      txId: name,
      height,
    });
  const why = height === 0 ? 'it is of the first block, of which no records are kept' : 'all its outputs were spent long ago';
  return new UnspentError('PRUNED', `transaction ${name} is in block ${height}, and its record is gone: ${why}`, { txId: name, height });
}

export function recordDocument(record: TxRecord, formatId: FormatId): object {
  return {
    tx_id: formatId(record.txId),
    state: record.isConflicting ? 'conflicting' : record.unminedSince === null ? 'mined' : 'unmined',
    blocks: record.blocks.map(({ hash, height, index, isOnBestChain }) => ({
      hash: formatId(hash),
      height,
      tx_index: index,
      best_chain: isOnBestChain,
    })),
    unmined_since: record.unminedSince,
    coinbase: record.isCoinbase,
    inputs: record.inputs.map(({ txId, index }) => ({ tx_id: formatId(txId), output_index: index })),
    outputs: record.outputs.map((output, index) => outputDocument(output, index, formatId)),
    delete_at_height: record.deleteAtHeight,
    preserve_until: record.preserveUntil,
    locked: record.isLocked,
    conflicting_children: record.conflictingChildren.map(formatId),
    pruned_children: record.tombstones.map(({ txId, height }) => ({ tx_id: formatId(txId), pruned_at: height })),
  };
}

function outputDocument({ amount, script, slot }: TxOutput, index: number, formatId: FormatId): object {
  const spender = slot?.spender ?? null;
  return {
    output_index: index,
    amount: amount.toString(),
    script: toHex(script),
    state: slot === null ? 'unspendable' : slot.state,
    spent_by: spender === null ? null : { tx_id: formatId(spender.txId), input_index: spender.vin },
  };
}
