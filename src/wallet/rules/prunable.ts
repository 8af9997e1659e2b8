/**
 * Which dead transactions may be deleted. One that replaced another explains why
 * that other is dead, so it goes only together with everything it replaced:
 * chains of replacements go whole, oldest first.
 *
 * How old one is counts from the last that is known of it, not from when it was
 * first seen: one that waited for months and was replaced today may still be in
 * the next block. What spends an output of a dead one died with it.
 */
import type { WalletTxRow } from '../records.ts';
import { isLive } from './status.ts';

/** A row, and what it depends on. */
export interface DyingRow<Id> extends Pick<WalletTxRow, 'status' | 'received' | 'mempool'> {
  readonly id: Id;
  /** When it was replaced last; null: never. */
  readonly replacedAt: number | null;
  /** Dead rows of which it spends outputs. */
  readonly deadParents: readonly Id[];
}

/** The dead ones among the rows of which nothing was heard from `before` on, in their order. */
export function deadSince<Id>(rows: readonly DyingRow<Id>[], before: number): readonly Id[] {
  const dead = rows.filter(({ status }) => !isLive(status));
  const children = new Map<Id, Id[]>();
  for (const { id, deadParents } of dead) for (const parent of deadParents) children.set(parent, [...(children.get(parent) ?? []), id]);
  const young = new Set<Id>();
  const open = dead.filter((row) => lastHeard(row) >= before).map(({ id }) => id);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (young.has(id)) continue;
    young.add(id);
    open.push(...(children.get(id) ?? []));
  }
  return dead.filter(({ id }) => !young.has(id)).map(({ id }) => id);
}

function lastHeard({ received, mempool: { seenAt, evictedAt }, replacedAt }: Omit<DyingRow<unknown>, 'id'>): number {
  return Math.max(received, seenAt ?? 0, evictedAt ?? 0, replacedAt ?? 0);
}

/**
 * `candidates`: dead, old enough, and no live row spends their credits. `replaces`: what each id has replaced.
 * Returns the largest part of the candidates that is closed: whatever one of it replaced is in it, too.
 */
export function prunable<Id>(candidates: readonly Id[], replaces: (id: Id) => readonly Id[]): readonly Id[] {
  const going = new Set(candidates);
  for (let before = -1; before !== going.size; ) {
    before = going.size;
    for (const id of going) if (!replaces(id).every((replaced) => going.has(replaced))) going.delete(id);
  }
  return candidates.filter((id) => going.has(id));
}
