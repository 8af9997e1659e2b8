/**
 * Leases that outlive the spend of their coin. At the end of every change of the
 * chain: a block that spends the coin before the lease ends stops its clock, and
 * with enough confirmations of that block the lease is over.
 */
import { LEASE_WITHOUT_END, type WalletId } from '../records.ts';
import { confirmations } from '../rules/confirmations.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { checked32, checkedIndex } from './row-checks.ts';

/** Whose leases a block may end though it touches nothing else of them. */
export async function walletsWithLeasesOfSpends({ db }: SqlTransaction): Promise<WalletId[]> {
  const rows = await db.selectFrom('utxo_leases').select('wallet_id').distinct().where('release_confs', 'is not', null).execute();
  return rows.map((row) => row.wallet_id);
}

/** The wallets are locked. */
export async function endSpentLeases(tx: SqlTransaction, events: EventLog, walletIds: readonly WalletId[]): Promise<void> {
  if (walletIds.length === 0) return;
  const rows = await tx.db
    .selectFrom('utxo_leases as l')
    .innerJoin('utxos as u', 'u.id', 'l.utxo_id')
    .innerJoin('transactions as s', 's.id', 'u.spent_by_tx_id')
    .innerJoin('blocks as b', 'b.block_height', 's.block_height')
    .innerJoin('wallet_sync_states as w', 'w.wallet_id', 'l.wallet_id')
    .where('l.wallet_id', 'in', walletIds)
    .where('l.release_confs', 'is not', null)
    .select(['l.wallet_id', 'l.utxo_id', 'l.lock_id', 'l.expires_at', 'l.release_confs', 'u.tx_hash', 'u.output_index'])
    .select(['b.block_height', 'b.block_timestamp', 'w.synced_height'])
    .orderBy('l.wallet_id')
    .orderBy('u.tx_hash')
    .orderBy('u.output_index')
    .execute();
  for (const row of rows) {
    if (row.expires_at <= row.block_timestamp * 1000) continue;
    const name = { table: 'utxo_leases', id: row.utxo_id };
    if ((confirmations(row.block_height, row.synced_height) ?? 0) < (row.release_confs ?? 0)) {
      if (row.expires_at === LEASE_WITHOUT_END) continue;
      await tx.db.updateTable('utxo_leases').set({ expires_at: LEASE_WITHOUT_END }).where('utxo_id', '=', row.utxo_id).execute();
      continue;
    }
    await tx.db.deleteFrom('utxo_leases').where('utxo_id', '=', row.utxo_id).execute();
    const outpoint = { txId: checked32(name, 'tx_hash', row.tx_hash), index: checkedIndex(name, 'output_index', row.output_index) };
    events.add(row.wallet_id, { kind: 'lease.released', outpoint, leaseId: checked32(name, 'lock_id', row.lock_id) });
  }
}
