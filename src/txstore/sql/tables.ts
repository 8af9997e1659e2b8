/**
 * The tables of the transaction store as the query builder sees them (schema.ts).
 * Whole numbers come as `number`, truth as 0 or 1, bytes as Uint8Array; amounts
 * can be wider than a `number`: they are written as bigint and read as text.
 */
import type { ColumnType } from 'kysely';
import type { DatabaseTransaction, SqlDatabase } from '../../sql/database.ts';

type Flag = 0 | 1;

export interface RecordRow {
  hash: Uint8Array;
  version: number;
  output_count: number;
  spendable: number;
  spent_count: number;
  is_coinbase: Flag;
  coinbase_spendable_at: number | null;
  is_conflicting: Flag;
  is_locked: Flag;
  is_creating: Flag;
  delete_at_height: number | null;
  unmined_since: number | null;
  preserve_until: number | null;
}

/** The slot of an output. */
export interface SlotRow {
  tx_hash: Uint8Array;
  idx: number;
  slot_hash: Uint8Array | null;
  is_frozen: Flag;
  spendable_from: number | null;
  spent_by_hash: Uint8Array | null;
  spent_vin: number | null;
}

export interface BlockRow {
  tx_hash: Uint8Array;
  place: number;
  block_hash: Uint8Array;
  block_height: number;
  block_index: number;
  is_on_best_chain: Flag;
}

export interface TxStoreTables {
  tx: RecordRow;
  tx_in: { tx_hash: Uint8Array; idx: number; prev_hash: Uint8Array; prev_idx: number };
  tx_out: SlotRow & { amount: ColumnType<never, bigint, never>; script: Uint8Array };
  tx_block: BlockRow;
  conflicting_child: { tx_hash: Uint8Array; child_hash: Uint8Array };
  tombstone: { tx_hash: Uint8Array; child_hash: Uint8Array; pruned_at: number };
  prune_progress: {
    id: number;
    last_completed: number;
    pruned_height: number;
    unfinished_height: number | null;
    cursor_height: number | null;
    cursor_hash: Uint8Array | null;
  };
}

export type TxStoreDatabase = SqlDatabase<TxStoreTables>;
export type TxStoreTransaction = DatabaseTransaction<TxStoreTables>;
