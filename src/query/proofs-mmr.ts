/**
 * Proofs from the mountain range over all outputs, at one point of the chain,
 * and what single blocks did to it. The rows of the range are not checked
 * when they are read, so each proof is verified before it is given out
 * (`proofs.ts`).
 */
import { outpointKey } from '../ledgers/outpoint.ts';
import { type ChainRow, chainKey } from '../projections/chain.ts';
import { SPENT_AT } from '../projections/coin.ts';
import {
  decodeMmrRecord,
  leavesAfter,
  MMR,
  MMR_LEAF,
  type MmrRecord,
  rangeNodes,
  readLeafIndex,
  readMmrState,
} from '../projections/mmr/rows.ts';
import { SPENT } from '../projections/utxo.ts';
import { mmr } from '../proofs/index.ts';
import { rowKey } from '../state/blocks.ts';
import { DELTA, type Delta, isSelfContained, readDelta } from '../state/delta.ts';
import { readPruned } from '../state/pruned.ts';
import { equalBytes, readU32, toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import type { MmrAt } from './past-mmr.ts';
import type { MmrProofs } from './proofs.ts';
import type { StoreColumns } from './store-columns.ts';

export interface RangeRoots extends mmr.UtxoRoots {
  /** Nodes of the range. */
  readonly size: number;
}

export class RangeProofs implements MmrProofs {
  private readonly columns: StoreColumns;
  private readonly at: MmrAt;

  constructor(columns: StoreColumns, at: MmrAt) {
    this.columns = columns;
    this.at = at;
  }

  roots(): RangeRoots {
    const { state } = this.at;
    return { size: state.range.size, ...mmr.rootsOf(state) };
  }

  leafIndex(txId: Uint8Array, index: number): number | null {
    const leaf = leafOf(this.columns, outpointKey(txId, index));
    return leaf === null || leaf >= mmr.leavesIn(this.at.state.range.size) ? null : leaf;
  }

  prove(leafIndex: number): mmr.UtxoProof {
    return mmr.proveUtxo(this.at.nodes, this.at.state, leafIndex);
  }
}

/** Null: there never was such an output, or it was spent and forgotten. */
function leafOf(columns: StoreColumns, key: Uint8Array): number | null {
  const { reader } = columns;
  const row = reader.get(MMR_LEAF, key);
  if (row !== undefined) return readLeafIndex(row);
  const spent = reader.get(SPENT, key);
  if (spent === undefined) return carriedLeaf(columns, key);
  const height = readU32(spent, SPENT_AT.height);
  for (const boundary of [false, true]) {
    const delta = reader.get(DELTA, chainKey(height, boundary));
    const leaf = delta === undefined ? null : leafIn(readDelta(delta, `the delta of block ${height}`), key, height);
    if (leaf !== null) return leaf;
  }
  throw new UnspentError('STORE_DAMAGED', `block ${height} does not say that it spent ${toHex(key)}`, { column: DELTA, key: toHex(key) });
}

/** Of an output whose spent row is gone while the undo record that spent it still carries it. */
function carriedLeaf({ reader }: StoreColumns, key: Uint8Array): number | null {
  for (const [at, value] of reader.scan(DELTA, { lt: chainKey(readPruned(reader).spent + 1, false) })) {
    if (!isSelfContained(value)) return null;
    const leaf = leafIn(readDelta(value, `the delta of block ${toHex(at)}`), key, at);
    if (leaf !== null) return leaf;
  }
  return null;
}

/** The leaf of an output that the block spent; null: it did not. */
function leafIn(delta: Delta, key: Uint8Array, block: number | Uint8Array): number | null {
  const at = delta.spent.findIndex((spend) => equalBytes(spend.key, key));
  if (at < 0) return null;
  const what = `the delta of block ${typeof block === 'number' ? block : toHex(block)}`;
  const leaf = decodeMmrRecord(delta.undo.get(MMR), what).spent[at];
  if (leaf === undefined) throw new UnspentError('STORE_DAMAGED', `${what} spent more outputs than leaves`, { column: DELTA });
  return leaf;
}

/** What a block did to the range: its size before and after, the leaves it spent, and what it led to. */
export interface BlockMmr {
  /** Nodes of the range before the block and after it. */
  readonly inserts: readonly [prevSize: number, size: number];
  /** In the order in which it spent them. */
  readonly deletes: readonly number[];
  /** Leftmost first. */
  readonly peaks: readonly Uint8Array[];
  /** The merged root. */
  readonly root: Uint8Array;
}

/** Null: the store keeps no range. Throws PRUNED when the peaks of that time were compacted away. */
export function blockMmr(columns: StoreColumns, delta: Delta, { height }: ChainRow): BlockMmr | null {
  if (!columns.has(MMR_LEAF)) return null;
  const record = decodeMmrRecord(delta.undo.get(MMR), `the delta of block ${height}`);
  const size = mmr.sizeOf(leavesAfter(record));
  const { range, cutoff } = readMmrState(columns.reader);
  if (size < cutoff) {
    throw new UnspentError('PRUNED', `the peaks of the mountain range at height ${height} were compacted away`, { height });
  }
  return {
    inserts: [mmr.sizeOf(record.leavesBefore), size],
    deletes: record.spent,
    peaks: mmr.readRange(rangeNodes(columns.reader, range), size).peaks,
    root: rootsIn(record).merged,
  };
}

/** The roots after a block, from its own record; null: that was forgotten. */
export function rootsOfBlock(columns: StoreColumns, row: ChainRow): RangeRoots | null {
  columns.needDeltas();
  const value = columns.reader.get(DELTA, rowKey(row));
  if (value === undefined) return null;
  const what = `the delta of block ${row.height}`;
  return rootsIn(decodeMmrRecord(readDelta(value, what).undo.get(MMR), what));
}

function rootsIn(record: MmrRecord): RangeRoots {
  const size = mmr.sizeOf(leavesAfter(record));
  const { pmmrRoot, bitmapRoot } = record;
  return { size, pmmrRoot, bitmapRoot, merged: mmr.mergedRoot(size, pmmrRoot, bitmapRoot) };
}
