/**
 * Leases: when one counts, who may take it, and how long it lasts. It ends at
 * `expiresAt`, that moment included: from then on anybody may take the coin.
 */

import type { Outpoint } from '../../ledgers/outpoint.ts';
import { compareBytes, equalBytes } from '../../util/bytes.ts';
import { type CoinLease, LEASE_WITHOUT_END } from '../records.ts';
import type { LeaseRequest } from '../store.ts';
import { refusal } from './failures.ts';

const LEASE_ID_BYTES = 32;

/** The lease that a request asks for. Throws INVALID_PARAM. */
export function leaseFor({ id, now, durationMs, releaseAfterSpendConfs }: LeaseRequest): CoinLease {
  if (id.length !== LEASE_ID_BYTES) throw refusal.invalid(`the id of a lease has ${LEASE_ID_BYTES} bytes, not ${id.length}`);
  if (durationMs !== null && !(Number.isSafeInteger(durationMs) && durationMs > 0))
    throw refusal.invalid(`a lease cannot last ${durationMs} ms`);
  if (releaseAfterSpendConfs !== undefined && !(Number.isSafeInteger(releaseAfterSpendConfs) && releaseAfterSpendConfs > 0)) {
    throw refusal.invalid(`a lease cannot end with ${releaseAfterSpendConfs} confirmations`);
  }
  const expiresAt = durationMs === null ? LEASE_WITHOUT_END : Math.min(now + durationMs, LEASE_WITHOUT_END);
  return { id, expiresAt, releaseAfterSpendConfs: releaseAfterSpendConfs ?? null };
}

export function isActive({ expiresAt }: Pick<CoinLease, 'expiresAt'>, now: number): boolean {
  return expiresAt > now;
}

export function sameLease(a: CoinLease, b: CoinLease): boolean {
  return a.expiresAt === b.expiresAt && a.releaseAfterSpendConfs === b.releaseAfterSpendConfs && equalBytes(a.id, b.id);
}

/** The order in which several coins are leased, so that two processes never wait for each other. */
export function inLeaseOrder(outpoints: readonly Outpoint[]): readonly Outpoint[] {
  return outpoints.toSorted(compareOutpoints);
}

export function compareOutpoints(a: Outpoint, b: Outpoint): number {
  return compareBytes(a.txId, b.txId) || a.index - b.index;
}

/** What taking a coin does to the lease it has. Throws COIN_LEASED. */
export function takeLease(
  outpoint: Outpoint,
  held: CoinLease | null,
  wanted: CoinLease,
  now: number,
): 'insert' | 'renew' | 'take over' | 'keep' {
  if (held === null) return 'insert';
  if (!equalBytes(held.id, wanted.id)) {
    if (isActive(held, now)) throw refusal.coinLeased(outpoint);
    return 'take over';
  }
  return sameLease(held, wanted) ? 'keep' : 'renew';
}
