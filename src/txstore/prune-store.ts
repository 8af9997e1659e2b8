/**
 * What a prune pass (prune/) needs of a transaction store: records whose time
 * has come, facts about them and their spenders, and one atomic removal that
 * fails for whatever has changed since the facts were read.
 */
import type { TxBlock } from './records.ts';
import type { PruneHeights } from './rules/verdict.ts';

export interface PrunableStore {
  /** Records with `deleteAtHeight` up to this height, in the order of that height and then of the id. */
  dueParents(allowedHeight: number, after: PruneCursor | null, limit: number): Promise<readonly DueParent[]>;
  /** How many of those there are, counted up to `limit`. */
  countDue(height: number, limit: number): Promise<number>;
  /** In the order of what is due, null where there is none. */
  readParents(due: readonly Pick<DueParent, 'txId'>[]): Promise<readonly (PruneParent | null)[]>;
  /** In the order of the ids. */
  readChildren(txIds: readonly Uint8Array[]): Promise<readonly ChildRead[]>;
  /** Whether the parent has a tombstone of the child, in the order of the pairs. */
  readTombstones(pairs: readonly ParentChild[]): Promise<readonly boolean[]>;
  /**
   * Atomically: every parent that is as it was read, whose children are as they were read or were pruned since, and that
   * no unmined or conflicting record references, is deleted, with a tombstone in each record whose slot names it.
   */
  removeParents(removal: Removal): Promise<RemovalResult>;
  /**
   * Of those due next, atomically and in one turn: every one that it can decide on by what it has at hand is deleted, if
   * all rules say so. The others are left to be judged. `limit`: how many it looks at; parents of what it deletes that
   * come later in the pass may go along. Absent: the store has no such way.
   */
  removeNext?(heights: PruneHeights, after: PruneCursor | null, limit: number): Promise<NextRemoval>;
  pruneProgress(): Promise<PruneProgress>;
  /** `prunedHeight` is a removal's to raise: another process may be at one. */
  setPassProgress(progress: PassProgress): Promise<void>;
}

/** A place in the order of deletion. */
export interface PruneCursor {
  readonly height: number;
  readonly txId: Uint8Array;
}

/** A record that is due. A store may have more of it than is said here, for `readParents`. */
export type DueParent = PruneCursor;

export interface PruneParent {
  readonly txId: Uint8Array;
  readonly version: number;
  readonly deleteAtHeight: number | null;
  readonly preserveUntil: number | null;
  readonly isConflicting: boolean;
  readonly hasUnspentSlot: boolean;
  /** Distinct, over all slots of all pages. */
  readonly children: readonly Uint8Array[];
  /** Those of them that a pass has deleted, as far as the record itself says so; `readTombstones` tells of the others. */
  readonly prunedChildren?: readonly Uint8Array[];
  /** An unmined or conflicting record with an input on it; null: none. */
  readonly referrer: Uint8Array | null;
}

/** What a read of a child gave. `failed`: nothing can be said of it. */
export type ChildRead =
  | { readonly kind: 'present'; readonly child: ChildFacts }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly cause: unknown };

export interface ChildFacts {
  readonly txId: Uint8Array;
  readonly version: number;
  readonly unminedSince: number | null;
  readonly isConflicting: boolean;
  readonly blocks: readonly Pick<TxBlock, 'height' | 'isOnBestChain'>[];
}

export interface ParentChild {
  readonly parent: Uint8Array;
  readonly child: Uint8Array;
}

export interface Removal {
  /** The requested height of the pass. */
  readonly height: number;
  readonly parents: readonly ProvenParent[];
  /** Where the scan goes on; stored with the removal. */
  readonly cursor: PruneCursor | null;
}

/** A parent with what the decision to delete it rests on. */
export interface ProvenParent {
  readonly parent: PruneParent;
  /** The version that each child had; null: it was pruned before. */
  readonly children: readonly { readonly txId: Uint8Array; readonly version: number | null }[];
}

export interface RemovalResult {
  readonly deleted: readonly Uint8Array[];
  /** Kept, because they or their children have changed since they were read. */
  readonly changed: readonly Uint8Array[];
  readonly tombstonesWritten: number;
  /** Parents of the deleted that are gone already. */
  readonly parentsMissing: number;
  /** Blobs that went with the records, in the same change. */
  readonly blobsDeleted?: number;
}

/** What `removeNext` did. */
export interface NextRemoval extends Omit<RemovalResult, 'changed'> {
  /** How many it looked at; fewer than it was asked for: nothing is due behind them. */
  readonly count: number;
  /** The last of those; null: there was none. */
  readonly last: PruneCursor | null;
  /** Those that it did not decide on. */
  readonly others: readonly DueParent[];
  /** It has stored with the removal that the scan goes on behind the last of them. */
  readonly hasPassed: boolean;
  readonly childrenRead: number;
}

/** How far passes are. */
export interface PassProgress {
  /** The pass that is not finished; null: none. */
  readonly unfinished: { readonly height: number; readonly cursor: PruneCursor | null } | null;
  /** The height of the last pass that looked at everything. */
  readonly lastCompleted: number;
}

/** How far pruning is. */
export interface PruneProgress extends PassProgress {
  /** The highest height for which something was deleted: blocks that were stable then can never be undone. */
  readonly prunedHeight: number;
}
