/**
 * Pumps a source into the fold: raw bytes become blocks, blocks become groups
 * while we are far behind and single commits at the tip, a step back becomes a
 * rollback. Stops at a block, never inside one.
 */

import type { Block, Ledger, Point } from '../ledgers/ledger.ts';
import type { Fold } from '../state/fold.ts';
import { equalBytes } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { GROUP_BYTES_MIN } from '../util/limits.ts';
import { nextTurn } from '../util/time-slice.ts';
import { groupBytes } from './group-size.ts';
import type { ChainEvent, Run, Source, SourceTip } from './source.ts';

/** Where following stops: where the source ends, or before the first block above a slot or a height. */
export type Until =
  | { readonly kind: 'end' }
  | { readonly kind: 'slot'; readonly slot: number }
  | { readonly kind: 'height'; readonly height: number };

/** What was done since a source began to be followed. */
export interface FollowProgress {
  /** Blocks applied. */
  readonly blocks: number;
  /** The bytes of those blocks. */
  readonly bytes: number;
  /** The transactions in them. */
  readonly txs: number;
  /** Outputs they created. */
  readonly created: number;
  /** Outputs they spent. */
  readonly spent: number;
  /** How often the source went back. */
  readonly rollbacks: number;
  /** Blocks that were undone because of it. */
  readonly undone: number;
  /** Blocks that came and wait for others to be applied with. */
  readonly queued: number;
  /** The newest block the source knows of; undefined: it has not said. */
  readonly tip: SourceTip | undefined;
}

export interface FollowFoldOptions {
  readonly until: Until;
  /** Stay at the tip and wait for more. */
  readonly follow: boolean;
  readonly groupBlocks: number;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: FollowProgress) => void) | undefined;
  readonly onRollback?: ((to: Point | null, undone: number) => void) | undefined;
  /** Awaited before more blocks are taken: whoever takes them in after the fold may need time. */
  readonly room?: ((signal: AbortSignal) => Promise<void> | undefined) | undefined;
}

/** Why following ended: the source ended, `until` was reached, or the signal came. */
export type StopReason = 'end' | 'until' | 'interrupted';

/** What following has done when it ends. */
export interface FollowResult extends FollowProgress {
  /** Why it ended. */
  readonly reason: StopReason;
}

export async function follow(source: Source, fold: Fold, ledger: Ledger, options: FollowFoldOptions): Promise<FollowResult> {
  const feeder = new FoldFeeder(fold, ledger, source.final === true, options);
  // Ends the source too when the fold stops early.
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const runs = source.runs({ from: fold.recentPoints(), chain: fold, signal, follow: options.follow });
  try {
    for await (const run of runs) {
      if (!feeder.take(run)) break;
      await nextTurn();
      await options.room?.(options.signal);
    }
  } finally {
    stop.abort();
    // Whatever went wrong, the good blocks before it are kept.
    feeder.flush();
    fold.settle();
  }
  const reason = feeder.reachedUntil ? 'until' : options.signal.aborted ? 'interrupted' : 'end';
  return { ...feeder.progress(), reason };
}

type Forward = Extract<ChainEvent, { kind: 'forward' }>;

class FoldFeeder {
  private readonly fold: Fold;
  private readonly ledger: Ledger;
  private readonly isFinal: boolean;
  private readonly options: FollowFoldOptions;
  private readonly keepsBlocks: boolean;
  private group: Block[] = [];
  private groupBytes = 0;
  private isExpecting = false;
  private tip: SourceTip | undefined;
  private readonly counts = { blocks: 0, bytes: 0, txs: 0, created: 0, spent: 0, rollbacks: 0, undone: 0 };
  reachedUntil = false;

  constructor(fold: Fold, ledger: Ledger, isFinal: boolean, options: FollowFoldOptions) {
    this.fold = fold;
    this.ledger = ledger;
    this.isFinal = isFinal;
    this.options = options;
    this.keepsBlocks = fold.projections.some((projection) => projection.keepsBlocks === true);
  }

