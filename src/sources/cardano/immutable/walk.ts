/**
 * Finds the blocks of a chunk: slab after slab, each block a view of its slab.
 *
 * A block's end is known in one of two ways. Where the index has an entry for
 * this very position and the CRC-32 of the range it implies matches, the range
 * is the block and the block is intact. Otherwise its CBOR is stepped over, and
 * an index that proved wrong is not asked again in this chunk.
 */
import { crc32 } from 'node:zlib';
import { toHex } from '../../../util/bytes.ts';
import { Cursor } from '../../../util/cbor.ts';
import { UnspentError } from '../../../util/errors.ts';
import { BLOCK_BYTES_MAX, CHUNK_READ_BYTES } from '../../../util/limits.ts';
import type { ChainEvent } from '../../source.ts';
import type { Chunk } from './chunk.ts';
import type { SecondaryIndex } from './secondary.ts';

type Forward = Extract<ChainEvent, { kind: 'forward' }>;

export interface Batch {
  readonly blocks: readonly Forward[];
  /** Where the block after the last one begins in the chunk. */
  readonly next: number;
  /** `more`: go on. `end`: the chunk ends here. `cut`: it ends inside the block that begins at `next`. */
  readonly rest: 'more' | 'end' | 'cut';
}

/** Blocks in one batch: Byron blocks are so small that a slab holds thirteen thousand. */
const BATCH_BLOCKS_MAX = 2000;

/** How much more is read where the slab does not hold the block it begins with. */
const SLAB_GROWTH = 4;

/** In place of a block's end: the slab ends first. */
const SHORT = -1;

/**
 * The blocks from `start` (where one begins) to the end, ending in a batch of `end` or `cut`.
 * Throws SOURCE_DAMAGED after all blocks before the damage were given.
 */
export async function* walkChunk(chunk: Chunk, start: number): AsyncGenerator<Batch, void, undefined> {
  const walk = new Walk(chunk, start);
  let bytes = CHUNK_READ_BYTES;
  while (walk.next < walk.size) {
    const from = walk.next;
    const wanted = Math.min(bytes, walk.size - from);
    const slab = await chunk.read(from, wanted);
    // The file has shrunk since it was opened.
    if (slab.length < wanted) walk.size = walk.next + slab.length;
    walk.enter(slab);
    while (!walk.slabDone) {
      const blocks = walk.take();
      if (walk.slabDone && walk.damage === null && walk.atEnd) {
        yield { blocks, next: walk.next, rest: walk.next === walk.size ? 'end' : 'cut' };
        return;
      }
      if (blocks.length > 0) yield { blocks, next: walk.next, rest: 'more' };
      if (walk.damage !== null) throw walk.damage;
    }
    bytes = walk.next > from ? CHUNK_READ_BYTES : Math.min(BLOCK_BYTES_MAX, SLAB_GROWTH * bytes);
  }
  yield { blocks: [], next: walk.next, rest: 'end' };
}

class Walk {
  next: number;
  size: number;
  slabDone = true;
  damage: UnspentError | null = null;
  private readonly chunk: Chunk;
  /** The index while it has been right so far, and the entry that should be the next block's. */
  private index: SecondaryIndex | null;
  private entry: number;
  private cursor = new Cursor(new Uint8Array(0));
  private slabStart = 0;
  private intact = false;

  constructor(chunk: Chunk, start: number) {
    this.chunk = chunk;
    this.size = chunk.size;
    this.next = start;
    this.index = chunk.index;
    this.entry = start === 0 ? 0 : (chunk.index?.entryAt(start) ?? -1);
    if (this.entry < 0) this.index = null;
  }

  /** No byte of the chunk lies behind this slab. */
  get atEnd(): boolean {
    return this.slabStart + this.cursor.end >= this.size;
  }

  enter(slab: Uint8Array): void {
    this.cursor = new Cursor(slab);
    this.slabStart = this.next;
    this.slabDone = false;
  }

