/**
 * The mountain range over everything that was ever an output, with the bitmap
 * of what is unspent. A block appends its outputs (also those it spends itself,
 * so that positions follow from the chain alone) and clears the bits of what it
 * spends. The merged root commits to both.
 *
 * All state is in `UtxoMmr` and the node store; a block's record takes it back.
 */

import { blake2b256 } from '../../crypto/hash.ts';
import { concatBytes, equalBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { NodeReader, NodeSink } from '../node-store.ts';
import { encodeTxIn } from '../utxo.ts';
import { type Bitmap, type BitmapSpaces, changeBits, EMPTY_BITMAP, isUnspent } from './bitmap.ts';
import { hashPair } from './hash.ts';
import { isSize, leafPosition, leavesIn } from './positions.ts';
import { type PruneSpaces, pruneLeaves } from './prune-list.ts';
import { append, EMPTY_RANGE, type Range, rangeRoot, rewind } from './range.ts';

/** The rows of the range, kept apart: a column each, or one with a prefix each. */
export interface UtxoSpaces<T> extends BitmapSpaces<T>, PruneSpaces<T> {}

/** The state of the range over all outputs. */
export interface UtxoMmr {
  /** Every output there ever was. */
  readonly range: Range;
  /** Which of them are unspent. */
  readonly bitmap: Bitmap;
  /** Size below which spent leaves may be gone: no going back behind it. */
  readonly cutoff: number;
}

/** The range before the first output. */
export const EMPTY_UTXO_MMR: UtxoMmr = { range: EMPTY_RANGE, bitmap: EMPTY_BITMAP, cutoff: 0 };

/** The roots of the range over all outputs. */
export interface UtxoRoots {
  /** Of all outputs ever created. */
  readonly pmmrRoot: Uint8Array;
  /** Of what is unspent. */
  readonly bitmapRoot: Uint8Array;
  /** Of both: the one to publish. */
  readonly merged: Uint8Array;
}

/** What a block does to the range. */
export interface UtxoBlock {
  /** Contents of the leaves to append, in the order of the chain. */
  readonly created: readonly Uint8Array[];
  /** Indexes of the leaves to spend, those of this block included. */
  readonly spent: readonly number[];
}

/** What taking a block back needs, and what a proof for an older root needs. */
export interface BlockRecord {
  /** Nodes of the range before the block. */
  readonly prevSize: number;
  /** Nodes of the range after it. */
  readonly size: number;
  /** Indexes of the leaves it spent, ascending. */
  readonly spent: readonly number[];
  /** The peaks of the range after it. */
  readonly peaks: readonly Uint8Array[];
  /** The root of the range after it. */
  readonly pmmrRoot: Uint8Array;
  /** The root of the bitmap after it. */
  readonly bitmapRoot: Uint8Array;
  /** The merged root before the block: going back must lead to it. */
  readonly mergedBefore: Uint8Array;
}

/** The content of a leaf binds the whole output: input and output, byte for byte. */
export function leafContent(txId: Uint8Array, index: number, txOut: Uint8Array): Uint8Array {
  return blake2b256(concatBytes(encodeTxIn(txId, index), txOut));
}

/** The root that commits to the range and to the bitmap. */
export function mergedRoot(size: number, pmmrRoot: Uint8Array, bitmapRoot: Uint8Array): Uint8Array {
  return hashPair(size, pmmrRoot, bitmapRoot);
}

/** The roots of a state. */
export function rootsOf({ range, bitmap }: UtxoMmr): UtxoRoots {
  const pmmrRoot = rangeRoot(range);
  return { pmmrRoot, bitmapRoot: bitmap.root, merged: mergedRoot(range.size, pmmrRoot, bitmap.root) };
}

/** Refused without any write when a spent leaf is not unspent (INPUT_MISSING). */
export function applyBlock(
  nodes: UtxoSpaces<NodeReader>,
  sink: UtxoSpaces<NodeSink>,
  mmr: UtxoMmr,
  { created, spent }: UtxoBlock,
): { readonly mmr: UtxoMmr; readonly record: BlockRecord } {
  const first = leavesIn(mmr.range.size);
  const set = created.map((_, i) => first + i);
  const bitmap = changeBits(nodes, sink, mmr.bitmap, { set, clear: spent });
  const range = append(mmr.range, created, sink.nodes);
  const after = { range, bitmap, cutoff: mmr.cutoff };
  const { pmmrRoot, bitmapRoot } = rootsOf(after);
  const record = {
    prevSize: mmr.range.size,
    size: range.size,
    spent: [...spent].sort((a, b) => a - b),
    peaks: range.peaks,
    pmmrRoot,
    bitmapRoot,
    mergedBefore: rootsOf(mmr).merged,
  };
  return { mmr: after, record };
}

/**
 * Takes the newest block back. The result is checked against the root before the block; where it is another (STORE_DAMAGED), what the
 * sink has received must be thrown away.
 */
export function rewindBlock(nodes: UtxoSpaces<NodeReader>, sink: UtxoSpaces<NodeSink>, mmr: UtxoMmr, record: BlockRecord): UtxoMmr {
  const { prevSize, size, spent, mergedBefore } = record;
  if (size !== mmr.range.size) throw new UnspentError('USAGE', `the record is of size ${size}, the range of ${mmr.range.size}`);
  if (prevSize < mmr.cutoff) throw new UnspentError('HORIZON', 'spent leaves of that block were compacted away', { cutoff: mmr.cutoff });
  const first = leavesIn(prevSize);
  const clear = Array.from({ length: leavesIn(size) - first }, (_, i) => first + i);
  // Set before clear: what the block created and spent must end absent.
  const bitmap = changeBits(nodes, sink, mmr.bitmap, { set: spent, clear });
  const before = { range: rewind(nodes.nodes, sink.nodes, mmr.range, prevSize), bitmap, cutoff: mmr.cutoff };
  if (!equalBytes(rootsOf(before).merged, mergedBefore)) {
    throw new UnspentError('STORE_DAMAGED', 'taking a block back leads to another root than the one before it');
  }
  return before;
}

/**
 * Frees leaves that are spent for good: below `cutoff`, the size before the oldest block that may still be taken back, and spent by a
 * block older than that. From then on there is no going back behind the cutoff.
 */
export function compact(
  nodes: UtxoSpaces<NodeReader>,
  sink: UtxoSpaces<NodeSink>,
  mmr: UtxoMmr,
  cutoff: number,
  spent: readonly number[],
): { readonly mmr: UtxoMmr; readonly freed: number } {
  if (!isSize(cutoff) || cutoff < mmr.cutoff || cutoff > mmr.range.size) {
    throw new UnspentError('USAGE', `a cutoff is a size between ${mmr.cutoff} and ${mmr.range.size}, not ${cutoff}`);
  }
  for (const leafIndex of spent) {
    if (leafPosition(leafIndex) >= cutoff || isUnspent(nodes.chunks, leafIndex)) {
      throw new UnspentError('USAGE', `leaf ${leafIndex} is unspent, or not below the cutoff`, { leafIndex });
    }
  }
  const freed = pruneLeaves(nodes, sink, cutoff, [...new Set(spent)].map(leafPosition));
  return { mmr: { ...mmr, cutoff }, freed };
}
