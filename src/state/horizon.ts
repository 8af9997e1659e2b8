/**
 * The horizon rule: down to which block the store can be rolled back. The fold
 * obeys it, status and metrics report it, and reads of the past use the same
 * functions to say how far back the past is known.
 *
 * The horizon is the highest of three heights: the tip less the window of the
 * settings; the last block whose undo pruning has deleted; and the mark. The
 * mark keeps the horizon from moving down: a rollback lowers the tip, and
 * without it a second rollback could go below what the first one was refused.
 *
 * The mark is a reserved row of `chain`, written in the batch of the rollback.
 * The batch that brings the tip back to where the window alone gives the same
 * height deletes it, so that the store is then byte for byte what it would be
 * without the rollback. No projection sees it.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import { CHAIN, type ChainRow, metaKey } from '../projections/chain.ts';
import { readU64, writeU64 } from '../util/bytes.ts';
import { blockAfter, blockAtHeight, edgeBlock, rowKey } from './blocks.ts';
import { DELTA } from './delta.ts';
import { readPruned, type Windows } from './pruned.ts';

/** The reserved row of the mark. */
export const HORIZON_KEY = metaKey('horizon');

/** The height of the mark; -1: there is none. */
export function readHorizonMark(reader: Reader): number {
  const bytes = reader.get(CHAIN, HORIZON_KEY);
  return bytes === undefined ? -1 : readU64(bytes, 0);
}

export function writeHorizonMark(batch: Batch, height: number): void {
  if (height < 0) {
    batch.del(CHAIN, HORIZON_KEY);
    return;
  }
  const bytes = new Uint8Array(8);
  writeU64(bytes, 0, height);
  batch.put(CHAIN, HORIZON_KEY, bytes);
}

/** Whether undoing a block reads `utxo_spent`: not if there is no unspent set, nor if the undo records carry the outputs. */
export function undoNeedsSpent({ utxo, selfContained }: { readonly utxo: boolean; readonly selfContained: boolean }): boolean {
  return utxo && !selfContained;
}

/** How many blocks below the tip the window of the settings reaches. */
export function horizonDepth({ pruneDepth, rollbackWindow }: Windows, needsSpent: boolean): number {
  return needsSpent ? Math.min(pruneDepth, rollbackWindow) : rollbackWindow;
}

/** Height up to which pruning has deleted what undoing a block takes; -1: nothing yet. */
export function forgottenHeight(reader: Reader, needsSpent: boolean): number {
  const { spent, deltas } = readPruned(reader);
  return needsSpent ? Math.max(spent, deltas) : deltas;
}

/** The oldest height that can be rolled back to; null: the origin, before the first block. */
export function horizonHeight(reader: Reader, tipHeight: number, windows: Windows, needsSpent: boolean): number | null {
  const byWindow = tipHeight - horizonDepth(windows, needsSpent);
  const height = Math.max(byWindow, forgottenHeight(reader, needsSpent), readHorizonMark(reader));
  return height < (edgeBlock(reader, false)?.height ?? 0) ? null : height;
}

/** The oldest block that can be rolled back to; null: the origin. */
export function horizonBlock(reader: Reader, tipHeight: number, windows: Windows, needsSpent: boolean): ChainRow | null {
  const height = horizonHeight(reader, tipHeight, windows, needsSpent);
  return height === null ? null : blockAtHeight(reader, height);
}

/**
 * Whether every block above this one (null: every block) can still be undone, as far as pruning is concerned. Pruning goes by height, and a
 * boundary block (Byron) has the height of the block before it: at the last height forgotten its undo record may still be
 * there, and as a boundary block spends nothing, the record is all that undoing it takes.
 */
export function canUndoAbove(reader: Reader, row: ChainRow | null, needsSpent: boolean): boolean {
  const forgotten = forgottenHeight(reader, needsSpent);
  const next = row === null ? edgeBlock(reader, false) : blockAfter(reader, row);
  if (next === null || next.height > forgotten) return true;
  return row?.height === forgotten && reader.get(DELTA, rowKey(next)) !== undefined;
}
