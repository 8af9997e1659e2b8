/**
 * The difference of two chains: which blocks of an earlier one are undone in the
 * present one, the newest block that both have, and which blocks follow it. The
 * earlier chain may be a snapshot's (`chainDown`), or blocks that somebody has
 * remembered (`ChainTracker`).
 */
import type { ChainRow } from '../projections/chain.ts';
import { equalBytes } from '../util/bytes.ts';
import type { Query } from './query.ts';

type BlockHash = Pick<ChainRow, 'hash'>;

export function isOnChain(query: Query, { hash }: BlockHash): boolean {
  return query.blockByHash(hash) !== null;
}

/**
 * Those of an earlier chain's blocks, which come newest first, that are not on the chain of `now`. Returns the first
 * that is: the newest block both have, and what follows it there is `now.blocksAfter` it. Null: there is none.
 */
export function* undoneBlocks<B extends BlockHash>(earlier: Iterable<B>, now: Query): Generator<B, B | null, void> {
  for (const block of earlier) {
    if (isOnChain(now, block)) return block;
    yield block;
  }
  return null;
}

/** Blocks from that one down, newest first. */
export function* chainDown(query: Query, from: ChainRow | null = query.headRow()): Generator<ChainRow, void, void> {
  for (let row = from; row !== null; row = query.blockByHash(row.prevHash)) yield row;
}

/** What happened between two looks at a chain. */
export interface ChainMove {
  /** Whether blocks were undone. */
  readonly turned: boolean;
  /** Height of the newest block that is known to be on both chains; -1: none is. */
  readonly fork: number;
  /** Blocks above it, oldest first; null: more than the tracker goes through. */
  readonly blocks: readonly ChainRow[] | null;
}

export interface TrackerLimits {
  /** Blocks that are remembered, to find where the chain turned. */
  readonly rememberedMax: number;
  /** Blocks of one move that are listed. */
  readonly blocksMax: number;
}

/** Compares each look at a chain with the one before, without holding a snapshot: it remembers the newest blocks. */
export class ChainTracker {
  private readonly limits: TrackerLimits;
  /** Oldest first. Below the newest of a move that was not listed, blocks are missing. */
  private readonly remembered: ChainRow[] = [];

  constructor(limits: TrackerLimits) {
    this.limits = limits;
  }

  /** What happened since the last call; null: nothing. */
  follow(query: Query): ChainMove | null {
    const { remembered } = this;
    const head = query.headRow();
    const last = remembered.at(-1);
    if (head === null ? last === undefined : last !== undefined && equalBytes(last.hash, head.hash)) return null;
    const undone = [...undoneBlocks(remembered.toReversed(), query)].length;
    remembered.length -= undone;
    const common = remembered.at(-1) ?? null;
    const fork = common?.height ?? -1;
    const isListed = head === null || head.height - fork <= this.limits.blocksMax;
    const blocks = isListed ? [...query.blocksAfter(common)] : null;
    remembered.push(...(blocks ?? (head === null ? [] : [head])));
    remembered.splice(0, Math.max(0, remembered.length - this.limits.rememberedMax));
    return { turned: undone > 0, fork, blocks };
  }
}
