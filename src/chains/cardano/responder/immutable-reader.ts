/**
 * Walks along an ImmutableDB folder: blocks are handed out as views of the slab
 * they were read in, one slab in memory per reader. Going on where one stands
 * costs no search, and headers are not hashed: a range is found by its slots
 * and proved by the hashes of its two ends.
 */
import { ERA, readHeader } from '../../../ledgers/cardano/header.ts';
import { type Chunk, openChunk } from '../../../sources/cardano/immutable/chunk.ts';
import { locate, type Position } from '../../../sources/cardano/immutable/resume.ts';
import { type Batch, walkChunk } from '../../../sources/cardano/immutable/walk.ts';
import type { WirePoint } from '../../../sources/cardano/ouroboros/point.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { Cursor } from '../../../util/cbor.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import { FETCH_BYTES_MAX } from '../../../util/limits.ts';
import { AT_TIP, type BlockPoint, type ChainReader, type RangeReader, type Step } from './chain.ts';
import type { ImmutableChunks } from './immutable-chain.ts';

/** A place in the folder from which blocks can be taken. */
class Walker {
  private readonly shelf: ImmutableChunks;
  private position: Position;
  private blocks: Batch['blocks'] = [];
  private taken = 0;
  private chunk: Chunk | null = null;
  private batches: AsyncGenerator<Batch, void, undefined> | null = null;
  /** The chunk had not ended when it was opened: it may have more than was read. */
  private wasGrowing = false;

  constructor(shelf: ImmutableChunks, position: Position) {
    this.shelf = shelf;
    this.position = position;
  }

  /** The next block if it is in memory. */
  peek(): Uint8Array | undefined {
    return this.taken < this.blocks.length ? this.blocks[this.taken].raw : undefined;
  }

  take(): Uint8Array {
    return this.blocks[this.taken++].raw;
  }

  /** Reads on; false at the end of what is served. Throws SOURCE_DAMAGED. */
  async fill(): Promise<boolean> {
    while (this.taken >= this.blocks.length) {
      const { end } = this.shelf;
      if (this.position.chunk === end.chunk && this.position.offset >= end.offset) return false;
      const shared = this.shelf.recent.get(this.position);
      if (shared !== undefined) {
        // What this reader had open has been overtaken.
        if (this.batches !== null) await this.reset();
        this.wasGrowing = false;
        this.enter(shared);
      } else await this.readOn();
    }
    return true;
  }

  async close(): Promise<void> {
    const { chunk, batches } = this;
    this.chunk = null;
    this.batches = null;
    this.blocks = [];
    this.taken = 0;
    await batches?.return();
    await chunk?.close();
  }

  private async readOn(): Promise<void> {
    if (this.batches === null) await this.open();
    const { position, wasGrowing } = this;
    const { value: batch } = await this.batches!.next();
    if (batch === undefined) return this.finished();
    // A chunk that still grows may have more at the next look.
    if (!wasGrowing && batch.blocks.length > 0 && batch.rest !== 'cut') this.shelf.recent.add(position, batch);
    this.enter(batch);
  }

  private async open(): Promise<void> {
    const file = this.shelf.chunks.find(({ number }) => number === this.position.chunk);
    if (file === undefined) throw new UnspentError('SOURCE_UNREACHABLE', `chunk ${this.position.chunk} has gone while it was read`);
    this.wasGrowing = this.position.chunk === this.shelf.end.chunk;
    this.chunk = await openChunk(file);
    this.batches = walkChunk(this.chunk, this.position.offset);
  }

  private enter({ blocks, next, rest }: Batch): void {
    const { end } = this.shelf;
    let [kept, offset] = [blocks.length, next];
    // The file may have grown past the tip we told of.
    if (this.position.chunk === end.chunk) while (kept > 0 && offset > end.offset) offset -= blocks[--kept].raw.length;
    if (rest === 'cut' && !this.wasGrowing) {
      const { name, path } = this.chunk!.file;
      throw new UnspentError('SOURCE_DAMAGED', `${name}, byte ${next}: the chunk ends inside this block`, { path, offset: next });
    }
    this.blocks = kept === blocks.length ? blocks : blocks.slice(0, kept);
    this.taken = 0;
    this.position = { chunk: this.position.chunk, offset };
    if (kept < blocks.length) void this.reset();
  }

  /** The chunk has ended for us: on to the next, or once more into one that was growing. */
  private async finished(): Promise<void> {
    await this.reset();
    if (this.wasGrowing) {
      this.wasGrowing = false;
      if (this.position.chunk === this.shelf.end.chunk || (await this.hasMore())) return;
    }
    const next = this.shelf.chunks.find(({ number }) => number > this.position.chunk);
    if (next !== undefined) this.position = { chunk: next.number, offset: 0 };
  }

  private async hasMore(): Promise<boolean> {
    const file = this.shelf.chunks.find(({ number }) => number === this.position.chunk);
    if (file === undefined) return false;
    const chunk = await openChunk(file);
    await chunk.close();
    return chunk.size > this.position.offset;
  }

  private async reset(): Promise<void> {
    const { chunk, batches } = this;
    this.chunk = null;
    this.batches = null;
    await batches?.return();
    await chunk?.close();
  }
}

const ORIGIN: Position = { chunk: -1, offset: 0 };

async function walkerAt(shelf: ImmutableChunks, position: Position): Promise<Walker> {
  return new Walker(shelf, position === ORIGIN ? { chunk: shelf.chunks[0].number, offset: 0 } : position);
}

