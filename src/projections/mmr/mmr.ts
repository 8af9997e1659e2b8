/**
 * The mountain range over everything that was ever an output, and the bitmap of
 * what is unspent (`proofs/mmr`), kept as blocks come and go. Leaves stand in
 * chain order, those of same-block outputs included, so that a position follows
 * from the chain alone. Each block has its roots in its own undo.
 *
 * The newest state is kept in memory too. It is trusted where the next block
 * follows the one it is of: the fold goes on from what was written only. In any
 * other case the state row of the store must be the one written last, which
 * commits to all of it. So a batch that was never written, or another store,
 * makes it start anew.
 */
import type { Batch, Reader } from '../../engine/engine.ts';
import type { OutputLeaf } from '../../ledgers/ledger.ts';
import { OUTPOINT_BYTES } from '../../ledgers/outpoint.ts';
import { mmr } from '../../proofs/index.ts';
import { ByteWriter } from '../../util/byte-writer.ts';
import { copyBytes, equalBytes, readU32, toHex, writeU64 } from '../../util/bytes.ts';
import { assert, isUnspentError, UnspentError } from '../../util/errors.ts';
import { inPrefixOrder } from '../../util/key-order.ts';
import { MMR_ROWS_KEPT } from '../../util/limits.ts';
import { Scratch } from '../../util/scratch.ts';
import { CHAIN } from '../chain.ts';
import type { Coin } from '../coin.ts';
import type { ForwardBlock, Projection, SettledBlock, Step, StepBlock, Undo } from '../projection.ts';
import { LeafHasher } from './leaf.ts';
import { PAIR_BYTES } from './nodes.ts';
import {
  bitmapRows,
  bitmapSink,
  decodeMmrRecord,
  encodeMmrRecord,
  freeSink,
  leafIndexBytes,
  leavesAfter,
  MMR,
  MMR_BITMAP,
  MMR_LEAF,
  MMR_NODES,
  MMR_STATE_KEY,
  type MmrRecord,
  mmrColumns,
  prunedRows,
  rangeNodes,
  readLeafIndex,
  writeLeafIndex,
} from './rows.ts';

/** The range in memory, at one block. */
class Live {
  /** The state row it is of; undefined: there is none. */
  row: Uint8Array | undefined;
  /** The block that led here, and the store it was folded into; null: ask the row. */
  tip: Uint8Array | null = null;
  readonly view: Reader;
  leaves: number;
  position: number;
  peaks: Uint8Array[];
  cutoff: number;
  roots: mmr.UtxoRoots;
  readonly bits: mmr.BitTree;

  constructor(row: Uint8Array | undefined, view: Reader) {
    const state = row === undefined ? mmr.EMPTY_UTXO_MMR : mmr.decodeState(row);
    this.row = row === undefined ? undefined : Uint8Array.from(row);
    this.view = view;
    this.position = state.range.size;
    this.leaves = mmr.leavesIn(state.range.size);
    this.peaks = [...state.range.peaks];
    this.cutoff = state.cutoff;
    this.roots = mmr.rootsOf(state);
    this.bits = new mmr.BitTree(state.bitmap, bitmapRows(view));
  }

  get state(): mmr.UtxoMmr {
    return { range: { size: this.position, peaks: this.peaks }, bitmap: this.bits.hash(), cutoff: this.cutoff };
  }

  isOf(row: Uint8Array | undefined): boolean {
    return row === undefined || this.row === undefined ? row === this.row : equalBytes(row, this.row);
  }
}

