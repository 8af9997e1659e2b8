/**
 * What a source that is a connection to a node tells of that connection, for
 * whoever shows it.
 */
import type { Point } from '../ledgers/ledger.ts';
import type { UnspentError } from '../util/errors.ts';
import type { Source, SourceTip } from './source.ts';

export interface PeerStatus {
  readonly state: 'connecting' | 'following' | 'waiting' | 'stopped';
  readonly peer: string;
  /** Of the protocol, such as `N2N 15` or `P2P 70016`; empty while not connected. */
  readonly version: string;
  /** The peer's newest block. */
  readonly tip: SourceTip | null;
  /** The block handed over last; null: none, the origin. */
  readonly at: Point | null;
  readonly lagBlocks: number | null;
  /** When, and to which point (null: the origin). */
  readonly lastRollback: { readonly time: number; readonly to: Point | null } | null;
  /** Connections lost so far, and why the last one was. */
  readonly lost: number;
  readonly lastError: UnspentError | null;
  /** How often since the last block we have ended a connection because of what the peer had sent. */
  readonly refusals: number;
}

/** Stays connected: a lost peer is tried again, the next one first where there are several. */
export interface NodeSource extends Source {
  status(): PeerStatus;
}
