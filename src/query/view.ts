/**
 * Reads of the chain at one point. `Query` answers for the newest block,
 * `PastQuery` for an earlier one; the caller need not know which.
 */
import type { KeyKind } from '../ledgers/ledger.ts';
import type { IndexKind } from '../projections/index/by-key.ts';
import type { TxRow } from '../projections/transactions.ts';
import type { Head } from '../state/head.ts';
import type { IndexedUtxo, PageRequest, Utxo } from './utxo.ts';

export { INDEX_KINDS, type IndexKind } from '../projections/index/by-key.ts';

export interface Balance {
  readonly utxos: number;
  readonly value: bigint;
  /** In ascending order of policy and name. */
  readonly assets: readonly { readonly policy: Uint8Array; readonly name: Uint8Array; readonly quantity: bigint }[];
}

export interface ChainView {
  /** The block this view is at, and what the set adds up to there; null before the first block. */
  readonly head: Pick<Head, 'height' | 'slot' | 'hash'> | null;
  /** An output, unspent or spent at this point; null when unknown here. */
  outpoint(txId: Uint8Array, index: number): Utxo | null;
  /** Unspent outputs with this 28-byte key, in the order they came to the chain. */
  byKey(kind: IndexKind, key: Uint8Array, page?: PageRequest): Iterable<IndexedUtxo>;
  tx(txId: Uint8Array): { row: TxRow | null; outputs: Utxo[] };
  balance(kind: KeyKind, key: Uint8Array): Balance;
}
