/** Labels in the store in memory: taking them in, and what they say of transactions that come in. */
import { type Outpoint, outpointText } from '../../ledgers/outpoint.ts';
import { equalBytes } from '../../util/bytes.ts';
import type { KeptLabels, WalletLabel } from '../label-records.ts';
import {
  checkKeptLabel,
  compareLabels,
  FROZEN_LEASE,
  FROZEN_LEASE_ID,
  freezing,
  isFrozenByLabel,
  LabelsOfTxs,
  labelKey,
  labelledTxs,
  mergedLabel,
  mergedLabels,
  toldOutputs,
} from '../rules/labels.ts';
import type { MemoryTables, MemoryWallet } from './tables.ts';

/** Throws INVALID_PARAM. */
export function takeLabels(tables: MemoryTables, wallet: MemoryWallet, labels: readonly WalletLabel[], now: number): KeptLabels {
  for (const label of labels) checkKeptLabel(label);
  const merged = mergedLabels(labels);
  for (const label of merged) wallet.labels.set(labelKey(label), mergedLabel(wallet.labels.get(labelKey(label)), label));
  let applied = 0;
  for (const [key, { label }] of labelledTxs(merged)) {
    const row = wallet.txs.get(key);
    if (row === undefined) continue;
    wallet.txs.set(key, { ...row, label });
    applied++;
  }
  const [frozen, held]: [Outpoint[], Outpoint[]] = [[], []];
  for (const outpoint of toldOutputs(merged, false)) {
    if (wallet.credits.get(outpointText(outpoint)) === undefined) continue;
    const lease = wallet.leases.get(outpointText(outpoint)) ?? null;
    const what = freezing(lease, now);
    (what === 'held' ? held : frozen).push(outpoint);
    if (what === 'held' || what === 'frozen') continue;
    if (what === 'take over') tables.emit(wallet.id, { kind: 'lease.expired', outpoint, leaseId: lease!.id });
    freezeCredit(tables, wallet, outpoint);
  }
  const thawed = toldOutputs(merged, true).filter((outpoint) => isFrozenByLabel(wallet.leases.get(outpointText(outpoint)) ?? null));
  for (const outpoint of thawed) {
    wallet.leases.delete(outpointText(outpoint));
    tables.emit(wallet.id, { kind: 'lease.released', outpoint, leaseId: FROZEN_LEASE_ID });
  }
  return { applied, frozen, held, thawed };
}

export function freezeCredit(tables: MemoryTables, wallet: MemoryWallet, outpoint: Outpoint): void {
  wallet.leases.set(outpointText(outpoint), { ...FROZEN_LEASE, outpoint });
  tables.emit(wallet.id, { kind: 'lease.acquired', outpoint, leaseId: FROZEN_LEASE_ID });
}

/** What is kept of a transaction that comes in. */
export function labelsOfTx({ labels }: MemoryWallet, id: Uint8Array): LabelsOfTxs {
  return new LabelsOfTxs([...labels.values()].filter(({ txId }) => txId !== null && equalBytes(txId, id)));
}

export function labelsInOrder({ labels }: MemoryWallet): WalletLabel[] {
  return [...labels.values()].sort(compareLabels);
}
