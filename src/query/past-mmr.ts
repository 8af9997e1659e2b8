/**
 * The mountain range as it was after an earlier block: its nodes are those of
 * today up to its size then, its bitmap is that of today with the blocks since
 * undone, in memory. Their records say what they spent; the first of them also
 * has the root that this must lead to.
 *
 * The ones made last are remembered: whoever asks for a proof of an earlier
 * block often asks for another one of the same.
 */
import type { Reader } from '../engine/engine.ts';
import type { ChainRow } from '../projections/chain.ts';
import { bitmapRows, decodeMmrRecord, MMR, MMR_BITMAP, type MmrRecord, rangeNodes, readMmrState } from '../projections/mmr/rows.ts';
import { mmr, NodeOverlay, type NodeReader } from '../proofs/index.ts';
import { rowKey } from '../state/blocks.ts';
import { DELTA, readDelta } from '../state/delta.ts';
import { type Head, headKey } from '../state/head.ts';
import { equalBytes, toHex } from '../util/bytes.ts';
import { isUnspentError, UnspentError } from '../util/errors.ts';
import { keyAfter } from '../util/key-range.ts';
import { PAST_POINTS_MAX } from '../util/limits.ts';
import { finish, type Steps } from '../util/steps.ts';
import type { StoreColumns } from './store-columns.ts';

/** A range at one point, and where its rows are. */
export interface MmrAt {
  readonly nodes: mmr.ProofSpaces<NodeReader>;
  readonly state: mmr.UtxoMmr;
}

/** The present one. */
export function presentMmr(reader: Reader): MmrAt {
  const state = readMmrState(reader);
  return rangeAt(rangeNodes(reader, state.range), bitmapRows(reader), state);
}

/** Of a bitmap whose lower nodes have no rows. */
function rangeAt(nodes: NodeReader, rows: mmr.BitmapSpaces<NodeReader>, state: mmr.UtxoMmr): MmrAt {
  return { nodes: { nodes, chunks: rows.chunks, chunkNodes: new mmr.BitTree(state.bitmap, rows).reader() }, state };
}

interface CachedMmr {
  readonly point: Uint8Array;
  readonly tip: Uint8Array;
  readonly state: mmr.UtxoMmr;
  readonly chunks: NodeOverlay;
  readonly chunkNodes: NodeOverlay;
}

/** One of these serves every query of a store. */
export class PastMmrs {
  private entries: readonly CachedMmr[] = [];
  /** How many were made. */
  built = 0;

  /** For a block of our chain whose undo records above it are all there. */
  at(point: ChainRow, head: Head, columns: StoreColumns): MmrAt {
    return finish(this.making(point, head, columns));
  }

  /** The same in steps, one for each block that is undone. */
  *making(point: ChainRow, head: Head, columns: StoreColumns): Steps<MmrAt> {
    const known = this.entries.find((entry) => equalBytes(entry.point, point.hash) && equalBytes(entry.tip, head.hash));
    const entry = known ?? (yield* this.make(point, head, columns));
    this.entries = [entry, ...this.entries.filter((each) => each !== entry)].slice(0, PAST_POINTS_MAX);
    const { chunks, chunkNodes } = bitmapRows(columns.reader);
    const rows = { chunks: entry.chunks.over(chunks), chunkNodes: entry.chunkNodes.over(chunkNodes) };
    return rangeAt(rangeNodes(columns.reader, readMmrState(columns.reader).range), rows, entry.state);
  }

  private *make(point: ChainRow, head: Head, columns: StoreColumns): Steps<CachedMmr> {
    this.built++;
    const rows = bitmapRows(columns.reader);
    const now = readMmrState(columns.reader);
    const overlays = { chunks: new NodeOverlay(rows.chunks), chunkNodes: new NodeOverlay(rows.chunkNodes) };
    const tree = new mmr.BitTree(now.bitmap, rows);
    const first = yield* undo(tree, recordsAbove(point, head, columns));
    const nodes = rangeNodes(columns.reader, now.range);
    const range = first === null ? now.range : mmr.readRange(nodes, mmr.sizeOf(first.leavesBefore));
    const state = { range, bitmap: tree.hash(), cutoff: now.cutoff };
    if (first !== null && !equalBytes(mmr.rootsOf(state).merged, first.mergedBefore)) {
      throw damaged(`undoing the blocks above height ${point.height} leads to another root than the one there`);
    }
    tree.flush(overlays);
    return { point: point.hash, tip: head.hash, state, ...overlays };
  }
}

function* recordsAbove(point: ChainRow, head: Head, columns: StoreColumns): Generator<MmrRecord, void, void> {
  for (const [key, value] of columns.reader.scan(DELTA, { gte: keyAfter(rowKey(point)), lt: keyAfter(headKey(head)) })) {
    const what = `the delta of block ${toHex(key)}`;
    yield decodeMmrRecord(readDelta(value, what).undo.get(MMR), what);
  }
}

/** Takes the blocks of these records, oldest first, out of the bitmap; returns the first of them. */
function* undo(tree: mmr.BitTree, records: Iterable<MmrRecord>): Steps<MmrRecord | null> {
  let first: MmrRecord | null = null;
  try {
    for (const record of records) {
      if (first === null) tree.truncate(record.leavesBefore);
      first ??= record;
      const { leavesBefore } = first;
      // What was created since is gone already, spent or not.
      const spent = record.spent.filter((leaf) => leaf < leavesBefore);
      tree.prepare(spent);
      for (const leaf of spent) tree.set(leaf);
      yield;
    }
  } catch (error) {
    if (!isUnspentError(error)) throw error;
    throw damaged(`what blocks spent is not what the bitmap lacks: ${error.message}`, error);
  }
  return first;
}

function damaged(what: string, cause?: UnspentError): UnspentError {
  return new UnspentError('STORE_DAMAGED', what, { column: MMR_BITMAP }, cause);
}
