/**
 * The bitmap of unspent leaves on its way through many blocks: bits change in
 * memory, a root is there after each block, and the rows that changed are told
 * once at the end. Roots are those of `changeBits`; what is read stays for the
 * next blocks, so that a block costs its hashes and hardly a read.
 *
 * A node is known by its level and its place there: level 0 are the chunks. The
 * lowest levels have no rows: they follow from a few chunks, and writing them
 * with every block costs more than hashing them when they are needed.
 */
import { readU64 } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import type { NodeReader, NodeSink } from '../node-store.ts';
import { type Bitmap, type BitmapSpaces, CHUNK_BITS, CHUNK_BYTES, chunkKey, chunkOf, hasBit, isZero } from './bitmap.ts';
import { EMPTY_ROOT, hashPair, INDEXED } from './hash.ts';
import { leafPosition, placeOf, sizeOf } from './positions.ts';
import { nodeKey, readNodes } from './range.ts';

type Node = readonly [level: number, place: number];

/** Chunks read at a time while looking for the last one that has a bit. */
const LOOK_BACK_CHUNKS = 64;

/** The lowest level whose nodes have rows. */
export const STORED_LEVEL = 4;

/** Where a node stands in the range over the chunks: last in its own subtree. */
function positionOf(level: number, place: number): number {
  return leafPosition(place * 2 ** level) + 2 ** (level + 1) - 2;
}

/** Nodes of a level whose subtree is complete. */
function widthOf(count: number, level: number): number {
  return Math.floor(count / 2 ** level);
}

export class BitTree {
  private readonly nodes: BitmapSpaces<NodeReader>;
  /** Chunks that count at the last root, and in the rows that are stored. */
  private count: number;
  private countStored: number;
  private root: Uint8Array;
  private readonly chunks = new Map<number, Uint8Array>();
  private readonly levels: Map<number, Uint8Array>[] = [];
  /** Changed since the last root, and since the last `flush`. */
  private readonly dirty = new Set<number>();
  private readonly changed = new Set<number>();

  constructor(bitmap: Bitmap, nodes: BitmapSpaces<NodeReader>) {
    this.count = bitmap.chunkCount;
    this.countStored = bitmap.chunkCount;
    this.root = bitmap.root;
    this.nodes = nodes;
  }

  /** Reads what changes to these leaves will need, in three reads. */
  prepare(leaves: readonly number[]): void {
    const chunks = [...new Set(leaves.map(chunkOf))];
    this.loadChunks(chunks);
    this.loadNodes([...this.siblingsOf(chunks), ...this.peaks(this.countStored)]);
  }

  /** Which of these leaves have their bit, in one read. */
  whichAreSet(leaves: readonly number[]): number[] {
    this.loadChunks([...new Set(leaves.map(chunkOf))]);
    return leaves.filter((leaf) => this.isSet(leaf));
  }

  isSet(leaf: number): boolean {
    return hasBit(this.chunk(chunkOf(leaf)), leaf);
  }

  set(leaf: number): void {
    this.flip(leaf, false);
  }

  clear(leaf: number): void {
    this.flip(leaf, true);
  }

