/**
 * The reader's chain as it will be when it has taken all blocks handed to it:
 * the last blocks one by one, and below them the chain of the reader itself.
 * It answers whether a block is on it, which is how a fork point is found.
 */
import type { Point } from '../../../ledgers/ledger.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { assert } from '../../../util/errors.ts';
import type { OwnChain } from '../../source.ts';

const HASH_BYTES = 32;
/** Blocks remembered one by one: more than a queue holds that the reader has yet to apply. */
const BLOCKS = 4320;

export class DeliveredBlocks {
  private readonly hashes = new Uint8Array(BLOCKS * HASH_BYTES);
  /** Heights remembered one by one: from the first up to, not including, the second. */
  private low: number;
  private next: number;
  /** The newest point below those, as it was when they were begun; null: they begin at the first block. */
  private base: Point | null;
  private readonly from: readonly Point[];
  private readonly chain: OwnChain | undefined;

  constructor(from: readonly Point[], chain?: OwnChain) {
    this.from = from;
    this.chain = chain;
    this.base = from[0] ?? null;
    this.low = this.next = this.base === null ? 0 : this.base.height + 1;
  }

  /** Where the reader will be; null: at the origin. */
  get newest(): Point | null {
    return this.next > this.low ? this.at(this.next - 1) : this.base;
  }

  push(hash: Uint8Array): void {
    this.hashes.set(hash, (this.next % BLOCKS) * HASH_BYTES);
    this.next++;
    if (this.next - this.low > BLOCKS) this.low = this.next - BLOCKS;
  }

  /** The block of that height and hash, if the reader has it. */
  find(height: number, hash: Uint8Array): Point | null {
    if (height >= this.next) return null;
    const point = height >= this.low ? this.at(height) : this.older(height, hash);
    return point !== null && equalBytes(point.hash, hash) ? point : null;
  }

  back(to: Point): void {
    assert(to.height < this.next, 'a step back goes back');
    if (to.height < this.low) {
      this.base = to;
      this.low = to.height + 1;
    }
    this.next = to.height + 1;
  }

  /** Points to find common ground with a node: newest first, exponentially older. */
  candidates(): Point[] {
    const points: Point[] = [];
    for (let height = this.next - 1, step = 1; height > this.low; height -= step, step *= 2) points.push(this.at(height));
    if (this.next > this.low) points.push(this.at(this.low));
    const known = this.chain === undefined ? this.from : this.chain.recentPoints();
    const older = known.filter(({ height }) => height < this.low);
    if (this.base !== null && this.base.height === this.low - 1 && older[0]?.height !== this.base.height) points.push(this.base);
    return [...points, ...older];
  }

  /** What the reader's chain says counts only below the blocks remembered: above it may still have to take a step back. */
  private older(height: number, hash: Uint8Array): Point | null {
    if (this.base?.height === height) return this.base;
    const point = this.chain === undefined ? this.from.find((point) => equalBytes(point.hash, hash)) : this.chain.pointOf(hash);
    return point?.height === height ? point : null;
  }

  private at(height: number): Point {
    const at = (height % BLOCKS) * HASH_BYTES;
    return { height, slot: height, hash: this.hashes.slice(at, at + HASH_BYTES) };
  }
}
