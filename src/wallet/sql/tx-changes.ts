/** What callers change of a stored transaction: its label, its state, whether the mempool has it. */
import { toHex } from '../../util/bytes.ts';
import type { WalletId } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import { checkTxChange, effectOfChange, mempoolEvent } from '../rules/status.ts';
import type { TxChange } from '../store.ts';
import { checkBlocks } from './blocks.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { TxGraph } from './graph.ts';
import { loadPlaces, loadRows } from './graph-load.ts';
import { saveGraph } from './graph-save.ts';
import { endSpentLeases } from './lease-ends.ts';
import { lockWallet } from './locks.ts';

export async function changeTx(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  txId: Uint8Array,
  change: TxChange,
): Promise<void> {
  const { label, state } = change;
  checkTxChange(txId, change);
  await lockWallet(tx, walletId);
  const graph = new TxGraph(walletId, events);
  await loadRows(tx, graph, [txId]);
  const node = graph.nodes.get(toHex(txId));
  if (node === undefined) throw refusal.txUnknown(txId);
  if (state !== undefined) {
    const effect = effectOfChange(node, state);
    if (state.block !== undefined) await checkBlocks(tx, [state.block]);
    if (effect === 'publish') graph.setStatus(node, 'published', 'broadcast');
    if (effect === 'confirm' && state.block !== undefined) {
      await loadPlaces(tx, graph, [state.block.height]);
      graph.confirm(node, state.block);
    }
    await saveGraph(tx, graph);
    await endSpentLeases(tx, events, [walletId]);
  }
  if (label !== undefined && node.rowId !== null)
    await tx.db.updateTable('transactions').set({ tx_label: label }).where('id', '=', node.rowId).execute();
}

/** TX_UNKNOWN. */
export async function changeMempool(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  { txId, seen, now }: { readonly txId: Uint8Array; readonly seen: boolean; readonly now: number },
): Promise<void> {
  await lockWallet(tx, walletId);
  const row = await tx.db
    .selectFrom('transactions')
    .select(['id', 'mempool_seen_at', 'mempool_evicted_at'])
    .where('wallet_id', '=', walletId)
    .where('tx_hash', '=', txId)
    .executeTakeFirst();
  if (row === undefined) throw refusal.txUnknown(txId);
  const before = { seenAt: row.mempool_seen_at, evictedAt: row.mempool_evicted_at };
  const after = seen ? { ...before, seenAt: now } : { ...before, evictedAt: now };
  await tx.db
    .updateTable('transactions')
    .set({ mempool_seen_at: after.seenAt, mempool_evicted_at: after.evictedAt })
    .where('id', '=', row.id)
    .execute();
  const told = mempoolEvent(before, after, txId);
  if (told !== null) events.add(walletId, told);
}