export function mmrProjection(leaf: OutputLeaf): Projection {
  const hasher = new LeafHasher(leaf);
  const writer = new ByteWriter();
  const nodeKey = new Scratch(8);
  const pair = new Scratch(PAIR_BYTES);
  const outpoint = new Scratch(OUTPOINT_BYTES);
  const leafIndex = leafIndexBytes();
  let live: Live | null = null;

  /**
   * Takes the range out of the cache; it is put back when the step is complete. If the step fails half way, it is read
   * again from the store.
   */
  function take(view: Reader, before: Uint8Array | null = null): Live {
    const known = live;
    live = null;
    const isNext = known !== null && before !== null && known.tip !== null && equalBytes(known.tip, before);
    if (isNext && known.view === view) return known;
    const row = view.get(CHAIN, MMR_STATE_KEY);
    return known !== null && known.view === view && known.isOf(row) ? known : new Live(row, view);
  }

  function give(now: Live, batch: Batch): void {
    now.tip = null;
    now.bits.flush(bitmapSink(batch));
    now.bits.forget(MMR_ROWS_KEPT);
    now.row = now.leaves === 0 ? undefined : mmr.encodeState(now.state);
    if (now.row === undefined) batch.del(CHAIN, MMR_STATE_KEY);
    else batch.put(CHAIN, MMR_STATE_KEY, now.row);
    live = now;
  }

  function putPair(parent: number, left: Uint8Array, right: Uint8Array, batch: Batch): void {
    writeU64(nodeKey.bytes, 0, parent);
    copyBytes(left, 0, pair.bytes, 0, left.length);
    copyBytes(right, 0, pair.bytes, left.length, right.length);
    batch.put(MMR_NODES, nodeKey.bytes, pair.bytes);
  }

  function append(now: Live, coin: Coin, batch: Batch): void {
    const { peaks } = now;
    let hash = hasher.leafHash(now.position++, coin);
    // As many parents follow as mountains of equal height stand at the end.
    for (let rest = now.leaves; rest % 2 === 1; rest = (rest - 1) / 2) {
      const left = peaks.pop()!;
      putPair(now.position, left, hash, batch);
      hash = mmr.INDEXED.parent(now.position++, left, hash);
    }
    peaks.push(hash);
    now.bits.set(now.leaves++);
  }

  /** Goes back to so many leaves. */
  function shorten(now: Live, leaves: number, view: Reader, batch: Batch): void {
    const size = mmr.sizeOf(leaves);
    const { peaks } = mmr.readRange(rangeNodes(view, now.state.range), size);
    for (let leaf = leaves; leaf < now.leaves; leaf++) {
      let position = mmr.leafPosition(leaf);
      for (let rest = leaf; rest % 2 === 1; rest = (rest - 1) / 2) {
        writeU64(nodeKey.bytes, 0, ++position);
        batch.del(MMR_NODES, nodeKey.bytes);
      }
    }
    now.peaks = peaks.map((peak) => Uint8Array.from(peak));
    now.position = size;
    now.leaves = leaves;
  }

  function keyOf(coin: Coin): Uint8Array {
    copyBytes(coin.keyBytes, coin.keyAt, outpoint.bytes, 0, OUTPOINT_BYTES);
    return outpoint.bytes;
  }

  function dropLeafRows(coins: readonly Coin[], batch: Batch): void {
    for (const coin of inPrefixOrder(coins, prefixOf)) batch.del(MMR_LEAF, keyOf(coin));
  }

  function putLeafRows(rows: readonly LeafRow[], batch: Batch): void {
    for (const row of inPrefixOrder(rows, ({ coin }) => prefixOf(coin)))
      batch.put(MMR_LEAF, keyOf(row.coin), writeLeafIndex(leafIndex, row.leaf));
  }

  /** `spent` says for each coin that a block spends which leaf it is. */
  function applyBlock(now: Live, block: StepBlock, spent: SpentLeaves, batch: Batch): MmrRecord {
    const leavesBefore = now.leaves;
    const mergedBefore = now.roots.merged;
    for (const coin of block.created) {
      spent.created(coin, now.leaves);
      append(now, coin, batch);
    }
    const leaves = block.spent.map((coin) => spent.leafOf(coin));
    for (const each of leaves) now.bits.clear(each);
    const created = now.leaves - leavesBefore;
    if (created + leaves.length > 0) now.roots = mmr.rootsOf(now.state);
    const { pmmrRoot, bitmapRoot } = now.roots;
    return { leavesBefore, created, spent: leaves, pmmrRoot, bitmapRoot, mergedBefore };
  }

  function apply(step: Step<ForwardBlock>, view: Reader, batch: Batch): Undo {
    const now = take(view, step.blocks[0].block.prevHash);
    const spent = new SpentLeaves(step, view);
    if (spent.stored.length > 0) now.bits.prepare(spent.stored);
    let still: Uint8Array | null = null;
    const undo = step.blocks.map((block) => {
      // Most blocks of a quiet chain change nothing, and the record of one is that of the next.
      if (still !== null && isStill(block)) return still;
      const record = encodeMmrRecord(writer, applyBlock(now, block, spent, batch));
      still = isStill(block) ? record : null;
      return record;
    });
    spent.end();
    if (step.blocks.every(isStill)) live = now;
    else {
      dropLeafRows(step.removed, batch);
      putLeafRows(spent.unspent, batch);
      give(now, batch);
    }
    now.tip = Uint8Array.from(step.blocks[step.blocks.length - 1].hash);
    return undo;
  }

  function revert(step: Step, undo: Undo, view: Reader, batch: Batch): void {
    const now = take(view);
    const records = readRecords(step, undo, now);
    const { leavesBefore, mergedBefore } = records[records.length - 1];
    if (mmr.sizeOf(leavesBefore) < now.cutoff) {
      throw new UnspentError('HORIZON', 'spent leaves of those blocks were compacted away', { cutoff: now.cutoff });
    }
    const back = step.blocks.flatMap((block, i) => block.spent.map((coin, j) => ({ coin, leaf: records[i].spent[j] })));
    // What the blocks both created and spent ends absent.
    const again = back.filter((row) => row.leaf < leavesBefore);
    const cleared = now.bits.truncate(leavesBefore);
    now.bits.prepare(again.map((row) => row.leaf));
    for (const row of again) now.bits.set(row.leaf);
    dropLeafRows(step.removed, batch);
    putLeafRows(again, batch);
    shorten(now, leavesBefore, view, batch);
    now.roots = mmr.rootsOf(now.state);
    if (cleared !== step.removed.length || again.length !== step.added.length || !equalBytes(now.roots.merged, mergedBefore)) {
      throw new UnspentError('STORE_DAMAGED', 'taking blocks back leads to another mountain range than the one before them');
    }
    give(now, batch);
  }

  function settle(blocks: readonly SettledBlock[], view: Reader, batch: Batch): void {
    const now = take(view);
    const records = blocks.map(({ key, undo }) => decodeMmrRecord(undo, `the delta of block ${toHex(key)}`));
    const cutoff = mmr.sizeOf(leavesAfter(records[records.length - 1]));
    const spent = records.flatMap((record) => record.spent);
    if (cutoff > now.position || cutoff < now.cutoff || now.bits.whichAreSet(spent).length > 0) {
      throw new UnspentError('STORE_DAMAGED', 'a leaf that was spent for good is unspent in the mountain range', { cutoff });
    }
    mmr.pruneFresh(prunedRows(view), freeSink(batch), cutoff, spent.map(mmr.leafPosition));
    now.cutoff = cutoff;
    give(now, batch);
  }

  return {
    name: MMR,
    columns: mmrColumns,
    reserved: [MMR_STATE_KEY],
    settle,
    apply: (step, view, batch) => sound(() => apply(step, view, batch)),
    revert: (step, undo, view, batch) => sound(() => revert(step, undo, view, batch)),
  };
}

