/**
 * Every block of a regtest chain that ever was, and which of them are its best
 * branch. Where a journal has the bytes, only those of the newest are kept in
 * memory.
 */
import { headerHash, readHeader } from '../../../ledgers/bitcoin/decode.ts';
import { assert } from '../../../util/errors.ts';
import { REGTEST_RECENT_BLOCKS, REGTEST_UNDO_BLOCKS } from '../../../util/limits.ts';
import { keyOf, type Undo } from './coins.ts';

export interface ChainBlock {
  readonly hash: Uint8Array;
  readonly height: number;
  readonly time: number;
  readonly length: number;
  readonly owned: Uint8Array;
  /** Null: in the journal. */
  raw: Uint8Array | null;
  /** Where the journal has it; -1: nowhere. */
  at: number;
  /** Null: too old to be taken back. */
  undo: Undo | null;
}

export class Branches {
  private readonly byHash = new Map<string, ChainBlock>();
  private readonly best: ChainBlock[] = [];
  private readonly readAt: (at: number, length: number) => Uint8Array;

  /** `readAt`: bytes of the journal. */
  constructor(readAt: (at: number, length: number) => Uint8Array) {
    this.readAt = readAt;
  }

  get height(): number {
    return this.best.length - 1;
  }

  get tip(): ChainBlock {
    return this.best[this.best.length - 1];
  }

  at(height: number): ChainBlock | undefined {
    return this.best[height];
  }

  find(hash: Uint8Array): ChainBlock | undefined {
    return this.byHash.get(keyOf(hash));
  }

  isBest(block: ChainBlock): boolean {
    return this.best[block.height] === block;
  }

  bytesOf({ raw, at, length }: ChainBlock): Uint8Array {
    return raw ?? this.readAt(at, length);
  }

  push(raw: Uint8Array, owned: Uint8Array, undo: Undo | null): ChainBlock {
    const { time, prevHash } = readHeader(raw);
    const hash = headerHash(raw);
    assert(this.best.length === 0 || Buffer.compare(prevHash, this.tip.hash) === 0, 'a block follows the tip');
    const block = { hash, height: this.best.length, time, length: raw.length, owned, raw, at: -1, undo };
    this.byHash.set(keyOf(hash), block);
    this.best.push(block);
    const old = this.best[block.height - REGTEST_UNDO_BLOCKS];
    if (old !== undefined) old.undo = null;
    const settled = this.best[block.height - REGTEST_RECENT_BLOCKS];
    if (settled !== undefined && settled.at >= 0) settled.raw = null;
    return block;
  }

  /** The newest block is of the best branch no more; it stays known by its hash. */
  pop(): ChainBlock {
    const block = this.best.pop();
    assert(block !== undefined && block.height > 0, 'the first block stays');
    if (block.at >= 0) block.raw = null;
    return block;
  }
}
