/**
 * How far back a store reaches: which block it could still go back to, and from
 * which block on it knows what the chain looked like. The first is bounded by
 * the windows of the settings, the second only by what was really pruned.
 */

import type { Point } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { DELTA, isSelfContained } from '../state/delta.ts';
import { type Head, headKey } from '../state/head.ts';
import { forgottenHeight, horizonHeight } from '../state/horizon.ts';
import type { Windows } from '../state/pruned.ts';
import { UnspentError } from '../util/errors.ts';
import { blockAfter, blockAtHeight, blockByHash, edgeBlock, rowKey } from './blocks.ts';
import type { Kept } from './kept.ts';

/** The oldest block the fold can go back to, as `Fold.horizonHeight` says it; null: the origin. */
export function horizonOf(kept: Kept, head: Head | null, windows: Windows): ChainRow | null {
  if (head === null) return null;
  const height = horizonHeight(kept.reader, head.height, windows, outlivesSpent(kept, head));
  return height === null ? null : blockAtHeight(kept.reader, height);
}

/** The block of a point if its past is known; null: before the first block. Throws POINT_UNKNOWN or PRUNED. */
export function knownPoint(kept: Kept, head: Head | null, point: Point | null): ChainRow | null {
  kept.needDeltas();
  if (point === null) {
    const first = edgeBlock(kept.reader, false);
    if (first === null || first.height === 0) return null;
    throw new UnspentError('POINT_UNKNOWN', `the store began at height ${first.height} and knows nothing before`, {
      knownFrom: first.height,
    });
  }
  const row = blockByHash(kept.reader, point.hash);
  if (row === null || head === null) {
    const tip = head === null ? 'the store has no block yet' : `the tip is at height ${head.height}`;
    throw new UnspentError('POINT_UNKNOWN', `the block asked for (height ${point.height}) is not on our chain; ${tip}`, {
      height: point.height,
    });
  }
  const next = blockAfter(kept.reader, row);
  const forgotten = forgottenHeight(kept.reader, outlivesSpent(kept, head));
  if (next !== null && next.height <= forgotten && !isBoundaryAt(kept, row, next, forgotten)) throw pruned(row, forgotten);
  return row;
}

/** A boundary block spends nothing: right above the last block forgotten its undo record is all that is needed. */
function isBoundaryAt(kept: Kept, row: ChainRow, next: ChainRow, forgotten: number): boolean {
  return next.boundary && row.height === forgotten && kept.reader.get(DELTA, rowKey(next)) !== undefined;
}

/** Undo reaches past the pruning of spent outputs: nothing is looked up there. */
function outlivesSpent(kept: Kept, head: Head): boolean {
  if (!kept.has(UNSPENT)) return true;
  kept.needDeltas();
  const newest = kept.reader.get(DELTA, headKey(head));
  return newest !== undefined && isSelfContained(newest);
}

function pruned({ height }: ChainRow, knownFrom: number): UnspentError {
  return new UnspentError('PRUNED', `the chain as of height ${height} is not known any more; it is from height ${knownFrom} on`, {
    height,
    knownFrom,
  });
}
