/**
 * What the log says while a chain is followed: what becomes of the node, how far
 * it is while behind, when it has caught up, each block at the tip, each
 * rollback, what was filled and pruned, and what took long.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { FollowProgress } from '../sources/follow.ts';
import type { PeerStatus } from '../sources/peer.ts';
import type { AppliedCounts, FoldWatcher } from '../state/fold.ts';
import type { PruneCounts } from '../state/pruned.ts';
import type { OpenStore } from '../store/store.ts';
import { LOG_PROGRESS_MS, LOG_PRUNED_MS, SLOW_BLOCK_MS, SLOW_COMMIT_MS } from '../util/limits.ts';
import type { Log } from '../util/log.ts';
import { count, counted, duration, placeText, rate } from './format.ts';

/** What nothing was done of. */
export const NO_PROGRESS: FollowProgress = {
  blocks: 0,
  bytes: 0,
  txs: 0,
  created: 0,
  spent: 0,
  rollbacks: 0,
  undone: 0,
  queued: 0,
  tip: undefined,
};

export interface FollowLogOptions {
  /** How far it is, in place of how far it is behind. */
  readonly progressText?: () => string;
  /** True while a view on the terminal shows blocks as they come: then they are not told one by one. */
  readonly isShown?: () => boolean;
}

export class FollowLog implements FoldWatcher {
  private readonly store: OpenStore;
  private readonly log: Log;
  private readonly options: FollowLogOptions;
  private readonly startedAt = Date.now();
  /** As of the last line about blocks. */
  private told = NO_PROGRESS;
  private toldAt = this.startedAt - LOG_PROGRESS_MS + LOG_PROGRESS_MS / 5;
  private now = NO_PROGRESS;
  private status: PeerStatus | null = null;
  private connectedAt = 0;
  private behindSince: number | null = this.startedAt;
  private filling: ReadonlySet<string>;
  private forgotten = { spentKeys: 0, deltas: 0 };
  private prunedAt = 0;
  private rollback: { readonly at: number; readonly to: Point | null; readonly undone: number } | null = null;

  constructor(store: OpenStore, log: Log, options: FollowLogOptions = {}) {
    this.store = store;
    this.log = log;
    this.options = options;
    this.filling = new Set(store.fills().map(({ projection }) => projection));
    store.fold.watchers.add(this);
  }

  close(): void {
    this.store.fold.watchers.delete(this);
  }

  progress(now: FollowProgress): void {
    this.now = now;
    const { head } = this.store.fold;
    if (head === null || now.blocks === this.told.blocks) return;
    const behind = this.lagBlocks();
    if (behind > 1) this.behindSince ??= Date.now();
    if (behind === 0) this.atTip(head);
    else if (Date.now() - this.toldAt >= LOG_PROGRESS_MS) this.onTheWay(head, behind);
  }

  private onTheWay(head: Point, behind: number): void {
    const { now } = this;
    const at = Date.now();
    const speed = rate((now.blocks - this.told.blocks) / Math.max(0.001, (at - Math.max(this.toldAt, this.startedAt)) / 1000));
    const text = this.options.progressText?.() ?? `${this.place(head)}: ${this.lag()}, ${speed} blocks/s`;
    const facts = { height: head.height, slot: head.slot, behind, blocks: now.blocks };
    if (!this.options.isShown?.()) this.log.info('state', 'progress', text.trim(), facts);
    this.told = now;
    this.toldAt = at;
  }

  private atTip(head: Point): void {
    const { now, told } = this;
    const blocks = now.blocks - told.blocks;
    const what = blocks === 1 ? `block ${count(head.height)}` : `${counted(blocks, 'block')} up to ${count(head.height)}`;
    const txs = counted(now.txs - told.txs, 'transaction');
    const totals = this.store.totals();
    const outputs = `, +${now.created - told.created} -${now.spent - told.spent}; ${count(totals?.utxos ?? 0)} unspent`;
    const slot = hasSlots(this.store) ? `, slot ${count(head.slot)}` : '';
    const facts = { height: head.height, slot: head.slot, blocks, txs: now.txs - told.txs, utxos: totals?.utxos ?? null };
    if (!this.options.isShown?.()) this.log.info('state', 'block', `${what}${slot}: ${txs}${totals === null ? '' : outputs}`, facts);
    if (this.behindSince !== null && now.tip !== undefined) {
      const took = (Date.now() - this.behindSince) / 1000;
      this.log.info('state', 'caught up', `caught up with the tip at ${this.place(head)}, after ${duration(took)}`, {
        height: head.height,
        slot: head.slot,
        seconds: took,
      });
      this.behindSince = null;
    }
    this.told = now;
    this.toldAt = Date.now();
  }

  onRollback(to: Point | null, undone: number): void {
    this.rollback = { at: Date.now(), to, undone };
    this.log.info('state', 'rolled back', `rollback: ${counted(undone, 'block')} undone, back at ${this.place(to)}`, {
      undone,
      height: to?.height ?? null,
      slot: to?.slot ?? null,
    });
  }

