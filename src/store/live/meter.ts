/**
 * Measures an open store for who watches it: rates over the last seconds,
 * rollbacks since it was opened, the newest blocks. It listens to the fold,
 * reads a few rows when it is asked, and keeps nothing on disk.
 */
import type { Point } from '../../ledgers/ledger.ts';
import { bareCoins } from '../../query/amounts.ts';
import type { PeerStatus } from '../../sources/peer.ts';
import type { AppliedCounts, FoldWatcher } from '../../state/fold.ts';
import { LIVE_DISK_MS, LIVE_RATE_MS, LIVE_RECENT_BLOCKS } from '../../util/limits.ts';
import { withoutSecret } from '../../util/secret.ts';
import { publishingStatus } from '../publishing.ts';
import type { OpenStore } from '../store.ts';
import type { LiveSample, RecentBlock } from './sample.ts';

interface Mark {
  readonly at: number;
  readonly blocks: number;
  readonly bytes: number;
}

/** Arrivals of blocks that a pace is taken from. */
const ARRIVALS = 20;

/** Who has the store open, as it calls itself. */
export interface LiveHolder {
  readonly holder: string;
  readonly since: string;
}

export class LiveMeter implements FoldWatcher {
  private readonly store: OpenStore;
  /** Null: the store was only opened to be looked at. */
  private readonly holder: LiveHolder | null;
  private blocks = 0;
  private marks: Mark[] = [];
  private lastBlockAt: number | null = null;
  /** When the newest blocks came that came one by one. */
  private arrivals: readonly number[] = [];
  private rollbacks = 0;
  private lastRollback: LiveSample['lastRollback'] = null;
  private disk = { at: Number.NEGATIVE_INFINITY, bytes: 0 };
  private recent: {
    readonly hash: Uint8Array | null;
    readonly blocks: readonly RecentBlock[];
    readonly secondsPerBlock: number | null;
  } | null = null;

  constructor(store: OpenStore, holder: LiveHolder | null) {
    this.store = store;
    this.holder = holder;
    store.fold.watchers.add(this);
    this.mark();
  }

  close(): void {
    this.store.fold.watchers.delete(this);
  }

  applied({ blocks }: AppliedCounts): void {
    this.blocks += blocks;
    this.lastBlockAt = Date.now();
    this.arrivals = blocks === 1 ? [...this.arrivals, this.lastBlockAt].slice(-ARRIVALS) : [];
    this.mark();
  }

  rolledBack(to: Point | null, undone: number): void {
    this.rollbacks++;
    this.lastRollback = { time: isoTime(Date.now()), undone, height: to?.height ?? null };
  }

  sample(): LiveSample {
    const { store } = this;
    const { head } = store.fold;
    const { dialect, name } = store.network;
    const { source, peer, state, tip } = this.following();
    const row = head === null ? null : store.fold.rowAt(head.height);
    const time = head === null ? null : dialect.clock.time(head.slot, row);
    const theirs = tip === null ? null : dialect.clock.time(tip.slot, null);
    const horizon = store.horizon();
    const totals = store.totals();
    this.mark();
    return {
      time: isoTime(Date.now()),
      data: store.data,
      network: name,
      process: this.process(),
      state,
      source,
      peer,
      tip:
        head === null ? null : { ...placeOf(head), hash: dialect.formatId(head.hash), time: time === null ? null : isoTime(1000 * time) },
      sourceTip: tip === null ? null : { height: tip.height ?? null, slot: tip.slot },
      lagBlocks: tip?.height === undefined ? null : Math.max(0, tip.height - (head?.height ?? -1)),
      lagSeconds: theirs === null || time === null ? null : Math.max(0, theirs - time),
      ...this.rates(),
      ...this.newest(),
      lastBlockAt: this.lastBlockAt === null ? null : isoTime(this.lastBlockAt),
      utxos: totals?.utxos ?? null,
      unspent: totals === null ? '' : `${bareCoins(totals.value, dialect.currency)} ${dialect.currency.name}`,
      horizon: horizon === null ? null : placeOf(horizon),
      rollbacks: this.rollbacks,
      lastRollback: this.lastRollback,
      fills: store.fills().map(({ projection, done }) => ({ projection, done })),
      diskBytes: this.diskBytes(),
      publishing: publishingStatus(store.publishing),
    };
  }

