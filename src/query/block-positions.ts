/**
 * Slot, block hash, epoch and time of a height, as documents and records show
 * them with each output. Rows of a list come in runs of the same block, so each
 * block is looked up once and cached.
 */
import type { ChainRow } from '../projections/chain.ts';
import type { Dialect } from './dialect.ts';

/** Where blocks are looked up: a query, or the past that is asked for. */
export interface BlockLookup {
  blockAtHeight(height: number): ChainRow | null;
  blockByHash(hash: Uint8Array): ChainRow | null;
}

export interface NamedBlock {
  readonly row: ChainRow;
  /** Its hash as people write it. */
  readonly name: string;
}

export interface BlockPosition {
  readonly slot: number;
  readonly height: number;
  /** Null: the block is not in the store. */
  readonly block: NamedBlock | null;
  /** Null: the chain has none. */
  readonly epoch: number | null;
  /** Unix seconds. Null: unknown. */
  readonly time: number | null;
}

/** Blocks remembered at most: a few hundred bytes each. */
const REMEMBERED_MAX = 4096;

export class BlockPositions {
  private readonly blocks: BlockLookup;
  private readonly dialect: Dialect;
  private readonly known = new Map<number, NamedBlock | null>();

  constructor(blocks: BlockLookup, dialect: Dialect) {
    this.blocks = blocks;
    this.dialect = dialect;
  }

  at(height: number, slot: number): BlockPosition {
    const block = this.block(height);
    const { clock } = this.dialect;
    return { slot, height, block, epoch: clock.epoch(slot), time: clock.time(slot, block?.row ?? null) };
  }

  /** The block of that height that can hold transactions: a boundary block there only stands behind it. */
  block(height: number): NamedBlock | null {
    const known = this.known.get(height);
    if (known !== undefined) return known;
    let row = this.blocks.blockAtHeight(height);
    // The first of a chain has none before it. Of any other that block may be older than the store.
    if (row?.boundary && height > 0) row = this.blocks.blockByHash(row.prevHash);
    if (this.known.size === REMEMBERED_MAX) this.known.clear();
    const block = row === null ? null : { row, name: this.dialect.formatId(row.hash) };
    this.known.set(height, block);
    return block;
  }
}
