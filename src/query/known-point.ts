/**
 * Which past can be read: the state as of a block is known if the block is on
 * our chain and every block above it can still be undone (`state/horizon.ts`).
 * Only what was really pruned limits it, not the windows of the settings.
 */

import type { Point } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import { UNSPENT } from '../projections/utxo.ts';
import { blockByHash, edgeBlock } from '../state/blocks.ts';
import { DELTA, isSelfContained } from '../state/delta.ts';
import { type Head, headKey } from '../state/head.ts';
import { canUndoAbove, forgottenHeight, horizonBlock, undoNeedsSpent } from '../state/horizon.ts';
import type { Windows } from '../state/pruned.ts';
import { UnspentError } from '../util/errors.ts';
import type { StoreColumns } from './store-columns.ts';

/** The oldest block the fold can roll back to; null: the origin. */
export function horizonOf(columns: StoreColumns, head: Head | null, windows: Windows): ChainRow | null {
  return head === null ? null : horizonBlock(columns.reader, head.height, windows, needsSpent(columns, head));
}

/** The block of a point if the state as of it is known; null: before the first block. Throws POINT_UNKNOWN or PRUNED. */
export function knownPoint(columns: StoreColumns, head: Head | null, point: Point | null): ChainRow | null {
  columns.needDeltas();
  if (point === null) {
    const first = edgeBlock(columns.reader, false);
    if (first === null || first.height === 0) return null;
    throw new UnspentError('POINT_UNKNOWN', `the store began at height ${first.height} and knows nothing before`, {
      knownFrom: first.height,
    });
  }
  const row = blockByHash(columns.reader, point.hash);
  if (row === null || head === null) {
    const tip = head === null ? 'the store has no block yet' : `the tip is at height ${head.height}`;
    throw new UnspentError('POINT_UNKNOWN', `the block asked for (height ${point.height}) is not on our chain; ${tip}`, {
      height: point.height,
    });
  }
  if (!canUndoAbove(columns.reader, row, needsSpent(columns, head)))
    throw pruned(row, forgottenHeight(columns.reader, needsSpent(columns, head)));
  return row;
}

/** What the fold knows from its settings, a query reads from the newest undo record. */
function needsSpent(columns: StoreColumns, head: Head): boolean {
  if (!columns.has(UNSPENT)) return false;
  columns.needDeltas();
  const newest = columns.reader.get(DELTA, headKey(head));
  return undoNeedsSpent({ utxo: true, selfContained: newest !== undefined && isSelfContained(newest) });
}

function pruned({ height }: ChainRow, knownFrom: number): UnspentError {
  return new UnspentError('PRUNED', `the chain as of height ${height} is not known any more; it is from height ${knownFrom} on`, {
    height,
    knownFrom,
  });
}