  private process(): LiveSample['process'] {
    if (this.holder === null) return null;
    const { holder, since } = this.holder;
    const url = [...this.store.readers].find((reader) => reader.url !== undefined)?.url ?? null;
    return { id: process.pid, holder, since, url, memoryBytes: process.memoryUsage.rss() };
  }

  private following(): Pick<LiveSample, 'source' | 'peer' | 'state'> & { readonly tip: { slot: number; height?: number } | null } {
    const { following, followFailure } = this.store;
    if (following === null) {
      const state = this.holder === null ? 'closed' : followFailure === null ? 'idle' : 'stopped';
      return { source: null, peer: null, state, tip: null };
    }
    const { source, progress } = following;
    const status = (source as { readonly status?: () => PeerStatus }).status?.call(source) ?? null;
    const peer =
      status === null
        ? null
        : {
            url: withoutSecret(status.peer),
            version: status.version,
            connections: status.connections,
            lastError: status.state === 'following' ? null : (status.lastError?.message ?? null),
          };
    return { source: withoutSecret(source.name), peer, state: status?.state ?? 'following', tip: progress?.tip ?? status?.tip ?? null };
  }

  private mark(): void {
    const at = performance.now();
    this.marks.push({ at, blocks: this.blocks, bytes: this.store.following?.progress?.bytes ?? 0 });
    // What lies between two marks a moment apart says nothing: the older of them goes.
    while (this.marks.length > 2 && (at - this.marks[1].at > LIVE_RATE_MS || this.marks.length > 2000)) this.marks.shift();
  }

  private rates(): Pick<LiveSample, 'blocksPerSecond' | 'bytesPerSecond'> {
    const [first, last] = [this.marks[0], this.marks[this.marks.length - 1]];
    const seconds = Math.max(1, (last.at - first.at) / 1000);
    return {
      blocksPerSecond: (last.blocks - first.blocks) / seconds,
      bytesPerSecond: Math.max(0, last.bytes - first.bytes) / seconds,
    };
  }

  /** Read again when the store has moved. */
  private newest(): Pick<LiveSample, 'recent' | 'secondsPerBlock'> {
    const { fold, network } = this.store;
    const hash = fold.head?.hash ?? null;
    if (this.recent === null || this.recent.hash !== hash) {
      const top = fold.head?.height ?? -1;
      const rows = Array.from({ length: LIVE_RECENT_BLOCKS }, (_, back) => (top < back ? null : fold.rowAt(top - back)))
        .filter((row) => row !== null)
        .reverse();
      const [first, last] = [rows[0], rows[rows.length - 1]].map((row) =>
        row === undefined ? null : network.dialect.clock.time(row.slot, row),
      );
      const secondsPerBlock = rows.length < 2 || first === null || last === null ? null : (last - first) / (rows.length - 1);
      this.recent = { hash, secondsPerBlock, blocks: rows.map(({ height, txCount, size }) => ({ height, txs: txCount, bytes: size })) };
    }
    const { arrivals } = this;
    const seen = arrivals.length < 3 ? null : (arrivals[arrivals.length - 1] - arrivals[0]) / 1000 / (arrivals.length - 1);
    return { recent: this.recent.blocks, secondsPerBlock: seen ?? this.recent.secondsPerBlock };
  }

  private diskBytes(): number {
    const at = performance.now();
    if (at - this.disk.at > LIVE_DISK_MS) this.disk = { at, bytes: this.store.engine.stats().bytes };
    return this.disk.bytes;
  }
}

function placeOf({ height, slot }: Pick<Point, 'height' | 'slot'>): { readonly height: number; readonly slot: number } {
  return { height, slot };
}

function isoTime(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
