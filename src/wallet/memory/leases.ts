/** Leases of the store in memory: taking, releasing, and what time and blocks end. */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { equalBytes } from '../../util/bytes.ts';
import { type CoinLease, LEASE_WITHOUT_END } from '../records.ts';
import { confirmations } from '../rules/confirmations.ts';
import { refusal } from '../rules/failures.ts';
import { compareOutpoints, inLeaseOrder, isActive, leaseFor, takeLease } from '../rules/leases.ts';
import type { LeaseRequest } from '../store.ts';
import type { MemoryLease, MemoryTables, MemoryWallet } from './tables.ts';

/** Throws INVALID_PARAM, UTXO_UNKNOWN, COIN_LEASED. */
export function leaseAll(tables: MemoryTables, wallet: MemoryWallet, outpoints: readonly Outpoint[], request: LeaseRequest): CoinLease[] {
  const lease = leaseFor(request);
  for (const { txId, index } of inLeaseOrder(outpoints)) {
    const outpoint = { txId, index };
    const key = outpointText(outpoint);
    const credit = wallet.credits.get(key);
    if (credit === undefined || credit.spentBy !== null || !wallet.isCreditLive(credit)) throw refusal.coinUnknown(outpoint);
    const held = wallet.leases.get(key) ?? null;
    const taking = takeLease(outpoint, held, lease, request.now);
    if (taking === 'keep') continue;
    if (taking === 'take over') tables.emit(wallet.id, { kind: 'lease.expired', outpoint, leaseId: held!.id });
    wallet.leases.set(key, { ...lease, outpoint });
    tables.emit(wallet.id, { kind: 'lease.acquired', outpoint, leaseId: lease.id });
  }
  return outpoints.map(() => lease);
}

/** Throws UTXO_UNKNOWN, LEASE_OF_ANOTHER. */
export function release(tables: MemoryTables, wallet: MemoryWallet, outpoint: Outpoint, leaseId: Uint8Array, now: number): void {
  const credit = wallet.credits.get(outpointText(outpoint));
  const held = wallet.leases.get(outpointText(outpoint));
  if (credit === undefined || !wallet.isCreditLive(credit)) throw refusal.coinUnknown(outpoint);
  if (credit.spentBy !== null && (held === undefined || held.releaseAfterSpendConfs === null)) throw refusal.coinUnknown(outpoint);
  if (held === undefined || !isActive(held, now)) return;
  if (!equalBytes(held.id, leaseId)) throw refusal.leaseOfAnother(outpoint);
  remove(tables, wallet, held, 'lease.released');
}

function remove(tables: MemoryTables, wallet: MemoryWallet, { outpoint, id }: MemoryLease, kind: 'lease.released' | 'lease.expired'): void {
  wallet.leases.delete(outpointText(outpoint));
  tables.emit(wallet.id, { kind, outpoint, leaseId: id });
}

export function leasesInOrder(wallet: MemoryWallet): MemoryLease[] {
  return [...wallet.leases.values()].sort((a, b) => compareOutpoints(a.outpoint, b.outpoint));
}

/** Returns how many there were. */
export function removeExpired(tables: MemoryTables, now: number): number {
  let count = 0;
  for (const wallet of tables.walletsInOrder()) {
    for (const lease of leasesInOrder(wallet)) {
      if (isActive(lease, now)) continue;
      remove(tables, wallet, lease, 'lease.expired');
      count++;
    }
  }
  return count;
}

/**
 * At the end of every change, for leases that outlive the spend of their coin: a block that spends it before the lease
 * ends stops its clock, and with enough confirmations of that block the lease is over.
 */
export function settleLeases(tables: MemoryTables, wallet: MemoryWallet): void {
  const synced = wallet.info.value.syncedTo?.height ?? null;
  for (const lease of leasesInOrder(wallet)) {
    if (lease.releaseAfterSpendConfs === null) continue;
    const spender = wallet.credits.get(outpointText(lease.outpoint))?.spentBy ?? null;
    const block = spender === null ? null : wallet.txOf(spender.txKey).block;
    if (block === null || !isActive(lease, block.timestamp * 1000)) continue;
    if ((confirmations(block.height, synced) ?? 0) >= lease.releaseAfterSpendConfs) remove(tables, wallet, lease, 'lease.released');
    else wallet.leases.set(outpointText(lease.outpoint), { ...lease, expiresAt: LEASE_WITHOUT_END });
  }
}
