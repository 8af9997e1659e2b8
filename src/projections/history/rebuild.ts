/**
 * Blocks from the history: byte by byte as they came, from the header in the
 * row of the chain, the transactions and what stood behind them.
 */
import type { Reader, Row } from '../../engine/engine.ts';
import type { Ledger } from '../../ledgers/ledger.ts';
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import { readU32, toHex } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { ChainRow } from '../chain.ts';
import { GRANT_TX_INDEX } from '../coin.ts';
import { HISTORY_TX, historyTxKey, TAIL_INDEX } from './rows.ts';

/** A block from its transactions, joined as its ledger does, and their ids as they are kept beside them. Throws STORE_DAMAGED, PRUNED. */
export function rebuiltBlock(
  reader: Reader,
  row: ChainRow,
  joinBlock: NonNullable<Ledger['joinBlock']>,
): { readonly ids: readonly Uint8Array[]; readonly raw: Uint8Array } {
  const { height, txCount } = row;
  const values = Array.from(historyTxRows(reader, height), ([, value]) => value);
  if (values.length !== txCount) missingRow(historyTxKey(height, values.length), `a block of ${txCount} transactions`);
  const tail = reader.get(HISTORY_TX, historyTxKey(height, TAIL_INDEX));
  const txs = values.map((value, n) => historyTxBytes(historyTxKey(height, n), value));
  return {
    ids: values.map((value) => value.subarray(0, TXID_BYTES)),
    raw: joinBlock(row.extra, txs, tail),
  };
}

/** The rows of a block's transactions, from the one at that index on. */
export function historyTxRows(reader: Reader, height: number, from = 0, limit?: number): Iterable<Row> {
  const range = { gte: historyTxKey(height, from), lt: historyTxKey(height, GRANT_TX_INDEX) };
  return reader.scan(HISTORY_TX, limit === undefined ? range : { ...range, limit });
}

/** The bytes of a transaction in its row. Throws PRUNED where only its id is left, STORE_DAMAGED. */
export function historyTxBytes(key: Uint8Array, value: Uint8Array): Uint8Array {
  const [height, txIndex] = [readU32(key, 0), readU32(key, 4)];
  if (value.length < TXID_BYTES) throw new UnspentError('STORE_DAMAGED', `the row ${toHex(key)} of ${HISTORY_TX} is cut`);
  if (value.length > TXID_BYTES) return value.subarray(TXID_BYTES);
  throw new UnspentError(
    'PRUNED',
    `the bytes of transaction ${txIndex} of block ${height} were forgotten (txs.boundHistory, utxo.historyDepth)`,
    { height, txIndex },
  );
}

/** Throws STORE_DAMAGED. */
export function missingRow(key: Uint8Array, what: string): never {
  throw new UnspentError('STORE_DAMAGED', `${HISTORY_TX} lacks the row ${toHex(key)} of ${what}`, { column: HISTORY_TX, key: toHex(key) });
}