async function placeAfter(shelf: ImmutableChunks, point: WirePoint): Promise<Position | null> {
  if (point === null) return ORIGIN;
  const found = await locate(shelf.chunks, [{ ...point, height: 0 }], shelf.byronEpochSlots);
  if (found === null) return null;
  const { chunk, offset } = found.position;
  const { end } = shelf;
  return chunk < end.chunk || (chunk === end.chunk && offset <= end.offset) ? found.position : null;
}

export class ImmutableReader implements ChainReader {
  private readonly shelf: ImmutableChunks;
  private walker: Walker | null = null;
  /** What a seek has found, told with the first step. */
  private confirming: { readonly point: WirePoint } | null = { point: null };

  constructor(shelf: ImmutableChunks) {
    this.shelf = shelf;
  }

  async seek(point: WirePoint): Promise<boolean> {
    const position = await placeAfter(this.shelf, point);
    if (position === null) return false;
    await this.walker?.close();
    this.walker = await walkerAt(this.shelf, position);
    this.confirming = { point };
    return true;
  }

  next(): Step | Promise<Step> {
    if (this.confirming === null && this.walker?.peek() !== undefined) return { kind: 'forward', raw: this.walker.take() };
    return this.readOn();
  }

  close(): void {
    void this.walker?.close();
  }

  private async readOn(): Promise<Step> {
    if (this.confirming !== null) {
      const { point } = this.confirming;
      this.confirming = null;
      return { kind: 'back', point };
    }
    this.walker ??= await walkerAt(this.shelf, ORIGIN);
    return (await this.walker.fill()) ? { kind: 'forward', raw: this.walker.take() } : AT_TIP;
  }
}

export class ImmutableRanges implements RangeReader {
  private readonly shelf: ImmutableChunks;
  private walker: Walker | null = null;
  /** Blocks of the range that were read when it was opened. */
  private ready: Uint8Array[] = [];
  private given = 0;
  /** The end of a range that is too long to be read at once. */
  private until: BlockPoint | null = null;

  constructor(shelf: ImmutableChunks) {
    this.shelf = shelf;
  }

  async open(from: BlockPoint, to: BlockPoint): Promise<boolean> {
    this.ready = [];
    this.given = 0;
    this.until = null;
    if (to.slot < from.slot || !(await this.goTo(from))) return false;
    let bytes = 0;
    while (await this.walker!.fill()) {
      const slot = slotOfBlock(this.walker!.peek()!, this.shelf.byronEpochSlots);
      if (slot > to.slot) return false;
      const raw = this.walker!.take();
      this.ready.push(raw);
      bytes += raw.length;
      if (slot === to.slot && this.isAt(raw, to)) return true;
      if (bytes > FETCH_BYTES_MAX) {
        // Too much to hold: its end is looked up instead, and the blocks are read as they are sent.
        this.until = to;
        return (await placeAfter(this.shelf, to)) !== null;
      }
    }
    return false;
  }

  next(): Uint8Array | null | Promise<Uint8Array | null> {
    if (this.given < this.ready.length) return this.ready[this.given++];
    return this.until === null ? null : this.readOn(this.until);
  }

  close(): void {
    this.ready = [];
    void this.walker?.close();
  }

  private async readOn(to: BlockPoint): Promise<Uint8Array | null> {
    this.ready = [];
    this.given = 0;
    if (!(await this.walker!.fill())) return null;
    const raw = this.walker!.take();
    if (slotOfBlock(raw, this.shelf.byronEpochSlots) === to.slot && this.isAt(raw, to)) this.until = null;
    return raw;
  }

  /** Puts the walker in front of the block; without a search when it stands there already. */
  private async goTo(point: BlockPoint): Promise<boolean> {
    if (this.walker !== null && (await this.walker.fill()) && this.isAt(this.walker.peek()!, point)) return true;
    const behind = await placeAfter(this.shelf, point);
    if (behind === null) return false;
    await this.walker?.close();
    this.walker = await walkerAt(this.shelf, await this.inFrontOf(point, behind));
    return (await this.walker.fill()) && this.isAt(this.walker.peek()!, point);
  }

  /** From the place behind a block to the place in front of it: blocks do not say how long the one before is. */
  private async inFrontOf(point: BlockPoint, { chunk: number, offset }: Position): Promise<Position> {
    const chunk = await openChunk(this.shelf.chunks.find((file) => file.number === number)!);
    try {
      const hinted = chunk.index?.offset(chunk.index.entryOf(point.hash)) ?? -1;
      const at = (hinted > 0 ? await startOf(chunk, hinted, offset) : null) ?? (await startOf(chunk, 0, offset));
      return { chunk: number, offset: at ?? 0 };
    } finally {
      await chunk.close();
    }
  }

  private isAt(raw: Uint8Array, { slot, hash }: BlockPoint): boolean {
    const header = readHeader(raw, this.shelf.byronEpochSlots);
    return header.slot === slot && equalBytes(header.hash, hash);
  }
}

/** Where the block begins that ends at `end`, if a walk from `start` comes by it. */
async function startOf(chunk: Chunk, start: number, end: number): Promise<number | null> {
  let at = start;
  try {
    for await (const { blocks } of walkChunk(chunk, start)) {
      for (const { raw } of blocks) {
        if (at + raw.length === end) return at;
        at += raw.length;
      }
      if (at > end) return null;
    }
  } catch (error) {
    // No block began there: the index was wrong.
    if (!isUnspentError(error, 'SOURCE_DAMAGED')) throw error;
  }
  return null;
}

/** The slot alone: hashing every header of a range to learn it would cost more than sending the block. */
function slotOfBlock(raw: Uint8Array, byronEpochSlots: number): number {
  const c = new Cursor(raw);
  c.array();
  if (c.uint() <= ERA.byron) return readHeader(raw, byronEpochSlots).slot;
  c.array();
  c.array();
  c.array();
  c.uint();
  return c.uint();
}