  /** The next blocks of the slab, up to the limit of a batch. Damage ends them and is left in `damage`. */
  take(): Forward[] {
    const slab = this.cursor.bytes;
    const blocks: Forward[] = [];
    let at = this.next - this.slabStart;
    try {
      while (at < slab.length && blocks.length < BATCH_BLOCKS_MAX) {
        const end = this.blockEnd(slab, at);
        if (end === SHORT) {
          this.slabDone = true;
          if (at === 0 && slab.length >= BLOCK_BYTES_MAX && !this.atEnd)
            this.fail(`the block is longer than ${BLOCK_BYTES_MAX} bytes`, this.slabStart);
          break;
        }
        blocks.push({ kind: 'forward', raw: slab.subarray(at, end), intact: this.intact });
        at = end;
      }
    } catch (error) {
      if (!(error instanceof UnspentError)) throw error;
      this.damage = error;
      this.slabDone = true;
    }
    this.next = this.slabStart + at;
    if (at === slab.length) this.slabDone = true;
    return blocks;
  }

  /** The end of the block that begins at `at` of the slab, or SHORT; says in `intact` how it is known. */
  private blockEnd(slab: Uint8Array, at: number): number {
    this.intact = false;
    const offset = this.slabStart + at;
    const { index, entry } = this;
    if (index === null) return this.step(slab, at);
    if (index.offset(entry) !== offset) {
      this.index = null;
      return this.step(slab, at);
    }
    const claimed = index.offset(entry + 1) - offset;
    const plausible = claimed > 0 && claimed <= BLOCK_BYTES_MAX && offset + claimed <= this.size;
    if (plausible) {
      if (at + claimed > slab.length) return SHORT;
      if (this.matches(slab, at, at + claimed, index)) return at + claimed;
    }
    const end = this.step(slab, at);
    if (end === SHORT) {
      // All of the block is here, so this is no block still being written.
      if (plausible) this.failChecksum(index, offset);
      return SHORT;
    }
    if (this.matches(slab, at, end, index)) return end;
    const agrees = entry + 1 < index.count ? end - at === claimed : offset + (end - at) === this.size;
    if (agrees || (plausible && this.vouches(slab, offset + claimed, index))) this.failChecksum(index, offset);
    this.index = null;
    return end;
  }

  private matches(slab: Uint8Array, at: number, end: number, index: SecondaryIndex): boolean {
    if (crc32(slab.subarray(at, end)) !== index.crc(this.entry)) return false;
    this.entry++;
    this.intact = true;
    return true;
  }

  /** The index is right about the block after this one, so it is right about where this one ends: it is the block that is wrong. */
  private vouches(slab: Uint8Array, offset: number, index: SecondaryIndex): boolean {
    const start = offset - this.slabStart;
    const end = (this.entry + 2 < index.count ? index.offset(this.entry + 2) : this.size) - this.slabStart;
    return end > start && end <= slab.length && crc32(slab.subarray(start, end)) === index.crc(this.entry + 1);
  }

  /** Steps over the CBOR of one block. */
  private step(slab: Uint8Array, at: number): number {
    const offset = this.slabStart + at;
    // `[eraTag, block]` with a one-byte tag, as a node writes it: catches garbage before it is taken for a long item.
    if (slab[at] !== 0x82 || (at + 1 < slab.length && slab[at + 1] >= 0x18)) this.fail('no block begins here', offset);
    const { cursor } = this;
    cursor.at = at;
    try {
      cursor.skip();
    } catch (error) {
      if (!(error instanceof UnspentError)) throw error;
      if (this.isCut(at)) return SHORT;
      this.fail(`not CBOR (${cursor.failure?.what} at byte ${this.slabStart + cursor.at})`, offset, error);
    }
    return cursor.at;
  }

  /** True when the bytes were good as far as they went, and the block may yet be completed by more of them. */
  private isCut(at: number): boolean {
    const announced = this.cursor.failure?.announced ?? null;
    if (announced === null) return false;
    return announced === 0 || this.cursor.at - at + announced <= BLOCK_BYTES_MAX;
  }

  private failChecksum(index: SecondaryIndex, offset: number): never {
    const block = `${toHex(index.hash(this.entry))} of slot ${index.slot(this.entry)}`;
    return this.fail(`block ${block} does not match its CRC-32`, offset);
  }

  private fail(what: string, offset: number, cause?: unknown): never {
    const { name, path } = this.chunk.file;
    throw new UnspentError('SOURCE_DAMAGED', `${name}, byte ${offset}: ${what}`, { path, offset }, cause);
  }
}