  progress(): FollowProgress {
    return { ...this.counts, queued: this.group.length, tip: this.tip };
  }

  /** Takes a run of events; false when we have what we came for. */
  take(run: Run): boolean {
    this.tip = run.tip ?? this.tip;
    if (!run.atTip) this.expectGroups();
    for (const event of run.events) {
      if (event.kind === 'back') this.back(event.point);
      else if (!this.forward(event)) return false;
    }
    // At the tip a block is not kept waiting for others.
    if (run.atTip) this.flush();
    this.options.onProgress?.(this.progress());
    return !this.options.signal.aborted;
  }

  /** More comes than this run: what commits groups ahead starts while the first of them is decoded. */
  private expectGroups(): void {
    if (this.isExpecting || this.options.groupBlocks === 1) return;
    this.isExpecting = true;
    this.fold.expectMany();
  }

  private forward({ raw, intact, height, block: decoded }: Forward): boolean {
    const block = decoded ?? this.decode(raw, intact, height);
    if (this.isPast(block)) {
      this.reachedUntil = true;
      return false;
    }
    // Passed over before it can fill a group: a source that lags hands us what we have, up to where we may have to turn.
    if (this.isFinal && this.group.length === 0 && this.isOurs(block)) return true;
    this.group.push(block);
    this.groupBytes += raw.length;
    if (this.group.length >= this.options.groupBlocks || this.isLarge(block)) this.flush(this.options.groupBlocks > 1);
    return true;
  }

  /** Whether the group, whose last block this is, is as large as groups are here. */
  private isLarge({ height }: Block): boolean {
    if (this.groupBytes < GROUP_BYTES_MIN) return false;
    const blocksLeft = Math.max(0, (this.tip?.height ?? Number.POSITIVE_INFINITY) - height);
    const left = (blocksLeft * this.groupBytes) / this.group.length;
    return this.groupBytes >= groupBytes(this.counts.bytes, left);
  }

  private decode(raw: Uint8Array, intact: boolean, height: number | undefined): Block {
    try {
      const block = this.ledger.decode(raw, height);
      if (!intact) this.ledger.verify(block, this.keepsBlocks);
      return block;
    } catch (error) {
      this.flush();
      const last = this.fold.newest;
      if (!(error instanceof UnspentError)) throw error;
      const where = last === null ? 'the first block' : `the block after height ${last.height} (slot ${last.slot})`;
      throw new UnspentError(error.code, `${where} is not a good block: ${error.message}`, error.meta, error);
    }
  }

  private isPast(block: Block): boolean {
    const { until } = this.options;
    if (until.kind === 'slot') return block.slot > until.slot;
    return until.kind === 'height' && block.height > until.height;
  }

  /** True for a settled block we have. One with a parent of ours that is not our tip means that what we have above it lost. */
  private isOurs(block: Block): boolean {
    const { newest } = this.fold;
    const { hash, prevHash } = block;
    if (newest === null || (prevHash !== null && equalBytes(prevHash, newest.hash))) return false;
    if (this.fold.has(hash)) return true;
    const parent = prevHash === null ? null : this.fold.pointOf(prevHash);
    if (parent !== null) this.back(parent);
    return false;
  }

  private back(point: Point | null): void {
    this.flush();
    const undone = this.fold.rollback(point);
    if (undone === 0) return;
    this.counts.rollbacks++;
    this.counts.undone += undone;
    this.options.onRollback?.(point, undone);
  }

  /**
   * Commits what is waiting. `moreComes`: the next group is at hand, and need not wait for the commit. The last group
   * need not wait for the one before it either.
   */
  flush(moreComes = false): void {
    if (this.group.length === 0) return;
    const { group } = this;
    this.group = [];
    this.groupBytes = 0;
    const applied = moreComes || this.fold.isAhead ? this.fold.applyAhead(group) : this.fold.apply(group);
    this.counts.blocks += applied.blocks;
    this.counts.created += applied.created;
    this.counts.spent += applied.spent;
    for (const block of group) {
      this.counts.bytes += block.raw.length;
      this.counts.txs += block.txs.length;
    }
  }
}
