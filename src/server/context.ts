/**
 * What every part of the server works with. It is made once, by whoever runs
 * the server: in the thread of the fold or in one of its own (`worker.ts`).
 */
import type { Config } from '../config/schema.ts';
import type { Lease } from '../events/shared-snapshots.ts';
import type { Network } from '../families/family.ts';
import type { PublishedCopy } from '../publish/remote/copy.ts';
import type { MempoolView } from '../query/mempool.ts';
import type { LedgerAnswers, LedgerQuestion } from '../sources/source.ts';
import type { Task } from './http/work/task.ts';
import type { Workload } from './http/work/workload.ts';
import type { FigureExchange } from './thread/figures.ts';
import type { LiveStatus, LiveTiming } from './thread/live.ts';

export interface Reads {
  /** The newest point, pinned. Cheap: while the store does not move, everybody gets the same query. */
  lease(): Lease;
  /**
   * A read, which changes nothing. Where the rows are elsewhere it is run again when they have come, and a promise is
   * given; `task`: whose turn that is. Here where they are at hand it is run once.
   */
  attempt<T>(read: () => T, task?: Task): T | Promise<T>;
  /** The store may be at another point now. Called by whoever hears of it first. */
  moved(): void;
  /** Called after each move, with the new lease still to be taken. */
  onMove(listener: () => void): () => void;
  /** What the engine says about itself, or about one column. */
  engineStats(column?: string): { readonly bytes: number; readonly properties: Readonly<Record<string, string>> };
  readonly columns: readonly string[];
}

export interface LiveFeed {
  readonly status: LiveStatus;
  onTimings(listener: (timings: readonly LiveTiming[]) => void): () => void;
}

/** A published copy, as far as the server tells of it. */
export type CopyView = Pick<PublishedCopy, 'head' | 'state' | 'figures'>;

export interface ServerContext {
  readonly network: Network;
  readonly config: Config;
  /** The directory of the store; absent: the store is elsewhere, and nothing is kept here. */
  readonly data?: string;
  /** Names of the projections the store keeps. */
  readonly projections: readonly string[];
  readonly reads: Reads;
  readonly live: LiveFeed;
  /** The published copy that is read from; absent: the store is open here. */
  readonly copy?: CopyView;
  /** How requests, over HTTP and Electrum, share the thread. */
  readonly workload: Workload;
  /** What the other server threads count; absent: this one serves alone. */
  readonly figures?: FigureExchange;
  /** What the node that is followed has in its mempool, at the newest point; null: none is kept. */
  readonly mempool: MempoolView | null;
  /** Hands a transaction to the node that is followed; its id. Throws TX_REFUSED, UNSUPPORTED where nothing is followed. */
  submit(raw: Uint8Array): Promise<Uint8Array>;
  /** What the node that is followed says of its ledger, at its newest block. Throws UNSUPPORTED where none is followed that answers, SOURCE_UNREACHABLE. */
  ledger(question?: LedgerQuestion): Promise<LedgerAnswers>;
}
