/**
 * Whether a candidate may be deleted: the one decision of a prune pass, from
 * facts that the pass has read. A candidate that may not keeps its
 * `deleteAtHeight`, and comes again in the next pass (F11).
 */
import type { ChildRead, ProvenParent, PruneParent } from '../prune-store.ts';
import { type Stability, stabilityOf } from './stability.ts';

export type KeepReason = Exclude<Stability, 'stable'> | 'changed' | 'unspent_slot' | 'referenced' | 'preserved';

/** `child`: the first that stands in the way; null: none does, the record itself says no. */
export type PruneVerdict =
  | { readonly delete: true }
  | { readonly delete: false; readonly reason: KeepReason; readonly child: Uint8Array | null };

/** What a pass knows of one child of a parent. */
export interface ChildEvidence {
  readonly txId: Uint8Array;
  readonly read: ChildRead;
  readonly hasTombstone: boolean;
}

export interface PruneHeights {
  /** H: the stability of children is measured from here. */
  readonly requested: number;
  /** H': no candidate above it (`allowedHeight`). */
  readonly allowed: number;
  /** W. */
  readonly window: number;
}

/** `evidence`: of every child of the parent; a child without evidence is a failed read. */
export function judge(parent: PruneParent, evidence: readonly ChildEvidence[], heights: PruneHeights): PruneVerdict {
  const keep = (reason: KeepReason, child: Uint8Array | null = null): PruneVerdict => ({ delete: false, reason, child });
  const reason = reasonOfRecord(parent, heights.allowed);
  if (reason !== null) return keep(reason);
  if (evidence.length < parent.children.length) return keep('read_error');
  for (const { txId, read, hasTombstone } of evidence) {
    const stability = stabilityOf(read, hasTombstone, heights.requested, heights.window);
    if (stability !== 'stable') return keep(stability, txId);
  }
  if (parent.referrer !== null) return keep('referenced', parent.referrer);
  return { delete: true };
}

/** Why the record itself says no; null: it does not. */
export function reasonOfRecord(
  parent: Pick<PruneParent, 'preserveUntil' | 'deleteAtHeight' | 'hasUnspentSlot' | 'isConflicting'>,
  allowed: number,
): KeepReason | null {
  if (parent.preserveUntil !== null) return 'preserved';
  if (parent.deleteAtHeight === null || parent.deleteAtHeight > allowed) return 'changed';
  return parent.hasUnspentSlot && !parent.isConflicting ? 'unspent_slot' : null;
}

/** What is there when a proven parent is to be removed. */
export interface RemovalFacts {
  /** Null: it is gone. */
  readonly parent: Pick<PruneParent, 'version' | 'deleteAtHeight'> | null;
  /** An unmined or conflicting record has an input on it. */
  readonly isReferred: boolean;
  /** Null: it is gone. */
  readonly childVersion: (txId: Uint8Array) => number | null;
  /** Whether the parent says that a pass has deleted the child. */
  readonly hasTombstone: (txId: Uint8Array) => boolean;
}

/** Whether the decision to delete the parent still rests on what it rested on (F4). */
export function isAsProven({ parent, children }: ProvenParent, facts: RemovalFacts): boolean {
  if (facts.parent === null || facts.isReferred) return false;
  if (facts.parent.version !== parent.version || facts.parent.deleteAtHeight !== parent.deleteAtHeight) return false;
  return children.every(({ txId, version }) => {
    const now = facts.childVersion(txId);
    return now === null ? facts.hasTombstone(txId) : now === version;
  });
}
