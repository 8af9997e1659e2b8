/**
 * The projection contract. A projection keeps something about the chain in its
 * own columns and can take every step back exactly.
 *
 * A step is one or more whole blocks moved together, resolved and netted by the
 * fold: `added` and `removed` are the net change of the unspent set, whichever
 * way we go. A projection that is a function of the unspent set therefore has
 * one body for both directions. One that needs more per block returns its own
 * undo bytes from `apply` and gets them back in `revert`.
 *
 * A new capability is a new projection in `registry.ts`; the fold is not edited.
 */
import type { Batch, ColumnSpec, Reader } from '../engine/engine.ts';
import type { Block, Point } from '../ledgers/ledger.ts';
import type { Coin } from './coin.ts';

/** The column of the undo records: one a block, with what every projection wants remembered of it (`state/delta.ts`). */
export const DELTA = 'delta';

/** A transaction as the delta remembers it. */
export interface StepTx {
  /** Its id. */
  readonly id: Uint8Array;
  /** False: its scripts failed, and only its collateral was spent. */
  readonly valid: boolean;
}

/** One block of a step. */
export interface StepBlock extends Point {
  /** Its key in `chain` and `delta`. */
  readonly key: Uint8Array;
  /** Its transactions, in its order. */
  readonly txs: readonly StepTx[];
  /** Outputs it created, in its order, those it spent itself included. */
  readonly created: readonly Coin[];
  /** Outputs it spent, in its order, its own included. */
  readonly spent: readonly Coin[];
}

/** One block of a step forward. */
export interface ForwardBlock extends StepBlock {
  /** The block itself. */
  readonly block: Block;
}

/** One or more whole blocks moved together: what changed, whichever way the chain goes. */
export interface Step<B extends StepBlock = StepBlock> {
  /** Forward: oldest first. Back: newest first. */
  readonly blocks: readonly B[];
  /** Unspent after the step and not before it. */
  readonly added: readonly Coin[];
  /** Unspent before the step and not after it. */
  readonly removed: readonly Coin[];
  /** Forward: the undo records of its blocks carry the outputs they spent (`utxo.delta.selfContained`). */
  readonly carriesSpent?: boolean;
}

/** A projection's own undo, one entry a block (undefined: nothing to remember). */
export type Undo = readonly (Uint8Array | undefined)[];

/** Keeps something about the chain in columns of its own, and can take every step back exactly. */
export interface Projection {
  /** Unique; it stays what it is once a store has it. */
  readonly name: string;
  /** Its columns; no other projection has them. */
  readonly columns: readonly ColumnSpec[];
  /** Keys of rows of its own among the reserved ones of `chain`: they go when it is switched off. */
  readonly reserved?: readonly Uint8Array[];
  /**
   * Whether it can be switched on for a store that has blocks already, from the unspent outputs there:
   * `apply` is then called with steps that have `added` and no blocks, and has to keep what follows from them.
   *
   * `exact`: a function of the unspent set. It looks at `added` and `removed` only, so that the result is what it
   * would be had it been on from the start, however the outputs are portioned. `outputs`: it gets what the unspent
   * outputs tell and lacks what earlier blocks told otherwise. Absent: only from the first block on.
   */
  readonly fillable?: 'exact' | 'outputs';
  /**
   * It keeps what blocks say, and can be switched on for a store that has blocks already: it then begins with the next
   * one, and reads its first height (`start-height.ts`), whose key is among its reserved ones.
   */
  readonly startsLate?: true;
  /** It keeps blocks as they are, and so needs all of them to be checked; absent: only what outputs are made of. */
  readonly keepsBlocks?: true;
  /**
   * Writes what follows from the step into the batch. Returns what undoing each of its blocks will need, if anything.
   * `view` is the store before the step.
   */
  apply(step: Step<ForwardBlock>, view: Reader, batch: Batch): Undo | undefined;
  /** Takes the step back: afterwards its columns are byte for byte what they were. `undo` is what `apply` returned, newest block first. */
  revert(step: Step, undo: Undo, view: Reader, batch: Batch): void;
  /** Forgets what only the undo of this block could need. Returns how many keys it deleted. */
  prune?(block: PrunedBlock, batch: Batch): number;
  /**
   * Forgets the rows it has of blocks that can never be taken back any more and that a published copy has. Where a
   * projection has this, nothing is pruned but blocks that are shown to be published (`state/pruned.ts`).
   */
  leave?(blocks: readonly StepBlock[], batch: Batch): void;
  /** Told once of each block that can never be taken back any more, oldest first, some at a time: frees what only that could need. */
  settle?(blocks: readonly SettledBlock[], view: Reader, batch: Batch): void;
}

/** A block behind the horizon, with what the projection wanted remembered of it. */
export interface SettledBlock {
  /** The block's key in `chain`. */
  readonly key: Uint8Array;
  /** What the projection returned for the block; undefined: nothing. */
  readonly undo: Uint8Array | undefined;
}

/** A block that leaves the window: the outpoints it spent, one after another. */
export interface PrunedBlock {
  /** The block's key in `chain`. */
  readonly key: Uint8Array;
  /** Outpoint keys of what it spent. */
  readonly spentKeys: readonly Uint8Array[];
}
