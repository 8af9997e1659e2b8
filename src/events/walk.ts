/**
 * What leads from the chain of one snapshot to the chain of another: blocks that
 * the newer one does not have are undone, newest first; then come the newer
 * one's, oldest first. What an undone block had done only the older snapshot
 * knows, what an applied one does the newer.
 */
import type { ChainRow } from '../projections/chain.ts';
import { chainDown, undoneBlocks } from '../query/chain-difference.ts';
import type { Query } from '../query/query.ts';

export type WalkStep =
  /** The chain is then at its parent; null: at the origin. */
  | { readonly kind: 'undone'; readonly row: ChainRow; readonly parent: ChainRow | null }
  /** After the last one undone: the newest block that both have; null: the origin. */
  | { readonly kind: 'turned'; readonly at: ChainRow | null; readonly undone: number }
  | { readonly kind: 'applied'; readonly row: ChainRow };

export function* walk(from: Query, to: Query): Generator<WalkStep, void, void> {
  const blocks = undoneBlocks(chainDown(from), to);
  let next = blocks.next();
  for (let undone = 1; next.done !== true; undone++) {
    yield { kind: 'undone', row: next.value, parent: from.blockByHash(next.value.prevHash) };
    next = blocks.next();
    if (next.done === true) yield { kind: 'turned', at: next.value, undone };
  }
  for (const row of to.blocksAfter(next.value)) yield { kind: 'applied', row };
}
