/**
 * What happened: transactions with their bytes, what each did to a script, an
 * address or a credential, and who spent an output. Read from one snapshot, so
 * that all answers are of one moment. Ids and hashes are as they stand in a block.
 *
 * What is not there any more is said: reads throw PRUNED for transactions whose
 * bytes were forgotten, and for those of blocks before the first that the history
 * has (`startHeight`).
 */
import type { Reader } from '../engine/engine.ts';
import { KEY_BYTES, type KeyKind } from '../ledgers/ledger.ts';
import { outpointKey, TXID_BYTES } from '../ledgers/outpoint.ts';
import { GRANT_TX_INDEX } from '../projections/coin.ts';
import { readElsewhere } from '../projections/history/elsewhere.ts';
import { readForgottenHeight } from '../projections/history/forget.ts';
import { keyHistoryName } from '../projections/history/key-history.ts';
import { LEDGER_INDEX } from '../projections/history/key-rows.ts';
import { historyTxBytes, historyTxRows, missingRow } from '../projections/history/rebuild.ts';
import {
  HISTORY_KEY_BYTES,
  HISTORY_KEY_COLUMN,
  HISTORY_SPEND,
  HISTORY_TX,
  type HistorySpend,
  historyKey,
  historyTxKey,
  readHistorySpend,
  readScriptTotals,
  type ScriptTotals,
} from '../projections/history/rows.ts';
import { readStartHeight } from '../projections/start-height.ts';
import { readTxRow, TX } from '../projections/transactions.ts';
import { readU32, toHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { keyAfter, prefixEnd } from '../util/key-range.ts';
import type { StoreColumns } from './store-columns.ts';
import { checkKey } from './utxo.ts';

export type { HistorySpend, ScriptTotals } from '../projections/history/rows.ts';

/** A transaction by its place on the chain. */
export interface HistoryPlace {
  readonly height: number;
  readonly txIndex: number;
}

/** What a transaction did to the script, address or credential asked for. */
export interface HistoryRow extends HistoryPlace, ScriptTotals {}

export interface HistoryTx extends HistoryPlace {
  readonly id: Uint8Array;
  /** As it stands alone. */
  readonly raw: Uint8Array;
}

export interface TxHistoryPage {
  /** By place on the chain; default: ascending. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** Go on behind this place. */
  readonly after?: HistoryPlace | undefined;
  /** Only of blocks from this height on. */
  readonly fromHeight?: number | undefined;
  /** Only of blocks up to this height. */
  readonly toHeight?: number | undefined;
  /** Rows at most. */
  readonly limit?: number | undefined;
  /** With what the ledger itself granted, which is no transaction: its places are from GRANT_TX_INDEX on. */
  readonly grants?: boolean | undefined;
}

/** Their whole bytes are read along: some hundred kilobytes. */
const IDS_AT_ONCE = 256;

/** It was forgotten, and nobody has it: what is known besides may be told. Not so where a published copy has it. */
export function isGone(error: unknown): boolean {
  return isUnspentError(error, 'PRUNED') && error.meta['elsewhere'] === undefined;
}

export class TxHistory {
  /** The height of the first block it has; 0: it has every block of the store. */
  readonly startHeight: number;
  /** The height up to which the bytes of transactions were forgotten (`utxo.historyDepth`); -1: none were. */
  readonly forgottenHeight: number;
  /** What is below this height a published copy has alone; 0: nothing. */
  readonly elsewhere: number;
  private readonly columns: StoreColumns;
  private readonly reader: Reader;

  /** Throws UNSUPPORTED when the store keeps none. */
  constructor(columns: StoreColumns) {
    columns.need(HISTORY_TX, keyHistoryName('address'));
    this.columns = columns;
    this.reader = columns.reader;
    this.elsewhere = readElsewhere(this.reader);
    this.startHeight = Math.max(this.elsewhere, readStartHeight(this.reader, keyHistoryName('address')));
    this.forgottenHeight = readForgottenHeight(this.reader);
  }

  /** The same of what happened to a kind of key, which may have been switched on later. Throws UNSUPPORTED when it is not kept. */
  startHeightOf(kind: KeyKind): number {
    const name = keyHistoryName(kind);
    this.columns.need(HISTORY_KEY_COLUMN[kind], name);
    return Math.max(this.startHeight, readStartHeight(this.reader, name));
  }

  /** A confirmed transaction; null: none on our chain. */
  tx(id: Uint8Array): HistoryTx | null {
    const value = this.reader.get(TX, id);
    if (value === undefined) return null;
    const { height, txIndex } = readTxRow(value);
    return this.txAt(height, txIndex) ?? missingRow(historyTxKey(height, txIndex), `transaction ${toHex(id)}`);
  }

  txAt(height: number, txIndex: number): HistoryTx | null {
    this.needHeight(height);
    const key = historyTxKey(height, txIndex);
    const value = this.reader.get(HISTORY_TX, key);
    return value === undefined ? null : readHistoryTx(key, value);
  }

  /** Those at these places, grants included, in their order. */
  txsAt(places: readonly HistoryPlace[]): HistoryTx[] {
    const keys = places.map(({ height, txIndex }) => historyTxKey(height, txIndex));
    if (keys.length === 0) return [];
    return this.reader
      .getMany(HISTORY_TX, keys)
      .map((value, i) => readHistoryTx(keys[i], value ?? missingRow(keys[i], 'the history of a key')));
  }

  /** The same, and null for bytes that were forgotten: their ids are still there. */
  knownAt(places: readonly HistoryPlace[]): (HistoryPlace & { readonly id: Uint8Array; readonly raw: Uint8Array | null })[] {
    const keys = places.map(({ height, txIndex }) => historyTxKey(height, txIndex));
    if (keys.length === 0) return [];
    return this.reader.getMany(HISTORY_TX, keys).map((found, i) => {
      const value = found ?? missingRow(keys[i], 'the history of a key');
      const { height, txIndex } = places[i];
      const raw = value.length === TXID_BYTES ? null : historyTxBytes(keys[i], value);
      return { height, txIndex, id: value.subarray(0, TXID_BYTES), raw };
    });
  }

  /** Of a block, in its order, from this one on. */
  txs(height: number, from = 0, limit?: number): HistoryTx[] {
    this.needHeight(height);
    return Array.from(historyTxRows(this.reader, height, from, limit), ([key, value]) => readHistoryTx(key, value));
  }

  ids(height: number): Uint8Array[] {
    this.needHeight(height);
    return Array.from(historyTxRows(this.reader, height), ([, value]) => value.subarray(0, TXID_BYTES));
  }

  /** Every transaction of these blocks and, where asked for, grant, in the order of the chain. */
  *every({
    order = 'asc',
    fromHeight = 0,
    toHeight,
    grants,
  }: Omit<TxHistoryPage, 'after' | 'limit'> = {}): Generator<HistoryTx, void, void> {
    if (fromHeight < this.elsewhere) this.needHeight(fromHeight);
    const gte = historyTxKey(fromHeight, 0);
    const lt = toHeight === undefined ? undefined : historyTxKey(toHeight + 1, 0);
    const range = { gte, reverse: order === 'desc', ...(lt === undefined ? {} : { lt }) };
    for (const [key, value] of this.reader.scan(HISTORY_TX, range)) {
      const txIndex = readU32(key, 4);
      if (txIndex < GRANT_TX_INDEX || (grants === true && txIndex < LEDGER_INDEX)) yield readHistoryTx(key, value);
    }
  }

  /** Every transaction that paid to the owner with this 28-byte key or spent from it. Begins with `startHeightOf` that kind. */
  *ofKey(kind: KeyKind, key: Uint8Array, page: TxHistoryPage = {}): Generator<HistoryRow, void, void> {
    checkKey(key);
    const column = HISTORY_KEY_COLUMN[kind];
    this.columns.need(column, keyHistoryName(kind));
    const isCut = Math.max(page.fromHeight ?? 0, page.order === 'desc' ? 0 : (page.after?.height ?? 0)) < this.elsewhere;
    if (isCut && page.order !== 'desc') this.needHeight(0);
    let left = page.limit ?? Number.POSITIVE_INFINITY;
    const isWanted = (txIndex: number): boolean => txIndex < GRANT_TX_INDEX || (page.grants === true && txIndex < LEDGER_INDEX);
    let after = page.after;
    while (left > 0) {
      let read = 0;
      const asked = left;
      for (const [row, value] of this.reader.scan(
        column,
        keyRange(key, { ...page, after, limit: page.limit === undefined ? undefined : asked }),
      )) {
        read++;
        const place = { height: readU32(row, KEY_BYTES), txIndex: readU32(row, KEY_BYTES + 4) };
        after = place;
        if (!isWanted(place.txIndex)) continue;
        left--;
        yield { ...place, ...readScriptTotals(value) };
      }
      // Rows that are no transactions were among them: there may be more.
      if (read >= asked) continue;
      // What would come now is not here: a list that just ended would say that there is nothing.
      if (isCut) this.needHeight(0);
      return;
    }
  }

  /** The same with the id of each transaction, looked up many at a time. */
  *idsOfKey(kind: KeyKind, key: Uint8Array, page: TxHistoryPage = {}): Generator<HistoryRow & { readonly id: Uint8Array }, void, void> {
    let rows: HistoryRow[] = [];
    for (const row of this.ofKey(kind, key, page)) {
      rows.push(row);
      if (rows.length < IDS_AT_ONCE) continue;
      yield* this.withIds(rows);
      rows = [];
    }
    yield* this.withIds(rows);
  }

  private *withIds(rows: readonly HistoryRow[]): Generator<HistoryRow & { readonly id: Uint8Array }, void, void> {
    const ids = this.idsAt(rows);
    for (let i = 0; i < rows.length; i++) yield { ...rows[i], id: ids[i] };
  }

  /** The ids of the transactions, or grants, at these places. */
  idsAt(places: readonly HistoryPlace[]): Uint8Array[] {
    const keys = places.map(({ height, txIndex }) => historyTxKey(height, txIndex));
    if (keys.length === 0) return [];
    return this.reader
      .getMany(HISTORY_TX, keys)
      .map((value, i) => (value ?? missingRow(keys[i], 'the history of a key')).subarray(0, TXID_BYTES));
  }

  /** All of them together. Costs what the history is long. */
  totals(kind: KeyKind, key: Uint8Array): ScriptTotals & { readonly txs: number } {
    const sum = { txs: 0, fundedCount: 0, fundedSum: 0n, spentCount: 0, spentSum: 0n };
    for (const row of this.ofKey(kind, key)) {
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
    const [spend] = this.spends([outpointKey(txId, index)]);
    return spend;
  }

  /** The same for many at once, by their outpoint keys and in their order. */
  spends(keys: readonly Uint8Array[]): (HistorySpend | null)[] {
    if (keys.length === 0) return [];
    return this.reader.getMany(HISTORY_SPEND, keys).map((value) => (value === undefined ? null : readHistorySpend(value)));
  }

  /** Throws PRUNED for a block before the first that the history has. */
  needHeight(height: number): void {
    const { startHeight } = this;
    if (height >= startHeight) return;
    if (height < this.elsewhere) {
      const text = `what happened below height ${this.elsewhere} is in the published copy alone: ask a reader of it`;
      throw new UnspentError('PRUNED', text, { height, elsewhere: this.elsewhere });
    }
    const message = `transactions of block ${height} were not kept: the history begins at height ${startHeight}, where utxo.history was switched on`;
    throw new UnspentError('PRUNED', message, { height, startHeight });
  }
}

function readHistoryTx(key: Uint8Array, value: Uint8Array): HistoryTx {
  const raw = historyTxBytes(key, value);
  return { height: readU32(key, 0), txIndex: readU32(key, 4), id: value.subarray(0, TXID_BYTES), raw };
}

/** Inside the prefix of the key, as this kind of column wants it. */
function keyRange(
  key: Uint8Array,
  { order, after, limit, fromHeight, toHeight }: TxHistoryPage,
): { gte: Uint8Array; lt: Uint8Array; reverse: boolean } {
  const reverse = order === 'desc';
  const place = after === undefined ? undefined : historyKey(key, after.height, after.txIndex);
  const first = historyKey(key, fromHeight ?? 0, 0);
  const end = toHeight === undefined ? prefixEnd(key, HISTORY_KEY_BYTES - KEY_BYTES) : historyKey(key, toHeight + 1, 0);
  const gte = place === undefined || reverse ? first : keyAfter(place);
  return { gte, lt: place === undefined || !reverse ? end : place, reverse, ...(limit === undefined ? {} : { limit }) };
}
