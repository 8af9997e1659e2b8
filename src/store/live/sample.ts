/**
 * What a store does at one moment, as plain data: what `status --watch` shows
 * and, a line each, prints. Whoever has the store open makes it, about once a
 * second, for its own terminal or for another process that watches.
 */

import type { PublishingStatus } from '../publishing.ts';

/** A block of the newest ones. */
export interface RecentBlock {
  readonly height: number;
  readonly txs: number;
  readonly bytes: number;
}

export interface LiveSample {
  /** ISO 8601. */
  readonly time: string;
  readonly data: string;
  readonly network: string;
  /** Who has the store open; null: nobody. */
  readonly process: {
    readonly id: number;
    readonly holder: string;
    readonly since: string;
    /** Where it serves the store; null: nowhere. */
    readonly url: string | null;
    readonly memoryBytes: number;
  } | null;
  /** `closed`: nobody has it open; `idle`: nothing is followed; `waiting`: for the time to try a node again. */
  readonly state: 'closed' | 'idle' | 'connecting' | 'following' | 'waiting' | 'stopped';
  readonly source: string | null;
  /** Of a source that is a connection to a node. */
  readonly peer: { readonly url: string; readonly version: string; readonly connections: number; readonly lastError: string | null } | null;
  /** The newest block; null: none yet. */
  readonly tip: { readonly height: number; readonly slot: number; readonly hash: string; readonly time: string | null } | null;
  /** The newest block the source knows of. */
  readonly sourceTip: { readonly height: number | null; readonly slot: number } | null;
  /** Null: unknown, or nothing is followed. */
  readonly lagBlocks: number | null;
  readonly lagSeconds: number | null;
  /** Over the last seconds. */
  readonly blocksPerSecond: number;
  readonly bytesPerSecond: number;
  /** When the newest block came; null: none has since the store was opened. */
  readonly lastBlockAt: string | null;
  /** Between two of the newest blocks: as they came or, where few have, by the chain's own time; null: unknown. */
  readonly secondsPerBlock: number | null;
  /** Null: none are kept. */
  readonly utxos: number | null;
  /** Their sum, in words of the family. */
  readonly unspent: string;
  /** Null: the origin. */
  readonly horizon: { readonly height: number; readonly slot: number } | null;
  /** Since the process has the store open. */
  readonly rollbacks: number;
  readonly lastRollback: { readonly time: string; readonly undone: number; readonly height: number | null } | null;
  readonly fills: readonly { readonly projection: string; readonly done: number }[];
  readonly diskBytes: number;
  /** The copy that is published from here; null: none. */
  readonly publishing: PublishingStatus | null;
  /** Newest last. */
  readonly recent: readonly RecentBlock[];
}
