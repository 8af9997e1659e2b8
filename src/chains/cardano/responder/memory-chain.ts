/**
 * A chain in memory that can grow and turn: the blocks of a devnet, or two
 * forks a test switches between. Readers learn of a turn at their next step:
 * they are told the newest point that is still theirs.
 */
import type { Point } from '../../../ledgers/ledger.ts';
import type { WirePoint, WireTip } from '../../../sources/cardano/ouroboros/point.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import { AT_TIP, type BlockPoint, type ChainReader, type RangeReader, type Step } from './chain.ts';

export interface MemoryBlock extends Point {
  readonly raw: Uint8Array;
}

export class MemoryChain<B extends MemoryBlock = MemoryBlock> {
  private readonly list: B[] = [];
  private readonly places = new Map<string, number>();
  private readonly readers = new Set<MemoryReader>();
  private readonly listeners = new Set<() => void>();

  get blocks(): readonly B[] {
    return this.list;
  }

  get tip(): WireTip {
    const last = this.list.at(-1);
    return last === undefined ? { point: null, height: 0 } : { point: pointOf(last), height: last.height };
  }

  /** Open readers: what a leak would show in. */
  get readerCount(): number {
    return this.readers.size;
  }

  get listenerCount(): number {
    return this.listeners.size;
  }

  append(block: B): void {
    this.places.set(toHex(block.hash), this.list.length);
    this.list.push(block);
  }

  /** Drops all but the first `kept` blocks. */
  truncate(kept: number): void {
    assert(kept >= 0 && kept <= this.list.length, `can keep 0 to ${this.list.length} blocks, not ${kept}`);
    for (let i = kept; i < this.list.length; i++) this.places.delete(toHex(this.list[i].hash));
    this.list.length = kept;
    for (const reader of this.readers) reader.truncated(kept);
  }

  /** Turns to these blocks, keeping what both have in common. */
  become(blocks: readonly B[]): void {
    let common = 0;
    while (common < this.list.length && common < blocks.length && equalBytes(this.list[common].hash, blocks[common].hash)) common++;
    this.truncate(common);
    for (const block of blocks.slice(common)) this.append(block);
  }

  /** Tells everybody who listens. Several changes may go before it. */
  changed(): void {
    for (const listener of [...this.listeners]) listener();
  }

  onChange(listener: () => void): () => void {
    const own = (): void => listener();
    this.listeners.add(own);
    return () => this.listeners.delete(own);
  }

  /** Blocks up to and including the point: 0 is the origin, -1 a point that is not here. */
  placeOf(point: WirePoint): number {
    if (point === null) return 0;
    const place = this.places.get(toHex(point.hash));
    return place === undefined || this.list[place].slot !== point.slot ? -1 : place + 1;
  }

  pointAt(place: number): WirePoint {
    return place === 0 ? null : pointOf(this.list[place - 1]);
  }

  reader(): ChainReader {
    const reader = new MemoryReader(this, () => this.readers.delete(reader));
    this.readers.add(reader);
    return reader;
  }

  ranges(): RangeReader {
    return new MemoryRanges(this);
  }
}

class MemoryReader implements ChainReader {
  private readonly chain: MemoryChain;
  private readonly forget: () => void;
  /** Blocks behind us. */
  private place = 0;
  private turning = true;

  constructor(chain: MemoryChain, forget: () => void) {
    this.chain = chain;
    this.forget = forget;
  }

  seek(point: WirePoint): boolean {
    const place = this.chain.placeOf(point);
    if (place < 0) return false;
    this.place = place;
    this.turning = true;
    return true;
  }

  next(): Step {
    if (this.turning) {
      this.turning = false;
      return { kind: 'back', point: this.chain.pointAt(this.place) };
    }
    const { blocks } = this.chain;
    return this.place < blocks.length ? { kind: 'forward', raw: blocks[this.place++].raw } : AT_TIP;
  }

  truncated(kept: number): void {
    if (this.place <= kept) return;
    this.place = kept;
    this.turning = true;
  }

  close(): void {
    this.forget();
  }
}

class MemoryRanges implements RangeReader {
  private readonly chain: MemoryChain;
  private blocks: readonly MemoryBlock[] = [];
  private given = 0;

  constructor(chain: MemoryChain) {
    this.chain = chain;
  }

  open(from: BlockPoint, to: BlockPoint): boolean {
    const [first, last] = [this.chain.placeOf(from), this.chain.placeOf(to)];
    this.given = 0;
    this.blocks = first < 1 || last < first ? [] : this.chain.blocks.slice(first - 1, last);
    return this.blocks.length > 0;
  }

  next(): Uint8Array | null {
    return this.given < this.blocks.length ? this.blocks[this.given++].raw : null;
  }

  close(): void {
    this.blocks = [];
  }
}

function pointOf({ slot, hash }: Point): BlockPoint {
  return { slot, hash };
}
