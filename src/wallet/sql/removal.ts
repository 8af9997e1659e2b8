/** Rows that go for good: one that its owner deletes, and dead ones that nothing needs. */
import { sql } from 'kysely';
import { listTable } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletId } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import { deadSince, prunable } from '../rules/prunable.ts';
import { isLive } from '../rules/status.ts';
import { endBranch, freeInputs } from './branch.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { TxGraph, type TxNode } from './graph.ts';
import { loadBranch, loadRows } from './graph-load.ts';
import { saveGraph } from './graph-save.ts';
import { lockWallet } from './locks.ts';
import { checked32, checkedStatus } from './row-checks.ts';

/** TX_UNKNOWN, TX_NOT_UNMINED. */
function checkUnmined(node: TxNode | undefined, txId: Uint8Array): asserts node is TxNode {
  if (node === undefined) throw refusal.txUnknown(txId);
  if (node.block !== null || !isLive(node.status)) throw refusal.txNotUnmined(txId, node.status, node.block !== null);
}

/** It and its descendants fail. */
export async function invalidate(tx: SqlTransaction, events: EventLog, walletId: WalletId, txId: Uint8Array): Promise<void> {
  await lockWallet(tx, walletId);
  const graph = new TxGraph(walletId, events);
  await loadBranch(tx, graph, [txId]);
  const node = graph.nodes.get(toHex(txId));
  checkUnmined(node, txId);
  endBranch(graph, [node], { kind: 'failed' });
  await saveGraph(tx, graph);
}

/** A leaf: no live transaction spends an output of it. */
export async function removeTx(tx: SqlTransaction, events: EventLog, walletId: WalletId, txId: Uint8Array): Promise<void> {
  await lockWallet(tx, walletId);
  const graph = new TxGraph(walletId, events);
  await loadRows(tx, graph, [txId]);
  const node = graph.nodes.get(toHex(txId));
  checkUnmined(node, txId);
  const child = await sql`SELECT 1 FROM utxos u WHERE u.tx_id = ${node.rowId} AND u.spent_by_tx_id IS NOT NULL
    UNION ALL SELECT 1 FROM tx_inputs i JOIN transactions t ON t.id = i.tx_id
      WHERE i.wallet_id = ${walletId} AND i.prev_tx_hash = ${txId} AND i.holds_edge = 0 AND t.tx_status IN (0, 1) LIMIT 1`.execute(tx.db);
  if (child.rows.length > 0) throw refusal.txHasChildren(txId);
  freeInputs(graph, node);
  await saveGraph(tx, graph);
  await deleteRows(tx, walletId, [node.rowId as number]);
  graph.tell({ kind: 'tx.deleted', txId });
}

/** Returns the ids of those that are gone. */
export async function pruneRows(tx: SqlTransaction, events: EventLog, walletId: WalletId, before: number): Promise<Uint8Array[]> {
  await lockWallet(tx, walletId);
  const dead = await tx.db
    .selectFrom('transactions')
    .select(['id', 'tx_hash', 'tx_status', 'received_time', 'mempool_seen_at', 'mempool_evicted_at'])
    .where('wallet_id', '=', walletId)
    .where(sql<boolean>`tx_status IN (2, 3, 4)`)
    .orderBy('id')
    .execute();
  if (!dead.some((row) => row.received_time < before)) return [];
  const edges = await tx.db
    .selectFrom('tx_replacements')
    .select(['replaced_tx_id', 'replacement_tx_id', 'created_at'])
    .where('wallet_id', '=', walletId)
    .execute();
  const replaced = new Map<number, number[]>();
  const replacedAt = new Map<number, number>();
  for (const edge of edges) {
    replaced.set(edge.replacement_tx_id, [...(replaced.get(edge.replacement_tx_id) ?? []), edge.replaced_tx_id]);
    replacedAt.set(edge.replaced_tx_id, Math.max(replacedAt.get(edge.replaced_tx_id) ?? 0, edge.created_at));
  }
  const parents = await deadParents(tx, walletId);
  const rows = dead.map((row) => ({
    id: row.id,
    status: checkedStatus({ table: 'transactions', id: row.id }, row.tx_status),
    received: row.received_time,
    mempool: { seenAt: row.mempool_seen_at, evictedAt: row.mempool_evicted_at },
    replacedAt: replacedAt.get(row.id) ?? null,
    deadParents: parents.get(row.id) ?? [],
  }));
  const going = new Set(prunable(deadSince(rows, before), (id) => replaced.get(id) ?? []));
  await deleteRows(tx, walletId, [...going]);
  const gone = dead
    .filter(({ id }) => going.has(id))
    .map((row) => checked32({ table: 'transactions', id: row.id }, 'tx_hash', row.tx_hash));
  for (const txId of gone) events.add(walletId, { kind: 'tx.deleted', txId });
  return gone;
}

/** By row of a dead transaction, the rows of dead ones of which it spends outputs. */
async function deadParents(tx: SqlTransaction, walletId: WalletId): Promise<ReadonlyMap<number, readonly number[]>> {
  const found = await sql<{ child: number; parent: number }>`SELECT c.id AS child, p.id AS parent FROM transactions c
    JOIN tx_inputs i ON i.tx_id = c.id
    JOIN transactions p ON p.tx_hash = i.prev_tx_hash AND p.wallet_id = c.wallet_id
    WHERE c.wallet_id = ${walletId} AND c.tx_status IN (2, 3, 4) AND p.tx_status IN (2, 3, 4)`.execute(tx.db);
  const parents = new Map<number, number[]>();
  for (const { child, parent } of found.rows) parents.set(child, [...(parents.get(child) ?? []), parent]);
  return parents;
}

/** They hold no edge. Leases go with the credits; inputs and replacements with the rows. */
export async function deleteRows(tx: SqlTransaction, walletId: WalletId, rowIds: readonly number[]): Promise<void> {
  if (rowIds.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    rowIds.map((id) => [id]),
  );
  await sql`DELETE FROM utxos WHERE wallet_id = ${walletId} AND tx_id IN (SELECT row_id FROM ${list} AS v)`.execute(tx.db);
  await sql`DELETE FROM transactions WHERE wallet_id = ${walletId} AND id IN (SELECT row_id FROM ${list} AS v)`.execute(tx.db);
}
