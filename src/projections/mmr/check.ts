/**
 * The stored mountain range against the unspent set and against itself. What was
 * spent and forgotten cannot be hashed again, so it is not built anew; but every
 * unspent output has its leaf with its hash and its bit, every node is the hash
 * of its children or stands for a part that was freed and is spent, the peaks
 * and the bitmap are those of the state, and no bit is left over.
 */
import type { Row } from '../../engine/engine.ts';
import { mmr, type NodeReader } from '../../proofs/index.ts';
import { nodeKey } from '../../proofs/mmr/range.ts';
import { equalBytes, readU32, readU64 } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { SCAN_ROWS } from '../../util/limits.ts';
import type { Coin } from '../coin.ts';
import type { Inspection } from '../inspection.ts';
import { DELTA } from '../projection.ts';
import { LeafHasher } from './leaf.ts';
import { PAIR_BYTES } from './nodes.ts';
import {
  bitmapRows,
  CHUNK_NODE_ROWS,
  CHUNK_ROWS,
  decodeMmrRecord,
  LEAF_INDEX_BYTES,
  MMR,
  MMR_BITMAP,
  MMR_LEAF,
  MMR_NODES,
  MMR_PRUNE,
  mergedAfter,
  prunedRows,
  readLeafIndex,
  readMmrState,
} from './rows.ts';

const HASH_BYTES = 32;
const NO_KEY = new Uint8Array(0);
const BITS = Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

interface Placed {
  readonly position: number;
  readonly hash: Uint8Array;
}

export class MmrCheck {
  readonly column = MMR_NODES;
  private readonly inspection: Inspection;
  private readonly hasher: LeafHasher;
  private readonly nodes: mmr.BitmapSpaces<NodeReader> & { readonly pruned: NodeReader };
  private readonly state: mmr.UtxoMmr;
  private outputs = 0;

  constructor(inspection: Inspection) {
    const { leaf } = inspection.ledger;
    assert(leaf !== undefined, 'a store that keeps a mountain range has a ledger that says how outputs stand in it');
    this.inspection = inspection;
    this.hasher = new LeafHasher(leaf);
    const { reader } = inspection;
    this.state = readMmrState(reader);
    this.nodes = { ...bitmapRows(reader), pruned: prunedRows(reader) };
  }

  /** Each unspent output has its leaf. */
  expect(coins: readonly Coin[]): void {
    this.outputs += coins.length;
    const rows = this.inspection.reader.getMany(
      MMR_LEAF,
      coins.map((coin) => coin.keyBytes),
    );
    const found = coins.map((coin, i) => ({ coin, leaf: this.leafOf(coin, rows[i]) })).filter(({ leaf }) => leaf >= 0);
    const hashes = this.hashesAt(found.map(({ leaf }) => mmr.leafPosition(leaf)));
    const chunks = this.nodes.chunks.getMany(found.map(({ leaf }) => mmr.chunkKey(mmr.chunkOf(leaf))));
    found.forEach(({ coin, leaf }, i) => {
      const hash = this.hasher.leafHash(mmr.leafPosition(leaf), coin);
      const stored = hashes[i];
      if (stored === undefined || !equalBytes(stored, hash)) this.fault(MMR_NODES, coin.keyBytes, 'is not in the leaf of its output');
      const chunk = chunks[i];
      if (chunk === undefined || !mmr.hasBit(chunk, leaf)) this.fault(MMR_BITMAP, coin.keyBytes, 'is unspent and has no bit');
    });
  }

  /** Each stands in the row of its parent, the last one perhaps in the state. A row of another length has none. */
  private hashesAt(positions: readonly number[]): (Uint8Array | undefined)[] {
    const families = positions.map(mmr.familyOf);
    const pairs = this.rows(families.map(({ parent }) => parent));
    return families.map(({ parent, right }, i) => {
      if (parent >= this.state.range.size) return this.state.range.peaks.at(-1);
      return pairs[i]?.length === PAIR_BYTES ? pairs[i].subarray(right ? HASH_BYTES : 0, right ? PAIR_BYTES : HASH_BYTES) : undefined;
    });
  }