  /** A node that was never reached is not one that was lost. */
  peer(status: PeerStatus): void {
    const before = this.status?.state;
    this.status = status;
    const { state, peer, version, connections, lastError } = status;
    if (state === 'following' && before !== 'following') {
      this.connectedAt = Date.now();
      const again = connections > 1 ? ' again' : '';
      this.log.info('sources', 'connected', `connected${again} to ${peer} (${version})`, { peer, version, connections });
    } else if (state === 'waiting') {
      const why = lastError?.message.replace(`${peer}: `, '') ?? 'no reason was given';
      const facts = { peer, reason: why, connections };
      if (before === 'following') {
        const kept = duration((Date.now() - this.connectedAt) / 1000);
        this.log.warn('sources', 'lost', `lost ${peer} after ${kept}: ${why}; trying again`, facts);
      } else {
        const never = connections === 0 ? ', never connected so far' : '';
        this.log.warn('sources', 'unreachable', `cannot connect to ${peer}: ${why}${never}; trying again`, facts);
      }
    }
  }

  /** Of what was switched on later: each once, when it is ready. */
  filled(): void {
    const left = new Set(this.store.fills().map(({ projection }) => projection));
    for (const projection of this.filling)
      if (!left.has(projection)) this.log.info('state', 'filled', `${projection} is filled and ready`, { projection });
    this.filling = left;
  }

  applied({ blocks }: AppliedCounts, seconds: number): void {
    if (seconds * 1000 < (blocks === 1 ? SLOW_BLOCK_MS : SLOW_COMMIT_MS)) return;
    const what = blocks === 1 ? `block ${count(this.store.fold.head?.height ?? 0)}` : counted(blocks, 'block');
    this.log.warn('state', 'slow', `slow: ${what} took ${duration(seconds)} to apply`, { blocks, seconds });
  }

  rolledBack(_to: Point | null, undone: number, seconds: number): void {
    if (seconds * 1000 >= SLOW_COMMIT_MS)
      this.log.warn('state', 'slow', `slow: ${counted(undone, 'block')} took ${duration(seconds)} to undo`, { undone, seconds });
  }

  /** At the tip something is forgotten with each block: it is added up. */
  pruned({ spentKeys, deltas, done }: PruneCounts, seconds: number): void {
    const { forgotten } = this;
    forgotten.spentKeys += spentKeys;
    forgotten.deltas += deltas;
    if (seconds * 1000 >= SLOW_COMMIT_MS) this.log.warn('state', 'slow', `slow: a batch of pruning took ${duration(seconds)}`, { seconds });
    if (!done || Date.now() - this.prunedAt < LOG_PRUNED_MS || forgotten.spentKeys + forgotten.deltas === 0) return;
    const what = `${counted(forgotten.spentKeys, 'spent output')} and ${counted(forgotten.deltas, 'undo record')}`;
    const horizon = this.store.horizon();
    this.log.info('state', 'pruned', `pruned ${what}; the horizon is ${this.place(horizon)}`, {
      ...forgotten,
      horizon: horizon?.height ?? null,
    });
    this.forgotten = { spentKeys: 0, deltas: 0 };
    this.prunedAt = Date.now();
  }

  /** For the status: tip, lag, peer, last rollback. */
  rows(): [string, string][] {
    const rows: [string, string][] = [['lag', this.lag()]];
    if (this.status !== null) {
      const { peer, state, version, lost, lastError, connections } = this.status;
      rows.push(['peer', `${peer}, ${state}${version === '' ? '' : ` (${version})`}`]);
      if (lastError !== null && connections === 0) rows.push(['never connected', lastError.message]);
      else if (lastError !== null) rows.push(['lost', `${counted(lost, 'connection')}, the last one: ${lastError.message}`]);
    }
    const { rollback } = this;
    const told = rollback === null ? 'none' : `${counted(rollback.undone, 'block')} to ${this.place(rollback.to)}, ${ago(rollback.at)}`;
    rows.push(['last rollback', told]);
    return rows;
  }

  private place(point: Pick<Point, 'height' | 'slot'> | null): string {
    return point === null ? 'the origin' : placeText(point, this.store.network.dialect);
  }

  private lagBlocks(): number {
    const { tip } = this.now;
    return tip?.height === undefined ? 0 : Math.max(0, tip.height - (this.store.fold.head?.height ?? -1));
  }

  /** Behind the source's newest block, in blocks and in the chain's own time. */
  private lag(): string {
    const { tip } = this.now;
    if (tip === undefined) return 'the source has not told its tip yet';
    const { clock } = this.store.network.dialect;
    const [theirs, ours] = [clock.time(tip.slot, null), clock.time(this.store.fold.head?.slot ?? 0, null)];
    const blocks = counted(this.lagBlocks(), 'block');
    // A chain whose blocks alone know the time cannot say how old one is that we do not have.
    if (theirs === null || ours === null) return `${blocks} behind the tip (height ${count(tip.height ?? tip.slot)})`;
    return `${blocks} and ${duration(Math.max(0, theirs - ours))} behind the tip (slot ${count(tip.slot)})`;
  }
}

/** Chains without slots of their own give the height as one. */
function hasSlots({ network: { dialect } }: OpenStore): boolean {
  return dialect.clock.epoch(0) !== null;
}

function ago(at: number): string {
  return `${duration((Date.now() - at) / 1000)} ago`;
}
