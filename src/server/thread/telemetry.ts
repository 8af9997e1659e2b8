/**
 * The following side of the server: watches the fold and what is followed, and
 * tells the serving side, wherever that runs. At the tip each commit is told at
 * once; at full speed many are told together, because a message costs more than
 * what it says.
 */
import type { Point } from '../../ledgers/ledger.ts';
import { renderPoint } from '../../query/render.ts';
import type { AppliedCounts, FoldWatcher } from '../../state/fold.ts';
import type { PruneCounts } from '../../state/pruned.ts';
import type { FollowState, OpenStore } from '../../store/store.ts';
import { LIVE_ROLLBACKS_MAX, LIVE_TIMINGS_MAX, LIVE_UPDATE_MS, LIVE_UPDATE_MS_MAX } from '../../util/limits.ts';
import { type LiveRollback, type LiveStatus, type LiveTiming, type LiveUpdate, NOT_FOLLOWING } from './live.ts';

type Watched = Pick<OpenStore, 'fold' | 'following' | 'followFailure' | 'fills' | 'network' | 'txs' | 'publishing'> & {
  readonly consumers: Pick<OpenStore['consumers'], 'wallets'>;
};

/** What a source that is a connection to a node says of it. */
interface Peer {
  readonly state: 'connecting' | 'following' | 'waiting' | 'stopped';
  readonly peer: string;
  readonly version: string;
  readonly tip: { readonly slot: number; readonly height?: number } | null;
  readonly lost: number;
  readonly lastError: Error | null;
  readonly refusals?: number;
}

export class Telemetry implements FoldWatcher {
  private readonly store: Watched;
  private readonly tell: (update: LiveUpdate) => void;
  private readonly tick: NodeJS.Timeout;
  private readonly counts = { blocks: 0, created: 0, spent: 0, undone: 0, prunedKeys: 0, prunedDeltas: 0 };
  private rollbacks: readonly LiveRollback[] = [];
  private timings: LiveTiming[] = [];
  private moved = false;
  private toldAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | null = null;
  /** What was followed when last looked at, and the sums of what was followed before. */
  private following: FollowState | null = null;
  private before = { txs: 0, bytes: 0, lost: 0 };
  private last: LiveStatus;

  /** `first`: what is told until something is followed. */
  constructor(store: Watched, tell: (update: LiveUpdate) => void, first: LiveStatus = NOT_FOLLOWING) {
    this.last = first;
    this.store = store;
    this.tell = tell;
    store.fold.watchers.add(this);
    // A peer that is lost, or a source that is waited for, commits nothing.
    this.tick = setInterval(() => this.send(), LIVE_UPDATE_MS_MAX);
    this.tick.unref();
    this.send();
  }

  close(): void {
    this.store.fold.watchers.delete(this);
    clearInterval(this.tick);
    if (this.timer !== null) clearTimeout(this.timer);
  }

  applied({ blocks, created, spent }: AppliedCounts, seconds: number): void {
    this.counts.blocks += blocks;
    this.counts.created += created;
    this.counts.spent += spent;
    this.took({ what: 'apply', seconds, blocks });
  }

  rolledBack(to: Point | null, undone: number, seconds: number): void {
    this.counts.undone += undone;
    const rollback = { time: Date.now(), to: to === null ? null : renderPoint(to, this.store.network.dialect), undone };
    this.rollbacks = [...this.rollbacks, rollback].slice(-LIVE_ROLLBACKS_MAX);
    this.took({ what: 'rollback', seconds, blocks: undone });
  }

  pruned({ spentKeys, deltas, visited }: PruneCounts, seconds: number): void {
    this.counts.prunedKeys += spentKeys;
    this.counts.prunedDeltas += deltas;
    this.took({ what: 'prune', seconds, blocks: visited });
  }

  /** The point is the same, but an index may be ready now that was not. */
  filled(_rows: number, seconds: number): void {
    this.took({ what: 'fill', seconds, blocks: 0 });
  }

  status(): LiveStatus {
    const { following, followFailure } = this.store;
    if (following !== this.following) this.another(following);
    const progress = following?.progress ?? null;
    const peer = following === null ? null : peerOf(following);
    const tip = progress?.tip ?? peer?.tip ?? null;
    // What failed at once was never seen to be followed.
    const hasFollowed = this.last.source !== null || followFailure !== null;
    const state = following === null ? (hasFollowed ? 'stopped' : this.last.state) : (peer?.state ?? 'following');
    this.last = {
      state,
      source: following?.source.name ?? this.last.source,
      peer: peer?.peer ?? null,
      version: peer?.version || null,
      sourceTip: tip === null ? (following === null ? this.last.sourceTip : null) : { slot: tip.slot, height: tip.height ?? null },
      ...this.counts,
      txs: this.before.txs + (progress?.txs ?? 0),
      bytes: this.before.bytes + (progress?.bytes ?? 0),
      queued: progress?.queued ?? 0,
      rollbacks: this.rollbacks,
      fills: this.store.fills().map(({ projection, done }) => ({ projection, done })),
      records: this.store.txs?.report ?? null,
      publishing: this.store.publishing?.report ?? null,
      wallets: this.store.consumers.wallets,
      connectionsLost: this.before.lost + (peer?.lost ?? 0),
      refusals: peer?.refusals ?? 0,
      lastError: (following === null ? followFailure : peer?.lastError)?.message ?? null,
    };
    return this.last;
  }

  /** Something else is followed now, or nothing: what was counted before stays. */
  private another(following: FollowState | null): void {
    const { progress = null } = this.following ?? {};
    this.before.txs += progress?.txs ?? 0;
    this.before.bytes += progress?.bytes ?? 0;
    this.before.lost += this.following === null ? 0 : (peerOf(this.following)?.lost ?? 0);
    this.following = following;
  }

  private took(timing: LiveTiming): void {
    if (this.timings.length < LIVE_TIMINGS_MAX) this.timings.push(timing);
    this.moved = true;
    // In a turn of its own even when nothing hinders: by then the follower has counted what was committed.
    const wait = this.toldAt + LIVE_UPDATE_MS - performance.now();
    this.timer ??= setTimeout(() => this.send(), Math.max(0, wait)).unref();
  }

  private send(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.toldAt = performance.now();
    const { moved, timings } = this;
    this.moved = false;
    this.timings = [];
    this.tell({ moved, status: this.status(), timings });
  }
}

function peerOf({ source }: FollowState): Peer | null {
  const { status } = source as { readonly status?: () => Peer };
  return status === undefined ? null : status.call(source);
}
