/**
 * The following side of the mempool: watches that of the node which is followed
 * and hands its changes on, to wherever the server keeps them.
 *
 * A mempool means something at the tip only, so it is not watched while the
 * store is far from it. Changes are gathered, and the next ones wait until the
 * last were taken: a node may have a hundred megabytes to tell.
 */
import type { MempoolChange } from '../../ledgers/mempool-change.ts';
import type { FollowState, OpenStore } from '../../store/store.ts';
import {
  MEMPOOL_BEHIND_BLOCKS_MAX,
  MEMPOOL_LOOK_MS,
  MEMPOOL_UPDATE_BYTES_MAX,
  MEMPOOL_UPDATE_MS,
  READY_BLOCKS_BEHIND_MAX,
} from '../../util/limits.ts';

type Watched = { readonly following: FollowState | null; readonly fold: Pick<OpenStore['fold'], 'head'> };

/** Takes changes in; resolves when there is room for the next ones. */
type Take = (changes: readonly MempoolChange[]) => Promise<void>;

const RESET: MempoolChange = { kind: 'reset' };

export class MempoolLink {
  private readonly store: Watched;
  private take: Take | null = null;
  private look: NodeJS.Timeout | null = null;
  private watching: { readonly following: FollowState; readonly stop: () => void } | null = null;
  private queue: MempoolChange[] = [];
  private timer: NodeJS.Timeout | null = null;
  private isTaking = false;

  constructor(store: Watched) {
    this.store = store;
  }

  start(take: Take): void {
    this.take = take;
    this.look = setInterval(() => this.watchRight(), MEMPOOL_LOOK_MS);
    this.look.unref();
    this.watchRight();
  }

  close(): void {
    this.take = null;
    if (this.look !== null) clearInterval(this.look);
    if (this.timer !== null) clearTimeout(this.timer);
    this.watching?.stop();
    this.watching = null;
    this.queue = [];
  }

  /** Watches what is followed now, if it is worth it. */
  private watchRight(): void {
    const { following } = this.store;
    const behind = following === null ? Number.POSITIVE_INFINITY : this.behind(following);
    if (this.watching !== null && (this.watching.following !== following || behind > MEMPOOL_BEHIND_BLOCKS_MAX)) {
      this.watching.stop();
      this.watching = null;
      this.push(RESET);
    }
    if (this.watching !== null || following === null || behind > READY_BLOCKS_BEHIND_MAX) return;
    const { mempool } = following.source;
    if (mempool === undefined) return;
    this.watching = { following, stop: mempool.watch((change) => this.push(change)) };
  }

  /** Blocks between us and the source's tip. A node that has not said where it is may be anywhere. */
  private behind({ progress, source }: FollowState): number {
    const { status } = source as { readonly status?: () => { readonly tip: { readonly height?: number } | null } };
    const tip = progress?.tip ?? (status === undefined ? null : status.call(source).tip);
    if (tip?.height === undefined) return status === undefined ? 0 : Number.POSITIVE_INFINITY;
    return tip.height - (this.store.fold.head?.height ?? -1);
  }

  private push(change: MempoolChange): void {
    // What was told before it is void, told or not.
    if (change.kind === 'reset') this.queue = [change];
    else if (change.kind === 'add') this.queue.push(...parcels(change.txs).map((txs) => ({ kind: 'add', txs }) as const));
    else this.queue.push(...parcels(change.ids).map((ids) => ({ ...change, ids })));
    this.later();
  }

  private later(): void {
    if (this.queue.length === 0 || this.isTaking || this.take === null) return;
    this.timer ??= setTimeout(() => this.send(), MEMPOOL_UPDATE_MS).unref();
  }

  private send(): void {
    this.timer = null;
    const { take } = this;
    if (take === null) return;
    this.isTaking = true;
    void take(this.nextParcel()).then(() => {
      this.isTaking = false;
      // What is waiting has waited long enough.
      if (this.queue.length > 0) this.send();
    });
  }

  private nextParcel(): readonly MempoolChange[] {
    let bytes = 0;
    let count = 0;
    while (count < this.queue.length && (count === 0 || bytes + sizeOf(this.queue[count]) <= MEMPOOL_UPDATE_BYTES_MAX))
      bytes += sizeOf(this.queue[count++]);
    return this.queue.splice(0, count);
  }
}

/** The same in runs of a bounded size each. */
function parcels(parts: readonly Uint8Array[]): Uint8Array[][] {
  const runs: Uint8Array[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    bytes += part.length;
    if (bytes > MEMPOOL_UPDATE_BYTES_MAX) {
      runs.push([]);
      bytes = part.length;
    }
    runs[runs.length - 1].push(part);
  }
  return runs;
}

function sizeOf(change: MempoolChange): number {
  if (change.kind === 'reset') return 0;
  const parts = change.kind === 'add' ? change.txs : change.ids;
  return parts.reduce((sum, part) => sum + part.length, 0);
}
