/**
 * Whether a spender is stable: mined on the best chain so deep that no
 * reorganisation that is accepted can undo it. Only positive proof counts (F1):
 * whatever cannot be read or makes no sense is not stable (F2).
 */
import { TXID_BYTES } from '../../ledgers/outpoint.ts';
import type { ChildFacts, ChildRead } from '../prune-store.ts';
import { isHeight } from './heights.ts';

export type Stability = 'stable' | 'child_unmined' | 'child_recent' | 'child_missing' | 'child_conflicting' | 'read_error';

/** `hasTombstone`: the parent says that a pass has deleted the child, which was stable then. */
export function stabilityOf(read: ChildRead, hasTombstone: boolean, height: number, window: number): Stability {
  if (read.kind === 'failed') return 'read_error';
  if (read.kind === 'absent') return hasTombstone ? 'stable' : 'child_missing';
  const { child } = read;
  if (!isSound(child) || !isHeight(height) || !isHeight(window)) return 'read_error';
  if (child.isConflicting) return 'child_conflicting';
  if (child.unminedSince !== null) return 'child_unmined';
  const minedAt = bestChainHeight(child);
  if (minedAt === null) return 'child_unmined';
  return isDeep(minedAt, height, window) ? 'stable' : 'child_recent';
}

/** Whether enough blocks lie on what was mined at a height. */
export function isDeep(minedAt: number, height: number, window: number): boolean {
  return minedAt + window <= height;
}

/** The height of the highest block of the best chain that holds it; blocks of other branches do not count. Null: none. */
export function bestChainHeight({ blocks }: Pick<ChildFacts, 'blocks'>): number | null {
  let best: number | null = null;
  for (const { height, isOnBestChain } of blocks) if (isOnBestChain && (best === null || height > best)) best = height;
  return best;
}

/** A damaged record may have fields of any type: TypeScript does not see what a database gives. */
function isSound({ txId, isConflicting, unminedSince, blocks }: ChildFacts): boolean {
  const isMinedHeight = (height: unknown): boolean => isHeight(height) && height > 0;
  return (
    txId?.length === TXID_BYTES &&
    typeof isConflicting === 'boolean' &&
    (unminedSince === null || isHeight(unminedSince)) &&
    Array.isArray(blocks) &&
    blocks.every(({ height, isOnBestChain }) => isMinedHeight(height) && typeof isOnBestChain === 'boolean')
  );
}
