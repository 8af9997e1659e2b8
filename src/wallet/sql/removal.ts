/** Rows that go for good: one that its owner deletes, and dead ones that nothing needs. */
import { sql } from 'kysely';
import { listTable } from '../../sql/lists.ts';
import { toHex } from '../../util/bytes.ts';
import type { WalletId } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import { prunable } from '../rules/prunable.ts';
import { isLive } from '../rules/status.ts';
import { endBranch, freeInputs } from './branch.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { TxGraph, type TxNode } from './graph.ts';
import { loadBranch, loadRows } from './graph-load.ts';
import { saveGraph } from './graph-save.ts';
import { lockWallet } from './locks.ts';
import { checked32 } from './row-checks.ts';

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
    .select(['id', 'tx_hash'])
    .where('wallet_id', '=', walletId)
    .where(sql<boolean>`tx_status IN (2, 3, 4)`)
    .where('received_time', '<', before)
    .orderBy('id')
    .execute();
  if (dead.length === 0) return [];
  const edges = await tx.db
    .selectFrom('tx_replacements')
    .select(['replaced_tx_id', 'replacement_tx_id'])
    .where('wallet_id', '=', walletId)
    .execute();
  const replaced = new Map<number, number[]>();
  for (const edge of edges) replaced.set(edge.replacement_tx_id, [...(replaced.get(edge.replacement_tx_id) ?? []), edge.replaced_tx_id]);
  const going = new Set(
    prunable(
      dead.map(({ id }) => id),
      (id) => replaced.get(id) ?? [],
    ),
  );
  await deleteRows(tx, walletId, [...going]);
  const gone = dead
    .filter(({ id }) => going.has(id))
    .map((row) => checked32({ table: 'transactions', id: row.id }, 'tx_hash', row.tx_hash));
  for (const txId of gone) events.add(walletId, { kind: 'tx.deleted', txId });
  return gone;
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
