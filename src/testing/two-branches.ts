/** Two branches of one chain that part at some block: what projections are tested on. */
import type { Block, Ledger } from '../ledgers/ledger.ts';

export interface TwoBranches {
  readonly ledger: Ledger;
  /** Blocks that both begin with. */
  readonly shared: number;
  readonly first: readonly Block[];
  readonly second: readonly Block[];
}

/** Of the longer branch, and of what is replaced of it. */
export const BRANCH_BLOCKS_MAX = 60;
export const BRANCH_DEPTH_MAX = 25;