  /** -1: it has none. */
  private leafOf({ keyBytes }: Coin, row: Uint8Array | undefined): number {
    const leaf = row === undefined || row.length !== LEAF_INDEX_BYTES ? -1 : readLeafIndex(row);
    if (leaf >= 0 && leaf < mmr.leavesIn(this.state.range.size)) return leaf;
    this.fault(MMR_LEAF, keyBytes, row === undefined ? 'is unspent and has no leaf' : 'names a leaf that is not there');
    return -1;
  }

  /** Returns the number of nodes. */
  finish(): number {
    const { reader, unreadable } = this.inspection;
    const wanted = this.outputs + unreadable.size;
    let leaves = 0;
    for (const _ of reader.scan(MMR_LEAF)) this.inspection.progress(MMR_LEAF, ++leaves);
    if (leaves !== wanted) this.fault(MMR_LEAF, NO_KEY, `has ${leaves} leaves; there are ${wanted} unspent outputs`);
    const bits = this.bitmap();
    if (bits !== wanted) this.fault(MMR_BITMAP, NO_KEY, `has ${bits} bits; there are ${wanted} unspent outputs`);
    const rows = this.range();
    const freed = this.freed();
    const spent = mmr.leavesIn(this.state.range.size) - bits;
    if (freed !== spent - this.records()) this.fault(MMR_PRUNE, NO_KEY, `stands for ${freed} leaves; other ones are spent for good`);
    return rows;
  }

  /** Blocks that can be undone follow one another up to the state. Returns how many leaves they spent. */
  private records(): number {
    let spent = 0;
    let root: Uint8Array | null = null;
    let last: Uint8Array = NO_KEY;
    for (const { key, undo, keepsSpent } of this.inspection.undos(MMR)) {
      const record = decodeMmrRecord(undo, 'the delta of a block');
      if (root !== null && !equalBytes(root, record.mergedBefore))
        this.fault(DELTA, key, 'begins with another root than the block before it has');
      root = mergedAfter(record);
      last = key;
      if (keepsSpent) spent += record.spent.length;
    }
    if (root !== null && !equalBytes(root, mmr.rootsOf(this.state).merged)) this.fault(DELTA, last, 'has another root than the range');
    return spent;
  }

  /** The range over the chunks, built anew; returns how many bits are set. */
  private bitmap(): number {
    const { reader } = this.inspection;
    const { chunkCount, root } = this.state.bitmap;
    const stored = reader.scan(MMR_BITMAP, { gte: CHUNK_NODE_ROWS })[Symbol.iterator]();
    const put = (key: Uint8Array, hash: Uint8Array): void => {
      if (mmr.placeOf(readU64(key, 0)).height >= mmr.STORED_LEVEL) this.compare(key, hash, stored.next().value);
    };
    const sink = { put, del: () => {} };
    const zeros = new Uint8Array(mmr.CHUNK_BYTES);
    let range = mmr.EMPTY_RANGE;
    let bits = 0;
    let next = 0;
    let last: Uint8Array = zeros;
    for (const [key, chunk] of reader.scan(MMR_BITMAP, { gte: CHUNK_ROWS, lt: CHUNK_NODE_ROWS })) {
      const at = readU32(key, 1);
      if (at >= chunkCount || chunk.length !== mmr.CHUNK_BYTES || mmr.isZero(chunk)) {
        this.fault(MMR_BITMAP, key, 'is no chunk of the bitmap');
        continue;
      }
      for (; next < at; next++) range = mmr.append(range, [zeros], sink);
      range = mmr.append(range, [chunk], sink);
      next++;
      last = chunk;
      for (const byte of chunk) bits += BITS[byte];
    }
    if (!stored.next().done) this.fault(MMR_BITMAP, CHUNK_NODE_ROWS, 'has nodes left over');
    const ends = next === chunkCount && (chunkCount === 0 || !mmr.isZero(last));
    if (!ends || !equalBytes(mmr.rangeRoot(range), root))
      this.fault(MMR_BITMAP, NO_KEY, 'is not the bitmap that the state has the root of');
    return bits;
  }

  private compare(key: Uint8Array, hash: Uint8Array, row: Row | undefined): void {
    if (row === undefined || !equalBytes(row[0].subarray(1), key) || !equalBytes(row[1], hash))
      this.fault(MMR_BITMAP, key, 'is not the hash of what is below it');
  }

