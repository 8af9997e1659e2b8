/**
 * A branch falls: transactions that lost, and all that was built on them. Edges
 * are cleared first, then the roots get their status and what replaced them, then
 * the descendants. Whoever won claims its inputs only after that.
 *
 * The graph must hold every live descendant of the roots (`loadBranch`).
 */
import { refusal } from '../rules/failures.ts';
import { byRow, type TxGraph, type TxNode } from './graph.ts';

/** Why the roots fall. Orphaned roots have their status already. */
export type BranchEnd =
  | { readonly kind: 'replaced'; readonly winner: TxNode; readonly createdAt: number }
  | { readonly kind: 'failed' }
  | { readonly kind: 'orphaned' };

export function endBranch(graph: TxGraph, roots: readonly TxNode[], end: BranchEnd): void {
  const winner = end.kind === 'replaced' ? end.winner : null;
  const by = winner?.txId ?? null;
  const ordered = roots.toSorted(byRow);
  const descendants = descendantsOf(graph, ordered, winner);
  for (const node of ordered) freeInputs(graph, node);
  for (const node of descendants) freeInputs(graph, node);
  for (const root of ordered) {
    if (end.kind === 'failed') graph.setStatus(root, 'failed', 'invalidated');
    if (end.kind !== 'replaced') continue;
    graph.setStatus(root, 'replaced', end.winner.block === null ? 'replaced' : 'conflict', by);
    graph.replacements.push({ replaced: root, replacement: end.winner, createdAt: end.createdAt });
  }
  for (const node of descendants) graph.setStatus(node, 'failed', 'ancestor', by);
}

/** Throws CHAIN_INCONSISTENT where they lead to a block, or to the winner itself. */
function descendantsOf(graph: TxGraph, roots: readonly TxNode[], winner: TxNode | null): TxNode[] {
  const found = new Set(roots);
  const queue = [...roots];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    for (const child of graph.liveChildren(node.key)) {
      if (found.has(child)) continue;
      if (child.block !== null || child === winner) throw refusal.chainInconsistent(child.txId);
      found.add(child);
      queue.push(child);
    }
  }
  for (const root of roots) found.delete(root);
  return [...found].sort(byRow);
}

/** The coins that it spent are unspent again. */
export function freeInputs(graph: TxGraph, { key, inputs }: TxNode): void {
  for (const { text } of inputs) {
    const credit = graph.credits.get(text);
    if (credit?.spender?.key === key) graph.setSpender(credit, null);
  }
}
