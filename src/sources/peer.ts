/**
 * The status of a source that is a connection to a node, for status, metrics
 * and the page.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { UnspentError } from '../util/errors.ts';
import type { Source, SourceTip } from './source.ts';

/** How a source that is a connection to a node fares. */
export interface PeerStatus {
  /** `waiting`: for the time to try again. */
  readonly state: 'connecting' | 'following' | 'waiting' | 'stopped';
  /** The node's address. */
  readonly peer: string;
  /** Of the protocol, such as `N2N 15` or `P2P 70016`; empty while not connected. */
  readonly version: string;
  /** The peer's newest block. */
  readonly tip: SourceTip | null;
  /** The block handed over last; null: none, the origin. */
  readonly at: Point | null;
  /** Blocks between that one and the peer's newest; null: unknown. */
  readonly lagBlocks: number | null;
  /** When it went back the last time, and to which point (null: the origin); null: never. */
  readonly lastRollback: { readonly time: number; readonly to: Point | null } | null;
  /** Connections made so far; 0: it was never connected. */
  readonly connections: number;
  /** Connections lost so far, and attempts that came to none. */
  readonly lost: number;
  /** Why the last one was lost; null: none was. */
  readonly lastError: UnspentError | null;
  /** How often since the last block we have ended a connection because of what the peer had sent. */
  readonly refusals: number;
}

/** Stays connected: a lost peer is tried again, the next one first where there are several. */
export interface NodeSource extends Source {
  status(): PeerStatus;
}
