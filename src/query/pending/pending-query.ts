/**
 * The chain with its mempool: the newest block's outputs without those that
 * transactions in no block spend, and with those that they make, behind the
 * others. An output that was asked for by name is given with its spender, as one
 * that a block has spent is.
 */
import type { KeyKind } from '../../ledgers/ledger.ts';
import type { Coin } from '../../projections/coin.ts';
import type { TxRow } from '../../projections/transactions.ts';
import { toHex } from '../../util/bytes.ts';
import { BalanceSum } from '../balance.ts';
import { type CoinRow, mergedRows, utxoOfCoin } from '../coin-set.ts';
import { indexRange } from '../index-rows.ts';
import type { PresentQuery } from '../past.ts';
import type { StoreColumns } from '../store-columns.ts';
import { checkKey, type IndexedUtxo, type PageRequest, type Utxo } from '../utxo.ts';
import type { Balance, ChainView, IndexKind } from '../view.ts';
import type { PendingOverlay } from './pending-overlay.ts';

export class PendingQuery implements ChainView {
  private readonly present: PresentQuery;
  private readonly columns: StoreColumns;
  private readonly overlay: PendingOverlay;

  /** The overlay is of the block that `present` is at. */
  constructor(present: PresentQuery, columns: StoreColumns, overlay: PendingOverlay) {
    this.present = present;
    this.columns = columns;
    this.overlay = overlay;
  }

  get head(): ChainView['head'] {
    return this.present.head;
  }

  outpoint(txId: Uint8Array, index: number): Utxo | null {
    return this.changed(txId, index) ?? this.present.outpoint(txId, index);
  }

  byKey(kind: IndexKind, key: Uint8Array, page: PageRequest = {}): Iterable<IndexedUtxo> {
    checkKey(key);
    const gone = this.spentRows(kind, key);
    const limit = page.limit === undefined ? undefined : page.limit + gone.length;
    const rows = without(this.present.byKey(kind, key, { ...page, limit }), gone);
    return mergedRows(rows, this.madeRows(kind, key), indexRange(key, page), page.limit);
  }

  tx(txId: Uint8Array): { row: TxRow | null; outputs: Utxo[] } {
    const { row, outputs } = this.present.tx(txId);
    const known = outputs.length > 0 ? outputs : this.overlay.created.ofTx(txId).map(utxoOfCoin);
    return { row, outputs: known.map((utxo) => this.changed(txId, utxo.index) ?? utxo).sort((a, b) => a.index - b.index) };
  }

  balance(kind: KeyKind, key: Uint8Array): Balance {
    const sum = new BalanceSum(this.columns.traits, this.present.balance(kind, key));
    for (const { coin } of this.madeRows(kind, key)) sum.add(utxoOfCoin(coin));
    for (const { coin } of this.spentRows(kind, key)) sum.subtract(utxoOfCoin(coin));
    return sum.end();
  }

  /** An output that the mempool makes or spends; null: it does neither. */
  private changed(txId: Uint8Array, index: number): Utxo | null {
    const coin: Coin | undefined = this.overlay.created.find(txId, index) ?? this.overlay.spent.find(txId, index);
    return coin === undefined ? null : utxoOfCoin(coin);
  }

  private spentRows(kind: IndexKind, key: Uint8Array): readonly CoinRow[] {
    return this.overlay.spent.rows(kind, key, this.columns.traitsFor(kind));
  }

  /** What the mempool makes and leaves unspent. */
  private madeRows(kind: IndexKind, key: Uint8Array): readonly CoinRow[] {
    return this.overlay.created.rows(kind, key, this.columns.traitsFor(kind)).filter(({ coin }) => coin.spender === null);
  }
}

function without(rows: Iterable<IndexedUtxo>, gone: readonly CoinRow[]): Iterable<IndexedUtxo> {
  if (gone.length === 0) return rows;
  const places = new Set(gone.map(({ cursor }) => toHex(cursor)));
  return (function* () {
    for (const row of rows) if (!places.has(toHex(row.cursor))) yield row;
  })();
}