/** The fold has found every input unspent before; where the bitmap says otherwise, it is the bitmap that is wrong. */
function sound<T>(move: () => T): T {
  try {
    return move();
  } catch (error) {
    if (!isUnspentError(error, 'INPUT_MISSING') && !isUnspentError(error, 'OUTPUT_DUPLICATE')) throw error;
    throw new UnspentError(
      'STORE_DAMAGED',
      `${MMR_BITMAP} is not that of the unspent set: ${error.message}`,
      { column: MMR_BITMAP },
      error,
    );
  }
}

function isStill({ created, spent }: StepBlock): boolean {
  return created.length + spent.length === 0;
}

interface LeafRow {
  readonly coin: Coin;
  readonly leaf: number;
}

const prefixOf = ({ keyBytes, keyAt }: Coin): number => readU32(keyBytes, keyAt);

/** Which leaves the blocks of a step spend: those of earlier steps from one read, those of the step as they are made. */
class SpentLeaves {
  /** Of what the step spends and did not create, in that order. */
  readonly stored: readonly number[];
  /** Leaves that are unspent after the step and were not before it. */
  readonly unspent: LeafRow[] = [];
  private next = 0;
  private readonly born = new Map<Coin, number>();

  constructor({ removed }: Step, view: Reader) {
    const keys = removed.map(({ keyBytes, keyAt }) => keyBytes.subarray(keyAt, keyAt + OUTPOINT_BYTES));
    const rows = keys.length === 0 ? [] : view.getMany(MMR_LEAF, keys);
    this.stored = rows.map((row, i) => (row === undefined ? lacks(keys[i]) : readLeafIndex(row)));
  }

  created(coin: Coin, leaf: number): void {
    if (coin.spender === null) this.unspent.push({ coin, leaf });
    else this.born.set(coin, leaf);
  }

  leafOf(coin: Coin): number {
    if (!coin.born) return this.stored[this.next++];
    const leaf = this.born.get(coin);
    assert(leaf !== undefined, 'what a step spends it created before, or found in the store');
    return leaf;
  }

  end(): void {
    assert(this.next === this.stored.length, 'a step removes what its blocks spend');
  }
}

function lacks(key: Uint8Array): never {
  throw new UnspentError('STORE_DAMAGED', `${MMR_LEAF} lacks ${toHex(key)}, which is unspent`, { column: MMR_LEAF, key: toHex(key) });
}

/** Of blocks that are taken back, newest first: each ends where the one before it in the list began. */
function readRecords({ blocks }: Step, undo: Undo, { leaves }: Live): readonly MmrRecord[] {
  let end = leaves;
  return blocks.map(({ height, spent }, i) => {
    const record = decodeMmrRecord(undo[i], `the delta of block ${height}`);
    if (leavesAfter(record) !== end || record.spent.length !== spent.length) {
      throw new UnspentError('STORE_DAMAGED', `the delta of block ${height} is not of our mountain range`, { height });
    }
    end = record.leavesBefore;
    return record;
  });
}
