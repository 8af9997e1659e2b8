/**
 * A block may have a transaction in another form than the wallet: its scripts
 * failed, and it spent its collateral instead of its inputs. Before transactions
 * come in, rows go that a block has in another form.
 */
import { toHex } from '../../util/bytes.ts';
import { isLive, isReplacedForm } from '../rules/status.ts';
import type { NewTx } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import type { TxGraph } from './graph.ts';
import { deleteRows, invalidate } from './removal.ts';
import { checkedStatus } from './row-checks.ts';

/**
 * The transactions as they come in now: with the label and the time of the row that each replaces. The same list: no row
 * went, and the graph is as the database is.
 */
export async function replaceForms(
  tx: SqlTransaction,
  events: EventLog,
  { walletId, nodes }: TxGraph,
  txs: readonly NewTx[],
): Promise<readonly NewTx[]> {
  const replaced = new Map<NewTx, NewTx>();
  for (const news of txs) {
    const row = nodes.get(toHex(news.tx.id));
    if (row === undefined || row.rowId === null || !isReplacedForm(row, news)) continue;
    // As it is now: it may have fallen with one that was replaced just before.
    const { received_time, tx_status } = await tx.db
      .selectFrom('transactions')
      .select(['received_time', 'tx_status'])
      .where('id', '=', row.rowId)
      .executeTakeFirstOrThrow();
    if (isLive(checkedStatus({ table: 'transactions', id: row.rowId }, tx_status))) await invalidate(tx, events, walletId, row.txId);
    await deleteRows(tx, walletId, [row.rowId]);
    events.add(walletId, { kind: 'tx.deleted', txId: row.txId });
    replaced.set(news, { ...news, received: received_time, label: news.label ?? row.label });
  }
  return replaced.size === 0 ? txs : txs.map((news) => replaced.get(news) ?? news);
}
