/**
 * Coins are found by the row of their transaction, and that by its id. The row is
 * looked up in the list itself, for each of its outpoints, so that no planner can
 * begin with all coins of a wallet instead.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Outpoint } from '../../ledgers/outpoint.ts';
import { listTable } from '../../sql/lists.ts';
import type { WalletId } from '../records.ts';
import type { SqlTransaction } from './database.ts';

/** The row of the wallet's transaction whose id is the value of that column. Null: it has none. */
export function txRowOf(walletId: WalletId, column: string): RawBuilder<number> {
  return sql<number>`(SELECT f.id FROM transactions f WHERE f.wallet_id = ${walletId} AND f.tx_hash = ${sql.ref(column)})`;
}

/** The outpoints as a table of a statement: (hash, place, tx_id). */
export function fundedList(
  { kind }: SqlTransaction,
  walletId: WalletId,
  outpoints: readonly Outpoint[],
): RawBuilder<{ hash: Uint8Array; place: number; tx_id: number | null }> {
  const list = listTable(
    kind,
    { hash: 'bytes', place: 'integer' },
    outpoints.map(({ txId, index }) => [txId, index]),
  );
  return sql`(SELECT v.hash, v.place, ${txRowOf(walletId, 'v.hash')} AS tx_id FROM ${list} AS v)`;
}
