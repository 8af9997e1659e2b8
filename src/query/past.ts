/**
 * The chain as it was after an earlier block: what is unspent now and came no
 * later, and what was spent since (`Overlay`). The same questions and the same
 * answers as at that time, pages and their cursors included.
 */
import type { KeyKind } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import type { StoredOutput } from '../projections/coin.ts';
import type { TxRow } from '../projections/transactions.ts';
import { LOOKUP_ROWS } from '../util/limits.ts';
import { BalanceSum } from './balance.ts';
import { mergedRows, utxoOfCoin } from './coin-set.ts';
import { indexedUtxos, indexRange } from './index-rows.ts';
import { isCreatedBy, type Overlay } from './overlay.ts';
import type { StoreColumns } from './store-columns.ts';
import { checkKey, type IndexedUtxo, type PageRequest, type Utxo } from './utxo.ts';
import type { Balance, ChainView, IndexKind } from './view.ts';

/** The present that a past is read from. */
export interface PresentQuery extends ChainView {
  /** The balance as a projection keeps it; null where none does. */
  storedBalance(kind: KeyKind, key: Uint8Array): Balance | null;
}

export class PastQuery implements ChainView {
  readonly head: ChainRow;
  private readonly present: PresentQuery;
  private readonly columns: StoreColumns;
  private readonly overlay: Overlay;

  constructor(head: ChainRow, present: PresentQuery, columns: StoreColumns, overlay: Overlay) {
    this.head = head;
    this.present = present;
    this.columns = columns;
    this.overlay = overlay;
  }

  outpoint(txId: Uint8Array, index: number): Utxo | null {
    const restored = this.overlay.find(txId, index);
    if (restored !== undefined) return utxoOfCoin(restored);
    const found = this.present.outpoint(txId, index);
    return found === null || this.isLater(found.output) ? null : found;
  }

  byKey(kind: IndexKind, key: Uint8Array, page: PageRequest = {}): Iterable<IndexedUtxo> {
    checkKey(key);
    const column = this.columns.index(kind);
    const range = indexRange(key, page, 0, this.head.slot + 1);
    // Not limited there: rows of a block in the same slot may still turn out to be later.
    const rows = indexedUtxos(this.columns.reader, column, range, undefined, Math.min(LOOKUP_ROWS, page.limit ?? LOOKUP_ROWS));
    return mergedRows(this.earlier(rows), this.overlay.rows(kind, key, this.columns.traitsFor(kind)), range, page.limit);
  }

  tx(txId: Uint8Array): { row: TxRow | null; outputs: Utxo[] } {
    const { row, outputs } = this.present.tx(txId);
    const known = outputs.filter(({ output }) => !this.isLater(output));
    const byIndex = new Map(known.map((utxo) => [utxo.index, utxo]));
    // Also those whose spent row is gone: an undo record that carries its outputs outlives it.
    for (const utxo of this.overlay.ofTx(txId).map(utxoOfCoin)) byIndex.set(utxo.index, utxo);
    return {
      row: row === null || row.height > this.head.height ? null : row,
      outputs: [...byIndex.values()].sort((a, b) => a.index - b.index),
    };
  }

  /** From the balance of today and what has changed since where one is kept: no matter how many outputs there are. */
  balance(kind: KeyKind, key: Uint8Array): Balance {
    const now = this.present.storedBalance(kind, key);
    const { traits, reader } = this.columns;
    if (now === null || !this.columns.hasIndex(kind)) {
      const sum = new BalanceSum(traits);
      for (const utxo of this.byKey(kind, key)) sum.add(utxo);
      return sum.end();
    }
    const sum = new BalanceSum(traits, now);
    for (const { coin } of this.overlay.rows(kind, key, null)) sum.add(utxoOfCoin(coin));
    const since = indexRange(key, {}, this.head.slot);
    for (const utxo of indexedUtxos(reader, this.columns.index(kind), since)) if (this.isLater(utxo.output)) sum.subtract(utxo);
    return sum.end();
  }

  private isLater({ height }: StoredOutput): boolean {
    return !isCreatedBy(this.head, height);
  }

  private *earlier(rows: Iterable<IndexedUtxo>): Generator<IndexedUtxo, void, void> {
    for (const row of rows) if (!this.isLater(row.output)) yield row;
  }
}

/** Before the first block there is nothing, not even what genesis grants; that is known however much was pruned. */
export function originView(columns: StoreColumns): ChainView {
  return {
    head: null,
    outpoint: () => {
      columns.needUnspent();
      return null;
    },
    byKey: (kind) => {
      columns.index(kind);
      return [];
    },
    tx: () => {
      columns.needUnspent();
      return { row: null, outputs: [] };
    },
    balance: () => {
      columns.needUnspent();
      return { utxos: 0, value: 0n, assets: [] };
    },
  };
}
