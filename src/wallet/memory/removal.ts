/** Rows that go for good: one that its owner deletes, and dead ones that nothing needs. */
import { outpointText } from '../../ledgers/outpoint.ts';
import { toHex } from '../../util/bytes.ts';
import { refusal } from '../rules/failures.ts';
import { deadSince, prunable } from '../rules/prunable.ts';
import { isLive } from '../rules/status.ts';
import { clearEdges } from './branch.ts';
import { byOrder, type MemoryTables, type MemoryTx, type MemoryWallet } from './tables.ts';

/** Throws TX_UNKNOWN, TX_NOT_UNMINED. */
export function unminedTx(wallet: MemoryWallet, txId: Uint8Array): MemoryTx {
  const row = wallet.tx(txId);
  if (row.block !== null || !isLive(row.status)) throw refusal.txNotUnmined(txId, row.status, row.block !== null);
  return row;
}

export function deleteTx(tables: MemoryTables, wallet: MemoryWallet, txId: Uint8Array): void {
  const row = unminedTx(wallet, txId);
  if (wallet.liveChildren(row.key).length > 0) throw refusal.txHasChildren(txId);
  removeRow(tables, wallet, row);
}

export function prune(tables: MemoryTables, wallet: MemoryWallet, before: number): Uint8Array[] {
  const edges = [...wallet.replacements.values()];
  const rows = [...wallet.txs.values()].sort(byOrder).map(({ key, tx, status, received, mempool }) => ({
    id: key,
    status,
    received,
    mempool,
    replacedAt: edges.reduce<number | null>((last, edge) => (edge.replacedKey === key ? Math.max(last ?? 0, edge.createdAt) : last), null),
    deadParents: tx.inputs.map(({ txId }) => toHex(txId)).filter((parent) => !isLive(wallet.txs.get(parent)?.status ?? 'published')),
  }));
  const going = prunable(deadSince(rows, before), (key) =>
    edges.filter(({ replacementKey }) => replacementKey === key).map(({ replacedKey }) => replacedKey),
  );
  return going.map((key) => {
    const row = wallet.txOf(key);
    removeRow(tables, wallet, row);
    return row.tx.id;
  });
}

/** It holds no edge that its children need: those are dead. */
export function removeRow(tables: MemoryTables, wallet: MemoryWallet, row: MemoryTx): void {
  const { key, tx } = row;
  clearEdges(tables, wallet, row);
  for (const { outpoint } of wallet.creditsOf(row)) {
    wallet.leases.delete(outpointText(outpoint));
    wallet.credits.delete(outpointText(outpoint));
  }
  for (const parentKey of new Set(tx.inputs.map(({ txId }) => toHex(txId)))) {
    const siblings = (wallet.children.get(parentKey) ?? []).filter((child) => child !== key);
    wallet.children.set(parentKey, siblings);
  }
  for (const { replacedKey, replacementKey } of [...wallet.replacements.values()]) {
    if (replacedKey === key || replacementKey === key) wallet.replacements.delete(`${replacedKey}>${replacementKey}`);
  }
  wallet.txs.delete(key);
  tables.emit(wallet.id, { kind: 'tx.deleted', txId: tx.id });
}
