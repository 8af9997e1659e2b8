/**
 * A branch falls: transactions that lost, and all that was built on them. Edges
 * are cleared first, then the roots get their status and what replaced them, then
 * the descendants. Whoever won claims its inputs only after that.
 */
import { outpointText } from '../../ledgers/outpoint.ts';
import type { StatusCause, TxStatus } from '../records.ts';
import { refusal } from '../rules/failures.ts';
import { byOrder, type MemoryTables, type MemoryTx, type MemoryWallet } from './tables.ts';

/** Why the roots fall. Roots that were orphaned have their status already. */
export type Fall =
  | { readonly kind: 'replaced'; readonly winner: MemoryTx; readonly createdAt: number }
  | { readonly kind: 'failed' }
  | { readonly kind: 'orphaned' };

export function dropBranch(tables: MemoryTables, wallet: MemoryWallet, roots: readonly MemoryTx[], fall: Fall): void {
  const winner = fall.kind === 'replaced' ? fall.winner : null;
  const ordered = roots.toSorted(byOrder);
  const descendants = descendantsOf(wallet, roots, winner);
  for (const row of [...ordered, ...descendants]) clearEdges(tables, wallet, row);
  const by = winner?.tx.id ?? null;
  for (const root of ordered) {
    if (fall.kind === 'orphaned') continue;
    setStatus(tables, wallet, root, fall.kind, fall.kind === 'failed' ? 'invalidated' : causeOf(fall.winner), by);
    if (fall.kind === 'replaced') addReplacement(tables, wallet, root, fall.winner, fall.createdAt);
  }
  for (const row of descendants) setStatus(tables, wallet, row, 'failed', 'ancestor', by);
}

function causeOf(winner: MemoryTx): StatusCause {
  return winner.block === null ? 'replaced' : 'conflict';
}

/** Unmined rows that spend outputs of the roots, of those, and so on. Throws CHAIN_INCONSISTENT where that leads to a block or to the winner. */
function descendantsOf(wallet: MemoryWallet, roots: readonly MemoryTx[], winner: MemoryTx | null): MemoryTx[] {
  const found = new Set(roots.map(({ key }) => key));
  const queue = [...found];
  const descendants: MemoryTx[] = [];
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    for (const child of wallet.liveChildren(key)) {
      if (found.has(child.key)) continue;
      if (child.block !== null || child.key === winner?.key) throw refusal.chainInconsistent(child.tx.id);
      found.add(child.key);
      queue.push(child.key);
      descendants.push(child);
    }
  }
  return descendants.sort(byOrder);
}

/** The coins that it spent are unspent again. */
export function clearEdges(tables: MemoryTables, wallet: MemoryWallet, { key, tx }: MemoryTx): void {
  for (const outpoint of tx.inputs) {
    const credit = wallet.credits.get(outpointText(outpoint));
    if (credit?.spentBy?.txKey !== key) continue;
    wallet.credits.set(outpointText(outpoint), { ...credit, spentBy: null });
    tables.emit(wallet.id, { kind: 'utxo.unspent', outpoint, amount: credit.amount });
  }
}

export function setStatus(
  tables: MemoryTables,
  wallet: MemoryWallet,
  { key }: MemoryTx,
  to: TxStatus,
  cause: StatusCause,
  by: Uint8Array | null = null,
): void {
  const row = wallet.txOf(key);
  wallet.txs.set(key, { ...row, status: to });
  tables.emit(wallet.id, { kind: 'tx.status', txId: row.tx.id, from: row.status, to, cause, by });
}

/** An edge that was there before is the newest now. */
function addReplacement(tables: MemoryTables, wallet: MemoryWallet, replaced: MemoryTx, winner: MemoryTx, createdAt: number): void {
  wallet.replacements.set(`${replaced.key}>${winner.key}`, {
    order: tables.next(),
    replacedKey: replaced.key,
    replacementKey: winner.key,
    createdAt,
  });
}
