/**
 * Where on the chain a height stands, for whoever shows outputs: rows come in
 * runs of the same block, and answers name few blocks over and over, so each is
 * looked up once.
 */
import { type CardanoNetwork, slotToEpoch, slotToTime } from '../ledgers/cardano/index.ts';
import type { ChainRow } from '../projections/chain.ts';
import { toHex } from '../util/bytes.ts';

/** What a place is read from: a query, whichever point is asked about. */
export interface Blocks {
  blockAtHeight(height: number): ChainRow | null;
  blockByHash(hash: Uint8Array): ChainRow | null;
}

export interface NamedBlock {
  readonly row: ChainRow;
  /** Its hash in hex. */
  readonly name: string;
}

export interface ChainPlace {
  readonly slot: number;
  readonly height: number;
  /** Null: the block is not in the store. */
  readonly block: NamedBlock | null;
  readonly epoch: number;
  /** Unix seconds. */
  readonly time: number;
}

/** Blocks remembered at most: a few hundred bytes each. */
const REMEMBERED_MAX = 4096;

export class Places {
  private readonly blocks: Blocks;
  private readonly network: CardanoNetwork;
  private readonly known = new Map<number, NamedBlock | null>();

  constructor(blocks: Blocks, network: CardanoNetwork) {
    this.blocks = blocks;
    this.network = network;
  }

  at(height: number, slot: number): ChainPlace {
    return { slot, height, block: this.block(height), epoch: slotToEpoch(this.network, slot), time: slotToTime(this.network, slot) };
  }

  /** The block of that height that can hold transactions: a boundary block there only stands behind it. */
  block(height: number): NamedBlock | null {
    const known = this.known.get(height);
    if (known !== undefined) return known;
    let row = this.blocks.blockAtHeight(height);
    if (row?.boundary) {
      const before = this.blocks.blockByHash(row.prevHash);
      if (before?.height === height) row = before;
    }
    if (this.known.size === REMEMBERED_MAX) this.known.clear();
    const block = row === null ? null : { row, name: toHex(row.hash) };
    this.known.set(height, block);
    return block;
  }
}
