/**
 * Leases: taking them, giving them back, and clearing away those that time has
 * ended. The wallet is locked meanwhile, and the statement that takes a lease
 * looks again whether the coin is unspent, its transaction live, and no other
 * lease active.
 */
import { sql } from 'kysely';
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { listTable } from '../../sql/lists.ts';
import { equalBytes } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import type { CoinLease, WalletEvent, WalletId } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import { inLeaseOrder, isActive, leaseFor, takeLease } from '../rules/leases.ts';
import { isLive } from '../rules/status.ts';
import type { LeaseRequest } from '../store.ts';
import type { SqlTransaction } from './database.ts';
import type { EventLog } from './event-log.ts';
import { fundedList } from './funded.ts';
import { lockEverything, lockWallet } from './locks.ts';
import { checked32, checkedIndex, checkedStatus } from './row-checks.ts';

interface LeasableCoin {
  readonly rowId: number;
  readonly isSpent: boolean;
  readonly isParentLive: boolean;
  readonly lease: CoinLease | null;
}

/** By outpoint as text. */
export async function loadCoins(
  tx: SqlTransaction,
  walletId: WalletId,
  outpoints: readonly Outpoint[],
): Promise<Map<string, LeasableCoin>> {
  const rows = await tx.db
    .selectFrom(fundedList(tx, walletId, outpoints).as('v'))
    .crossJoin('utxos as u')
    .innerJoin('transactions as t', 't.id', 'u.tx_id')
    .leftJoin('utxo_leases as l', 'l.utxo_id', 'u.id')
    .whereRef('u.tx_id', '=', 'v.tx_id')
    .whereRef('u.output_index', '=', 'v.place')
    .select([
      'u.id',
      'u.tx_hash',
      'u.output_index',
      'u.spent_by_tx_id',
      'u.tx_id',
      't.tx_status',
      'l.lock_id',
      'l.expires_at',
      'l.release_confs',
    ])
    .execute();
  const coins = rows.map((row): [string, LeasableCoin] => {
    const name = { table: 'utxos', id: row.id };
    const outpoint = { txId: checked32(name, 'tx_hash', row.tx_hash), index: checkedIndex(name, 'output_index', row.output_index) };
    const lease =
      row.lock_id === null || row.expires_at === null
        ? null
        : {
            id: checked32({ table: 'utxo_leases', id: row.id }, 'lock_id', row.lock_id),
            expiresAt: row.expires_at,
            releaseAfterSpendConfs: row.release_confs,
          };
    const isParentLive = isLive(checkedStatus({ table: 'transactions', id: row.tx_id }, row.tx_status));
    return [outpointText(outpoint), { rowId: row.id, isSpent: row.spent_by_tx_id !== null, isParentLive, lease }];
  });
  return new Map(coins);
}

/** All or none. INVALID_PARAM, UTXO_UNKNOWN, COIN_LEASED. The wallet is locked. */
export async function takeLeases(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  outpoints: readonly Outpoint[],
  request: LeaseRequest,
): Promise<CoinLease[]> {
  const lease = leaseFor(request);
  const coins = await loadCoins(tx, walletId, outpoints);
  const taken = new Set<number>();
  const told: WalletEvent[] = [];
  for (const { txId, index } of inLeaseOrder(outpoints)) {
    // Callers may give what has more than an outpoint; events tell no more than that.
    const outpoint = { txId, index };
    const coin = coins.get(outpointText(outpoint));
    if (coin === undefined || coin.isSpent || !coin.isParentLive) throw refusal.coinUnknown(outpoint);
    const taking = takeLease(outpoint, coin.lease, lease, request.now);
    if (taking === 'keep' || taken.has(coin.rowId)) continue;
    if (taking === 'take over' && coin.lease !== null) told.push({ kind: 'lease.expired', outpoint, leaseId: coin.lease.id });
    told.push({ kind: 'lease.acquired', outpoint, leaseId: lease.id });
    taken.add(coin.rowId);
  }
  await upsertLeases(tx, walletId, [...taken], lease, request.now);
  for (const event of told) events.add(walletId, event);
  return outpoints.map(() => lease);
}

