/**
 * What the following side tells the serving side, which may run in another
 * thread: plain data only, nothing that could not be sent.
 */

import type { PublishReport } from '../../store/publishing.ts';
import type { WalletsReport } from '../../store/wallets-report.ts';
import type { TxsReport } from '../../txstore/chain/report.ts';

export interface LivePoint {
  readonly height: number;
  readonly slot: number;
  /** As people write it. */
  readonly hash: string;
}

export interface LiveRollback {
  /** Unix milliseconds. */
  readonly time: number;
  /** Null: the origin. */
  readonly to: LivePoint | null;
  readonly undone: number;
}

export interface LiveFill {
  readonly projection: string;
  /** Share of the unspent set done, 0 to 1. */
  readonly done: number;
}

/** The state of following, as of the last update. */
export interface LiveStatus {
  /** `idle`: nothing is followed, the store is only served. */
  readonly state: 'idle' | 'connecting' | 'following' | 'waiting' | 'stopped';
  readonly source: string | null;
  readonly peer: string | null;
  /** Of the protocol, such as `N2N 15`. */
  readonly version: string | null;
  readonly sourceTip: { readonly slot: number; readonly height: number | null } | null;
  /** Since the process started. */
  readonly blocks: number;
  readonly txs: number;
  readonly bytes: number;
  readonly created: number;
  readonly spent: number;
  readonly undone: number;
  readonly prunedKeys: number;
  readonly prunedDeltas: number;
  readonly queued: number;
  /** Newest last, a bounded number. */
  readonly rollbacks: readonly LiveRollback[];
  readonly fills: readonly LiveFill[];
  /** How the records of transactions are doing; null: none are kept. */
  readonly records: TxsReport | null;
  /** How publishing is doing; null: nothing is published from here. */
  readonly publishing: PublishReport | null;
  /** How the wallets beside the store are fed; null: none are. */
  readonly wallets: WalletsReport | null;
  readonly connectionsLost: number;
  /** Times since the last block that what the peer had sent was refused. */
  readonly refusals: number;
  readonly lastError: string | null;
}

/** One thing that took time. */
export interface LiveTiming {
  readonly what: 'apply' | 'rollback' | 'prune' | 'fill';
  readonly seconds: number;
  /** Blocks it covered. */
  readonly blocks: number;
}

/** One message: `moved` when the store is at another point than before. */
export interface LiveUpdate {
  readonly moved: boolean;
  readonly status: LiveStatus;
  /** Since the last message. */
  readonly timings: readonly LiveTiming[];
}

export const NOT_FOLLOWING: LiveStatus = {
  state: 'idle',
  source: null,
  peer: null,
  version: null,
  sourceTip: null,
  blocks: 0,
  txs: 0,
  bytes: 0,
  created: 0,
  spent: 0,
  undone: 0,
  prunedKeys: 0,
  prunedDeltas: 0,
  queued: 0,
  rollbacks: [],
  fills: [],
  records: null,
  publishing: null,
  wallets: null,
  connectionsLost: 0,
  refusals: 0,
  lastError: null,
};
