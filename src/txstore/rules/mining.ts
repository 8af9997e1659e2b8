/**
 * What blocks do to a record: which blocks hold it, and since when none of the
 * best chain does. `unminedSince` keeps the earliest height (F9): a transaction
 * that has waited for a year is not young because of a reorganisation.
 */
import { equalBytes } from '../../util/bytes.ts';
import type { TxBlock, TxRecord } from '../records.ts';
import { heightAfter } from './heights.ts';
import { txRefusal } from './refusals.ts';
import { bestChainHeight } from './stability.ts';

type Mined = Pick<TxRecord, 'txId' | 'blocks' | 'unminedSince'>;

/** Adds the block, once; a block of the best chain stays one. Throws INVALID_PARAM for a block at two heights. */
export function minedIn(record: Mined, block: TxBlock): Pick<TxRecord, 'blocks' | 'unminedSince'> {
  const known = record.blocks.find(({ hash }) => equalBytes(hash, block.hash));
  if (known !== undefined && known.height !== block.height)
    throw txRefusal.invalid(record.txId, `is in a block of height ${known.height}, not of ${block.height}`);
  const others = record.blocks.filter((other) => other !== known);
  const isOnBestChain = block.isOnBestChain || known?.isOnBestChain === true;
  return { blocks: [...others, { ...(known ?? block), isOnBestChain }], unminedSince: block.isOnBestChain ? null : record.unminedSince };
}

export function notMinedIn(record: Mined, hash: Uint8Array, height: number): Pick<TxRecord, 'blocks' | 'unminedSince'> {
  const blocks = record.blocks.filter((block) => !equalBytes(block.hash, hash));
  const isMined = bestChainHeight({ blocks }) !== null;
  return { blocks, unminedSince: isMined ? record.unminedSince : (record.unminedSince ?? height) };
}

/**
 * True: of several blocks the highest is taken to be the one on the best chain, because that makes the record stable
 * latest. Without a block it counts as mined, but is never stable.
 */
export function markedOnBestChain(record: Mined, isOnBestChain: boolean, height: number): Pick<TxRecord, 'blocks' | 'unminedSince'> {
  const highest = isOnBestChain ? Math.max(...record.blocks.map((block) => block.height)) : null;
  const chosen = bestChainHeight(record) !== null && isOnBestChain ? null : record.blocks.find((block) => block.height === highest);
  const blocks = record.blocks.map((block) => ({ ...block, isOnBestChain: isOnBestChain && (block.isOnBestChain || block === chosen) }));
  return { blocks, unminedSince: isOnBestChain ? null : (record.unminedSince ?? height) };
}

/** Unmined and conflicting records need their parents: each has a reference on every one (F3). */
export function needsParents({ unminedSince, isConflicting }: Pick<TxRecord, 'unminedSince' | 'isConflicting'>): boolean {
  return unminedSince !== null || isConflicting;
}

/**
 * Throws HORIZON if a pass may have deleted parents because this block of the best chain was deep enough: a
 * reorganisation that takes it away is deeper than the window.
 */
export function checkUndoable(record: Mined, blocks: readonly TxBlock[], prunedHeight: number, window: number): void {
  const minedAt = bestChainHeight({ blocks });
  if (minedAt === null || prunedHeight === 0) return;
  const stableFrom = heightAfter(minedAt, window);
  if (stableFrom !== null && stableFrom <= prunedHeight) throw txRefusal.belowHorizon(record.txId, minedAt, prunedHeight);
}