async function upsertLeases(
  tx: SqlTransaction,
  walletId: WalletId,
  rowIds: readonly number[],
  lease: CoinLease,
  now: number,
): Promise<void> {
  if (rowIds.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    rowIds.map((id) => [id]),
  );
  const { id, expiresAt, releaseAfterSpendConfs } = lease;
  const { numAffectedRows } = await sql`INSERT INTO utxo_leases (utxo_id, wallet_id, lock_id, expires_at, release_confs)
    SELECT u.id, ${walletId}, ${id}, ${expiresAt}, ${releaseAfterSpendConfs} FROM ${list} AS v CROSS JOIN utxos u CROSS JOIN transactions t
      WHERE u.id = v.row_id AND u.wallet_id = ${walletId} AND u.spent_by_tx_id IS NULL AND t.id = u.tx_id AND t.tx_status IN (0, 1)
    ON CONFLICT (utxo_id) DO UPDATE SET lock_id = excluded.lock_id, expires_at = excluded.expires_at, release_confs = excluded.release_confs
      WHERE utxo_leases.lock_id = excluded.lock_id OR utxo_leases.expires_at <= ${now}`.execute(tx.db);
  assert(numAffectedRows === BigInt(rowIds.length), `${rowIds.length} coins are to be leased, ${numAffectedRows} were free`);
}

/** UTXO_UNKNOWN, LEASE_OF_ANOTHER. */
export async function dropLease(
  tx: SqlTransaction,
  events: EventLog,
  walletId: WalletId,
  { outpoint, leaseId, now }: { readonly outpoint: Outpoint; readonly leaseId: Uint8Array; readonly now: number },
): Promise<void> {
  await lockWallet(tx, walletId);
  const coin = (await loadCoins(tx, walletId, [outpoint])).get(outpointText(outpoint));
  if (coin === undefined || !coin.isParentLive) throw refusal.coinUnknown(outpoint);
  if (coin.isSpent && (coin.lease === null || coin.lease.releaseAfterSpendConfs === null)) throw refusal.coinUnknown(outpoint);
  if (coin.lease === null || !isActive(coin.lease, now)) return;
  if (!equalBytes(coin.lease.id, leaseId)) throw refusal.leaseOfAnother(outpoint);
  await deleteLeases(tx, [coin.rowId]);
  events.add(walletId, { kind: 'lease.released', outpoint, leaseId });
}

/** Of the coins with these rows. */
export async function deleteLeases(tx: SqlTransaction, rowIds: readonly number[]): Promise<void> {
  if (rowIds.length === 0) return;
  const list = listTable(
    tx.kind,
    { row_id: 'integer' },
    rowIds.map((id) => [id]),
  );
  await sql`DELETE FROM utxo_leases WHERE utxo_id IN (SELECT row_id FROM ${list} AS v)`.execute(tx.db);
}

/** Of all wallets; returns how many. */
export async function dropExpired(tx: SqlTransaction, events: EventLog, now: number): Promise<number> {
  await lockEverything(tx);
  const rows = await tx.db
    .selectFrom('utxo_leases as l')
    .crossJoin('utxos as u')
    .whereRef('u.id', '=', 'l.utxo_id')
    .where('l.expires_at', '<=', now)
    .select(['l.wallet_id', 'l.utxo_id', 'l.lock_id', 'u.tx_hash', 'u.output_index'])
    .orderBy('l.wallet_id')
    .orderBy('u.tx_hash')
    .orderBy('u.output_index')
    .execute();
  for (const row of rows) {
    const name = { table: 'utxo_leases', id: row.utxo_id };
    const outpoint = { txId: checked32(name, 'tx_hash', row.tx_hash), index: checkedIndex(name, 'output_index', row.output_index) };
    events.add(row.wallet_id, { kind: 'lease.expired', outpoint, leaseId: checked32(name, 'lock_id', row.lock_id) });
  }
  if (rows.length > 0) await tx.db.deleteFrom('utxo_leases').where('expires_at', '<=', now).execute();
  return rows.length;
}
