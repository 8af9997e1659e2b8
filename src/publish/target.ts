/**
 * The contract of a published copy: a database elsewhere that takes changes, each
 * whole or not at all, with the head that they lead to, exactly once. A target
 * has one leader at a time, fenced by its epoch: whoever claims it raises the
 * epoch, and whatever a former leader still sends is refused with FENCED.
 *
 * After any failure the caller claims again: `claim` finishes or forgets what was
 * under way and says where the copy is, because a commit may have happened whose
 * answer was lost. test/support/publish/memory-target.ts is the smallest one.
 */
import type { Row, ScanOptions } from '../engine/engine.ts';
import type { Head } from '../state/head.ts';
import type { CopyChange } from './change.ts';
import type { PublishedIdentity } from './identity.ts';

/** Where a copy is. */
export interface PublishedHead {
  /** The number of the last change: 1 is the snapshot that a copy begins with, and a copy that begins anew goes on counting. */
  readonly seq: number;
  readonly epoch: number;
  /** Null: at the origin, or nothing is published yet. */
  readonly height: number | null;
  readonly slot: number | null;
  readonly hash: Uint8Array | null;
  /** False: a copy was begun and never completed; readers find nothing. */
  readonly isComplete: boolean;
}

export interface Claim {
  readonly head: PublishedHead;
  /** What the copy is of; null: nothing is published yet. */
  readonly identity: PublishedIdentity | null;
}

/** What is published with a head, besides the block itself. */
export interface PublishedMoment {
  readonly head: Head | null;
  readonly position: string;
}

/** A copy in the making. Readers see the one before until `finish`, and nothing of this one. */
export interface SnapshotLoad {
  /** Rows of one column, in key order; call by call they may be of any column, but come back to none. */
  rows(column: string, rows: readonly Row[]): Promise<void>;
  /** From now on readers see it. The number of the change that this is. */
  finish(moment: PublishedMoment): Promise<PublishedHead>;
  /** Forgets it, unless `finish` was begun: what became of that only a new claim tells. */
  abandon(): Promise<void>;
}

/** Rows as they are published, for what cannot be told from the store any more. */
export interface PublishedRows {
  get(column: string, keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]>;
  scan(column: string, options: ScanOptions): Promise<readonly Row[]>;
}

/** Blocks as they are published, for copies that keep no columns. */
export interface PublishedBlocks {
  /** Below that height (null: all), newest first, `limit` at most. */
  below(height: number | null, limit: number): Promise<readonly { readonly height: number; readonly hash: Uint8Array }[]>;
}

export interface CopyTarget {
  /** Without secrets: for messages and status. */
  readonly name: string;
  /** `columns`: byte for byte ours, so `rows` answers. `sql`: tables for people, undone by height, never pruned. */
  readonly form: 'columns' | 'sql';
  readonly rows: PublishedRows | null;
  /** Where `rows` is null: what tells how far the copy has to go back. */
  readonly blocks?: PublishedBlocks;
  /**
   * Waits until it leads; `onWaiting`: told each time that another does. Throws CLOSED where the signal comes first,
   * DATABASE_BUSY and the like where the database does not answer.
   */
  claim(signal: AbortSignal, onWaiting?: () => void): Promise<Claim>;
  /** Throws FENCED where somebody else leads; so do all below. */
  load(identity: PublishedIdentity): Promise<SnapshotLoad>;
  /** All of them in one transaction, in their order; either all go back (`undone`, `rollback`) or none. Returns the head after them. */
  publish(changes: readonly CopyChange[]): Promise<PublishedHead>;
  /** A sign of life: a leader that is silent for PUBLISH_LEASE_MS is replaced. */
  renew(): Promise<void>;
  /** Lets another lead at once. */
  close(): Promise<void>;
}
