/**
 * The points to resume from: the last blocks handed over one by one, and
 * before them the points the reader started with or its own chain as it is
 * now. After a lost connection they are offered for the intersection; a
 * rollback to a point that is not among them is refused.
 */
import type { Point } from '../../../ledgers/ledger.ts';
import { copyBytes, equalBytes } from '../../../util/bytes.ts';
import type { OwnChain } from '../../source.ts';
import type { WirePoint } from './point.ts';

const HASH_BYTES = 32;
/** Blocks remembered one by one: the deepest rollback an honest chain makes, twice. */
const BLOCKS = 4320;

export class RecentPoints {
  private readonly hashes = new Uint8Array(BLOCKS * HASH_BYTES);
  private readonly slots = new Float64Array(BLOCKS);
  private readonly heights = new Float64Array(BLOCKS);
  /** Blocks pushed and not taken back; the last `count` of them are here. */
  private end = 0;
  private count = 0;
  /** Newest first. */
  private before: readonly Point[];
  private readonly fromOrigin: boolean;

  private readonly chain: OwnChain | undefined;

  constructor(from: readonly Point[], chain?: OwnChain) {
    this.before = from;
    this.fromOrigin = from.length === 0;
    this.chain = chain;
  }

  /** Where the reader is; null: at the origin. */
  get newest(): Point | null {
    return this.count > 0 ? this.at(this.end - 1) : (this.before[0] ?? null);
  }

  push({ slot, height, hash }: Point): void {
    const i = this.end % BLOCKS;
    copyBytes(hash, 0, this.hashes, i * HASH_BYTES, HASH_BYTES);
    this.slots[i] = slot;
    this.heights[i] = height;
    this.end++;
    if (this.count < BLOCKS) this.count++;
  }

  /** Goes back to a point we have been at; undefined, and nothing changes, when we have not. */
  back(point: WirePoint): Point | null | undefined {
    if (point === null) {
      if (!this.fromOrigin) return undefined;
      this.end -= this.count;
      this.count = 0;
      return null;
    }
    for (let i = this.end - 1; i >= this.end - this.count; i--) {
      const at = (i % BLOCKS) * HASH_BYTES;
      if (!equalBytes(this.hashes.subarray(at, at + HASH_BYTES), point.hash)) continue;
      this.count -= this.end - 1 - i;
      this.end = i + 1;
      return this.at(i);
    }
    const older = this.before.find(({ hash }) => equalBytes(hash, point.hash)) ?? this.chain?.pointOf(point.hash);
    if (!older) return undefined;
    this.before = [older, ...this.before.filter(({ height }) => height < older.height)];
    this.end -= this.count;
    this.count = 0;
    return older;
  }

  /** Points to find common ground with a peer: newest first, exponentially older. */
  candidates(): WirePoint[] {
    const points: WirePoint[] = [];
    for (let back = 0, step = 1; back < this.count; back += step, step *= back > 1 ? 2 : 1) points.push(wire(this.at(this.end - 1 - back)));
    if (this.count > 0) points.push(wire(this.at(this.end - this.count)));
    points.push(...this.older().map(wire));
    if (this.fromOrigin) points.push(null);
    return points;
  }

  /**
   * Points before the blocks remembered one by one. The reader may still have to
   * apply what it was handed last, so of its own chain only what lies below counts.
   */
  private older(): readonly Point[] {
    if (this.chain === undefined) return this.before;
    const floor = this.count > 0 ? this.at(this.end - this.count) : this.before[0];
    const below = this.chain.recentPoints().filter(({ height }) => floor === undefined || height < floor.height);
    return this.count > 0 || floor === undefined ? below : [floor, ...below];
  }

  private at(i: number): Point {
    const at = i % BLOCKS;
    return {
      slot: this.slots[at],
      height: this.heights[at],
      hash: this.hashes.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES),
    };
  }
}

function wire({ slot, hash }: Point): WirePoint {
  return { slot, hash };
}
