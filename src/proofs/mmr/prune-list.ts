/**
 * Forgetting spent leaves. A pruned root is a position below which everything
 * is gone; its own hash stays, because proofs of its neighbours need it. Two
 * pruned siblings become their parent, so entries never nest. The range's root
 * and the proofs of every leaf that is left do not change.
 */
import { assert } from '../../util/errors.ts';
import type { NodeReader, NodeSink } from '../node-store.ts';
import { climbFrom, familyOf } from './positions.ts';
import { nodeKey } from './range.ts';

/** Two kinds of rows: the nodes of a range, and where it was pruned. */
export interface PruneSpaces<T> {
  /** Hashes by position. */
  readonly nodes: T;
  /** Pruned roots by position; the value is empty. */
  readonly pruned: T;
}

const NOTHING = new Uint8Array(0);

/**
 * Prunes these leaf positions, all below `cutoff` (a size of the range); those that went before are no change. Returns how many
 * hashes were freed.
 */
export function pruneLeaves(
  nodes: PruneSpaces<NodeReader>,
  sink: PruneSpaces<NodeSink>,
  cutoff: number,
  positions: readonly number[],
): number {
  const hashes = nodes.nodes.getMany(positions.map(nodeKey));
  const there = positions.filter((_, i) => hashes[i] !== undefined);
  return pruneFresh(nodes.pruned, sink, cutoff, there);
}

/** The same for leaves none of which went before: no node is read. */
export function pruneFresh(pruned: NodeReader, sink: PruneSpaces<NodeSink>, cutoff: number, positions: readonly number[]): number {
  let level = new Set(positions);
  let freed = 0;
  while (level.size > 0) {
    const next = new Set<number>();
    for (const [position, sibling, isEntry] of withSiblings(pruned, level)) {
      const { parent } = familyOf(position);
      if (!isEntry && !level.has(sibling)) {
        sink.pruned.put(nodeKey(position), NOTHING);
        continue;
      }
      assert(parent < cutoff, 'a pruned pair has its parent below the cutoff');
      if (isEntry) sink.pruned.del(nodeKey(sibling));
      if (next.has(parent)) continue;
      next.add(parent);
      sink.nodes.del(nodeKey(position));
      sink.nodes.del(nodeKey(sibling));
      freed += 2;
    }
    level = next;
  }
  return freed;
}

/** Each position, its sibling, and whether that is pruned already. */
function withSiblings(pruned: NodeReader, level: ReadonlySet<number>): (readonly [position: number, sibling: number, isEntry: boolean])[] {
  const positions = [...level];
  const siblings = positions.map((position) => familyOf(position).sibling);
  const entries = pruned.getMany(siblings.map(nodeKey));
  return positions.map((position, i) => [position, siblings[i], entries[i] !== undefined] as const);
}

/** True when the position is a pruned root or lies below one. */
export function isPruned(pruned: NodeReader, position: number, size: number): boolean {
  const above = climbFrom(position, size).families.map(({ parent }) => parent);
  return pruned.getMany([position, ...above].map(nodeKey)).some((entry) => entry !== undefined);
}