  /** Clears every bit from this leaf on; returns how many there were. */
  truncate(leaves: number): number {
    const first = chunkOf(leaves);
    let end = this.count;
    for (const chunk of this.dirty) end = Math.max(end, chunk + 1);
    this.loadChunks(Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i));
    let cleared = 0;
    for (let chunk = first; chunk < end; chunk++) {
      const bytes = this.chunk(chunk);
      const from = Math.max(leaves, chunk * CHUNK_BITS);
      for (let leaf = from; leaf < (chunk + 1) * CHUNK_BITS; leaf++) {
        if (!hasBit(bytes, leaf)) continue;
        this.clear(leaf);
        cleared++;
      }
    }
    return cleared;
  }

  /** The bitmap with all changes so far. */
  hash(): Bitmap {
    if (this.dirty.size > 0) {
      const before = this.count;
      this.count = this.countNow();
      this.hashChunks(before);
      this.root = this.bagged();
      for (const chunk of this.dirty) this.changed.add(chunk);
      this.dirty.clear();
    }
    return { chunkCount: this.count, root: this.root };
  }

  /** Tells every row that differs from what is stored; from then on that is what is stored. */
  flush(sink: BitmapSpaces<NodeSink>): void {
    this.hash();
    const { count, countStored } = this;
    for (const chunk of this.changed) {
      const bytes = this.chunk(chunk);
      // A copy: the chunk changes on, and a sink may keep what it is given.
      if (isZero(bytes)) sink.chunks.del(chunkKey(chunk));
      else sink.chunks.put(chunkKey(chunk), bytes.slice());
    }
    let places = this.places(this.changed, countStored);
    for (let level = 0; places.length > 0; level++) {
      if (level >= STORED_LEVEL) {
        for (const place of places) sink.chunkNodes.put(nodeKey(positionOf(level, place)), this.node(level, place));
      }
      places = parents(places, widthOf(count, level + 1));
    }
    for (let level = STORED_LEVEL; widthOf(countStored, level) > 0; level++) {
      for (let place = widthOf(count, level); place < widthOf(countStored, level); place++)
        sink.chunkNodes.del(nodeKey(positionOf(level, place)));
    }
    this.countStored = count;
    this.changed.clear();
  }

  /** The nodes of the range over the chunks, by position, whether they have rows or not. */
  reader(): NodeReader {
    const read = (keys: readonly Uint8Array[]): Uint8Array[] => {
      const wanted = keys.map((key): Node => {
        const { leavesBefore, height } = placeOf(readU64(key, 0));
        return [height, Math.floor(leavesBefore / 2 ** height)];
      });
      this.loadNodes(wanted);
      return wanted.map(([level, place]) => this.node(level, place));
    };
    return { get: (key) => read([key])[0], getMany: read };
  }

  /** Forgets chunks and nodes, the lowest first, until at most so many are left in memory. Only after `flush`. */
  forget(rowsMax: number): void {
    let rows = this.chunks.size + this.levels.reduce((sum, level) => sum + level.size, 0);
    for (const kept of [this.chunks, ...this.levels]) {
      if (rows <= rowsMax) return;
      rows -= kept.size;
      kept.clear();
    }
  }

  private flip(leaf: number, before: boolean): void {
    const chunk = chunkOf(leaf);
    const bytes = this.chunk(chunk);
    if (hasBit(bytes, leaf) !== before) {
      const is = before ? 'not unspent' : 'unspent already';
      throw new UnspentError(before ? 'INPUT_MISSING' : 'OUTPUT_DUPLICATE', `leaf ${leaf} is ${is}`, { leafIndex: leaf });
    }
    const bit = leaf % CHUNK_BITS;
    bytes[bit >> 3] ^= 0x80 >> (bit & 7);
    this.dirty.add(chunk);
  }

  /** Up to the last chunk that has a bit. */
  private countNow(): number {
    let count = this.count;
    for (const chunk of this.dirty) if (chunk >= count && !isZero(this.chunk(chunk))) count = chunk + 1;
    while (count > 0) {
      // The last one had a bit, and still has where nothing changed in it.
      const isOld = count === this.count && !this.dirty.has(count - 1);
      if (isOld || !isZero(this.chunk(count - 1))) return count;
      if (--count > 0 && !this.chunks.has(count - 1)) {
        const first = Math.max(0, count - LOOK_BACK_CHUNKS);
        this.loadChunks(Array.from({ length: count - first }, (_, i) => first + i));
      }
    }
    return 0;
  }

  /** Chunks that were changed, or count now and did not: those whose hash is new. */
  private places(changed: ReadonlySet<number>, countBefore: number): number[] {
    const places = [...changed].filter((chunk) => chunk < this.count);
    for (let chunk = countBefore; chunk < this.count; chunk++) if (!changed.has(chunk)) places.push(chunk);
    return places.sort((a, b) => a - b);
  }

  private hashChunks(countBefore: number): void {
    let places = this.places(this.dirty, countBefore);
    for (const place of places) this.level(0).set(place, INDEXED.leaf(positionOf(0, place), this.chunk(place)));
    for (let level = 1; places.length > 0; level++) {
      places = parents(places, widthOf(this.count, level));
      for (const place of places) {
        const left = this.node(level - 1, 2 * place);
        const right = this.node(level - 1, 2 * place + 1);
        this.level(level).set(place, hashPair(positionOf(level, place), left, right));
      }
    }
  }

  private bagged(): Uint8Array {
    const size = sizeOf(this.count);
    let root: Uint8Array | null = null;
    // The lowest peak stands rightmost.
    for (const [level, place] of this.peaks(this.count)) {
      const peak = this.node(level, place);
      root = root === null ? peak : hashPair(size, peak, root);
    }
    return root ?? EMPTY_ROOT;
  }

  private *peaks(count: number): Generator<Node, void, void> {
    for (let level = 0, width = count; width > 0; level++, width = Math.floor(width / 2)) if (width % 2 === 1) yield [level, width - 1];
  }

  /** What stands beside the ways up from these chunks, as far as it is stored. */
  private *siblingsOf(chunks: readonly number[]): Generator<Node, void, void> {
    let places = chunks.filter((chunk) => chunk < this.countStored).sort((a, b) => a - b);
    for (let level = 0; places.length > 0; level++) {
      const above = parents(places, widthOf(this.countStored, level + 1));
      for (const place of above) {
        yield [level, 2 * place];
        yield [level, 2 * place + 1];
      }
      places = above;
    }
  }

  private level(level: number): Map<number, Uint8Array> {
    while (this.levels.length <= level) this.levels.push(new Map());
    return this.levels[level];
  }

  private node(level: number, place: number): Uint8Array {
    const known = this.level(level).get(place);
    if (known !== undefined) return known;
    this.loadNodes([[level, place]]);
    return this.level(level).get(place)!;
  }

  private chunk(chunk: number): Uint8Array {
    const known = this.chunks.get(chunk);
    if (known !== undefined) return known;
    this.loadChunks([chunk]);
    return this.chunks.get(chunk)!;
  }

  /** Copied: chunks change, and what was read may hold on to more than one row. */
  private loadChunks(chunks: readonly number[]): void {
    const asked = chunks.filter((chunk) => !this.chunks.has(chunk));
    const stored = asked.filter((chunk) => chunk < this.countStored);
    const read = stored.length === 0 ? [] : this.nodes.chunks.getMany(stored.map(chunkKey));
    for (const chunk of asked) this.chunks.set(chunk, new Uint8Array(CHUNK_BYTES));
    for (let i = 0; i < stored.length; i++) this.chunks.get(stored[i])!.set(read[i] ?? NOTHING);
  }

  private loadNodes(wanted: readonly Node[]): void {
    const asked = wanted.filter(([level, place]) => !this.level(level).has(place));
    const low = asked.filter(([level]) => level < STORED_LEVEL);
    const high = asked.filter(([level]) => level >= STORED_LEVEL);
    this.loadChunks([...new Set(low.flatMap(chunksBelow))]);
    for (const [level, place] of low) this.make(level, place);
    if (high.length === 0) return;
    const read = readNodes(
      this.nodes.chunkNodes,
      high.map(([level, place]) => positionOf(level, place)),
    );
    for (let i = 0; i < high.length; i++) this.level(high[i][0]).set(high[i][1], Uint8Array.from(read[i]));
  }

  /** Hashes a node that has no row. */
  private make(level: number, place: number): Uint8Array {
    const known = this.level(level).get(place);
    if (known !== undefined) return known;
    const at = positionOf(level, place);
    const made =
      level === 0
        ? INDEXED.leaf(at, this.chunk(place))
        : hashPair(at, this.make(level - 1, 2 * place), this.make(level - 1, 2 * place + 1));
    this.level(level).set(place, made);
    return made;
  }
}

function chunksBelow([level, place]: Node): number[] {
  return Array.from({ length: 2 ** level }, (_, i) => place * 2 ** level + i);
}

const NOTHING = new Uint8Array(0);

/** Of places in ascending order, each parent once, as far as there are complete ones. */
function parents(places: readonly number[], width: number): number[] {
  const above: number[] = [];
  for (const place of places) {
    const parent = Math.floor(place / 2);
    if (parent >= width) break;
    if (above[above.length - 1] !== parent) above.push(parent);
  }
  return above;
}
