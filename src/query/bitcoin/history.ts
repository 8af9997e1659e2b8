/**
 * What happened: transactions with their bytes, what each did to a script, and
 * who spent an output. Read from one snapshot, so that all answers are of one
 * moment. Nothing here is ever pruned but the bytes of transactions, where that
 * is asked for (`txs.boundHistory`): those reads throw PRUNED. Ids and hashes are
 * as they stand in a block.
 */
import type { Reader } from '../../engine/engine.ts';
import { formatId, joinBlock } from '../../ledgers/bitcoin/index.ts';
import { KEY_BYTES } from '../../ledgers/ledger.ts';
import { outpointKey, TXID_BYTES } from '../../ledgers/outpoint.ts';
import type { ChainRow } from '../../projections/chain.ts';
import {
  HISTORY_SCRIPT,
  HISTORY_SCRIPT_KEY_BYTES,
  HISTORY_SPEND,
  HISTORY_TX,
  type HistorySpend,
  historyScriptKey,
  historyTxKey,
  readHistorySpend,
  readScriptTotals,
  type ScriptTotals,
} from '../../projections/history/history.ts';
import { historyTxBytes, historyTxRows, missingRow, rebuiltBlock } from '../../projections/history/rebuild.ts';
import { readTxRow, TX } from '../../projections/transactions.ts';
import { readU32 } from '../../util/bytes.ts';
import { keyAfter, prefixEnd } from '../../util/key-range.ts';
import type { StoreColumns } from '../store-columns.ts';
import { checkKey } from '../utxo.ts';

export type { HistorySpend, ScriptTotals } from '../../projections/history/history.ts';

/** What a transaction did to the script asked for. */
export interface HistoryRow extends ScriptTotals {
  readonly height: number;
  readonly txIndex: number;
}

export interface HistoryTx {
  readonly height: number;
  readonly txIndex: number;
  readonly id: Uint8Array;
  readonly raw: Uint8Array;
}

export interface HistoryPage {
  /** By place on the chain; default: ascending. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** Go on behind this place. */
  readonly after?: { readonly height: number; readonly txIndex: number } | undefined;
  /** Rows at most. */
  readonly limit?: number | undefined;
}

/** Their whole bytes are read along: some hundred kilobytes. */
const IDS_AT_ONCE = 256;

export class History {
  private readonly reader: Reader;

  /** Throws UNSUPPORTED when the store keeps none. */
  constructor(columns: StoreColumns) {
    columns.need(HISTORY_TX, 'history');
    this.reader = columns.reader;
  }

  /** A confirmed transaction; null: none on our chain. */
  tx(id: Uint8Array): HistoryTx | null {
    const value = this.reader.get(TX, id);
    if (value === undefined) return null;
    const { height, txIndex } = readTxRow(value);
    return this.txAt(height, txIndex) ?? missingRow(historyTxKey(height, txIndex), `transaction ${formatId(id)}`);
  }

  txAt(height: number, txIndex: number): HistoryTx | null {
    const key = historyTxKey(height, txIndex);
    const value = this.reader.get(HISTORY_TX, key);
    return value === undefined ? null : readHistoryTx(key, value);
  }

  /** Of a block, in its order, from this one on. */
  txs(height: number, from = 0, limit?: number): HistoryTx[] {
    return Array.from(historyTxRows(this.reader, height, from, limit), ([key, value]) => readHistoryTx(key, value));
  }

  ids(height: number): Uint8Array[] {
    return Array.from(historyTxRows(this.reader, height), ([, value]) => value.subarray(0, TXID_BYTES));
  }

  /** The block as its node sent it, byte by byte. */
  rawBlock(row: ChainRow): Uint8Array {
    return rebuiltBlock(this.reader, row, joinBlock).raw;
  }

  /** Every transaction that paid to the script with this 28-byte key or spent from it. */
  *script(key: Uint8Array, page: HistoryPage = {}): Generator<HistoryRow, void, void> {
    checkKey(key);
    for (const [row, value] of this.reader.scan(HISTORY_SCRIPT, scriptRange(key, page)))
      yield { height: readU32(row, KEY_BYTES), txIndex: readU32(row, KEY_BYTES + 4), ...readScriptTotals(value) };
  }

  /** The same with the id of each transaction, looked up many at a time. */
  *scriptIds(key: Uint8Array, page: HistoryPage = {}): Generator<HistoryRow & { readonly id: Uint8Array }, void, void> {
    let rows: HistoryRow[] = [];
    for (const row of this.script(key, page)) {
      rows.push(row);
      if (rows.length < IDS_AT_ONCE) continue;
      yield* this.withIds(rows);
      rows = [];
    }
    yield* this.withIds(rows);
  }

  private *withIds(rows: readonly HistoryRow[]): Generator<HistoryRow & { readonly id: Uint8Array }, void, void> {
    const keys = rows.map(({ height, txIndex }) => historyTxKey(height, txIndex));
    const values = this.reader.getMany(HISTORY_TX, keys);
    for (let i = 0; i < rows.length; i++) {
      const value = values[i] ?? missingRow(keys[i], 'the history of a script');
      yield { ...rows[i], id: value.subarray(0, TXID_BYTES) };
    }
  }

  /** All of them together. Costs what the history is long. */
  totals(key: Uint8Array): ScriptTotals & { readonly txs: number } {
    const sum = { txs: 0, fundedCount: 0, fundedSum: 0n, spentCount: 0, spentSum: 0n };
    for (const row of this.script(key)) {
      sum.txs++;
      sum.fundedCount += row.fundedCount;
      sum.fundedSum += row.fundedSum;
      sum.spentCount += row.spentCount;
      sum.spentSum += row.spentSum;
    }
    return sum;
  }

  /** Who spent it; null: nobody, or there is no such output. */
  spend(txId: Uint8Array, index: number): HistorySpend | null {
    const value = this.reader.get(HISTORY_SPEND, outpointKey(txId, index));
    return value === undefined ? null : readHistorySpend(value);
  }
}

function readHistoryTx(key: Uint8Array, value: Uint8Array): HistoryTx {
  const raw = historyTxBytes(key, value);
  return { height: readU32(key, 0), txIndex: readU32(key, 4), id: value.subarray(0, TXID_BYTES), raw };
}

/** Inside the prefix of the key, as this kind of column wants it. */
function scriptRange(key: Uint8Array, { order, after, limit }: HistoryPage): { gte: Uint8Array; lt: Uint8Array; reverse: boolean } {
  const reverse = order === 'desc';
  const place = after === undefined ? undefined : historyScriptKey(key, after.height, after.txIndex);
  const end = prefixEnd(key, HISTORY_SCRIPT_KEY_BYTES - KEY_BYTES);
  const gte = place === undefined || reverse ? historyScriptKey(key, 0, 0) : keyAfter(place);
  return { gte, lt: place === undefined || !reverse ? end : place, reverse, ...(limit === undefined ? {} : { limit }) };
}