  /** Every pair of children in order; what is complete so far stands on a stack. Returns the number of rows. */
  private range(): number {
    const { reader } = this.inspection;
    const { size } = this.state.range;
    const stack: Placed[] = [];
    let rows = 0;
    for (const [key, pair] of reader.scan(MMR_NODES)) {
      this.inspection.progress(MMR_NODES, ++rows);
      const position = readU64(key, 0);
      const { height } = mmr.placeOf(position);
      if (position >= size || height === 0 || pair.length !== PAIR_BYTES) this.fault(MMR_NODES, key, 'is no parent in the range');
      else this.place(position, height, pair, stack);
    }
    for (const { position, hash } of this.peaks().reverse()) {
      if (mmr.placeOf(position).height > 0) this.child(position, hash, stack);
    }
    for (const { position } of stack) this.fault(MMR_NODES, nodeKey(position), 'hangs below nothing');
    return rows;
  }

  /** Its children, where they have some themselves and those are there, stand on top. */
  private place(position: number, height: number, pair: Uint8Array, stack: Placed[]): void {
    const [left, right] = [pair.subarray(0, HASH_BYTES), pair.subarray(HASH_BYTES)];
    if (height > 1) {
      this.child(position - 1, right, stack);
      this.child(position - 2 ** height, left, stack);
    }
    stack.push({ position, hash: mmr.INDEXED.parent(position, left, right) });
  }

  /** A node that has this hash where it is named: the hash of its children, or freed. */
  private child(position: number, hash: Uint8Array, stack: Placed[]): void {
    const top = stack.at(-1);
    if (top?.position !== position) {
      const isFreed = this.nodes.pruned.get(nodeKey(position)) !== undefined;
      if (!isFreed) this.fault(MMR_NODES, nodeKey(position), 'lacks its children');
      return;
    }
    stack.pop();
    if (!equalBytes(top.hash, hash)) this.fault(MMR_NODES, nodeKey(position), 'has other children than its hash says');
  }

  private peaks(): Placed[] {
    const { size, peaks } = this.state.range;
    return mmr.peaksOf(size).map((position, i) => ({ position, hash: peaks[i] }));
  }

  /** Each part that was freed is spent, has nothing left below it, and a neighbour that was not. Returns how many leaves they are. */
  private freed(): number {
    let leaves = 0;
    let before = -1;
    for (const portion of portions(this.inspection.reader.scan(MMR_PRUNE), SCAN_ROWS)) {
      const positions = portion.map(([key]) => readU64(key, 0));
      const parents = positions.map((position) => mmr.familyOf(position).parent);
      const below = this.rows(positions);
      const above = this.rows(parents);
      positions.forEach((position, i) => {
        const { leavesBefore, height } = mmr.placeOf(position);
        const isTop = parents[i] >= this.state.range.size;
        const wrong =
          position >= this.state.range.size ||
          below[i] !== undefined ||
          (above[i] === undefined && !isTop) ||
          mmr.familyOf(position).sibling === before;
        // Where a parent stands, all of its leaves but the last are before it.
        if (wrong || this.hasBitIn(leavesBefore - 2 ** height + 1, 2 ** height))
          this.fault(MMR_PRUNE, portion[i][0], 'is no part that was freed');
        leaves += 2 ** height;
        before = position;
      });
    }
    return leaves;
  }

  private rows(positions: readonly number[]): (Uint8Array | undefined)[] {
    return this.inspection.reader.getMany(MMR_NODES, positions.map(nodeKey));
  }

  private hasBitIn(first: number, leaves: number): boolean {
    for (let chunk = mmr.chunkOf(first); chunk <= mmr.chunkOf(first + leaves - 1); chunk++) {
      const bytes = mmr.readChunk(this.nodes.chunks, chunk);
      const from = Math.max(first, chunk * mmr.CHUNK_BITS);
      const to = Math.min(first + leaves, (chunk + 1) * mmr.CHUNK_BITS);
      for (let leaf = from; leaf < to; leaf++) if (mmr.hasBit(bytes, leaf)) return true;
    }
    return false;
  }

  private fault(column: string, key: Uint8Array, what: string): void {
    this.inspection.fault(column, key, what);
  }
}

function* portions<T>(rows: Iterable<T>, size: number): Generator<T[], void, void> {
  let portion: T[] = [];
  for (const row of rows) {
    if (portion.push(row) < size) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}
