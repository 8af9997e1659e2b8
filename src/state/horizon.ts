/**
 * The horizon: the oldest block the store promises to go back to. It is a
 * window below the tip, or what pruning has forgotten where that is higher, and
 * it never moves down: going back leaves a mark at the horizon there was, so
 * that a second rollback cannot reach what the first one was refused.
 *
 * The mark is a reserved row of `chain`, in the batch of the rollback that needs
 * it. The batch that brings the tip back to where the window alone says as much
 * deletes it: then the store is byte for byte what it would be without the
 * detour. No projection ever sees it.
 */
import type { Batch, Reader } from '../engine/engine.ts';
import { CHAIN, META_PREFIX, metaKey } from '../projections/chain.ts';
import { readU64, writeU64 } from '../util/bytes.ts';
import { readPruned, type Windows } from './pruned.ts';

const HORIZON_KEY = metaKey('horizon');

/** Height below which an earlier rollback was not allowed to go; -1: there is none to remember. */
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

/** Blocks below the tip. `outlivesSpent`: undoing a block needs nothing that is pruned with the spent outputs. */
export function horizonDepth({ pruneDepth, rollbackWindow }: Windows, outlivesSpent: boolean): number {
  return outlivesSpent ? rollbackWindow : Math.min(pruneDepth, rollbackWindow);
}

/** Height up to which blocks can no longer be undone; -1: none. */
export function forgottenHeight(reader: Reader, outlivesSpent: boolean): number {
  const { spent, deltas } = readPruned(reader);
  return outlivesSpent ? deltas : Math.max(spent, deltas);
}

/** The oldest height that can be gone back to; null: all the way to the origin. */
export function horizonHeight(reader: Reader, tipHeight: number, windows: Windows, outlivesSpent: boolean): number | null {
  const byWindow = tipHeight - horizonDepth(windows, outlivesSpent);
  const height = Math.max(byWindow, forgottenHeight(reader, outlivesSpent), readHorizonMark(reader));
  return height < firstHeight(reader) ? null : height;
}

function firstHeight(reader: Reader): number {
  for (const [key] of reader.scan(CHAIN, { lt: Uint8Array.of(META_PREFIX), limit: 1 })) return readU64(key, 0);
  return 0;
}
