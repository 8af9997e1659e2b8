/**
 * The rows of a wallet from a height on are in no block any more. A coinbase is
 * orphaned, and what was built on it fails.
 */
import { sql } from 'kysely';
import { listTable } from '../../sql/lists.ts';
import type { WalletId } from '../records.ts';
import { endBranch } from './branch.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { TxGraph } from './graph.ts';
import { loadBranch } from './graph-load.ts';
import { saveGraph } from './graph-save.ts';
import { checked32 } from './row-checks.ts';

/** The wallet is locked. */
export async function disconnect(tx: SqlTransaction, events: EventLog, walletId: WalletId, height: number): Promise<void> {
  const rows = await tx.db
    .selectFrom('transactions')
    .select(['id', 'tx_hash', 'is_coinbase', sql<number>`block_height`.as('block_height')])
    .where('wallet_id', '=', walletId)
    .where('block_height', '>=', height)
    .orderBy('block_height', 'desc')
    .orderBy('confirmed_order', 'desc')
    .execute();
  if (rows.length === 0) return;
  const orphans: Uint8Array[] = [];
  for (const row of rows) {
    const txId = checked32({ table: 'transactions', id: row.id }, 'tx_hash', row.tx_hash);
    events.add(walletId, { kind: 'tx.unconfirmed', txId, height: row.block_height });
    if (row.is_coinbase === 0) continue;
    events.add(walletId, { kind: 'tx.status', txId, from: 'published', to: 'orphaned', cause: 'disconnected', by: null });
    orphans.push(txId);
  }
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    rows.map(({ id }) => [id]),
  );
  await sql`UPDATE transactions SET block_height = NULL, confirmed_order = NULL, tx_status = CASE WHEN is_coinbase = 1 THEN 4 ELSE tx_status END
    WHERE id IN (SELECT row_id FROM ${list} AS v)`.execute(tx.db);
  if (orphans.length > 0) await endOrphans(tx, events, walletId, orphans);
}

async function endOrphans(tx: SqlTransaction, events: EventLog, walletId: WalletId, orphans: readonly Uint8Array[]): Promise<void> {
  const graph = new TxGraph(walletId, events);
  await loadBranch(tx, graph, orphans);
  endBranch(
    graph,
    [...graph.nodes.values()].filter((node) => node.status === 'orphaned'),
    { kind: 'orphaned' },
  );
  await saveGraph(tx, graph);
}
