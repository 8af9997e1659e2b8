/**
 * Whether a prune pass may run at all, and up to which height. A gate that
 * cannot be evaluated is closed (F6); a closed gate costs one pass, an open one
 * at the wrong moment a parent that somebody needs (F7).
 */
import { heightAfter } from './heights.ts';

/** What the rest of the program says of the chain. */
export interface ChainConditions {
  readonly isIndexReady: boolean;
  readonly isReorganising: boolean;
  readonly isResetting: boolean;
  readonly isCatchingUp: boolean;
  readonly tipHeight: number;
  /** Up to this height every block is applied: all its transactions are set as mined. */
  readonly appliedHeight: number;
}

export type SkipReason =
  | 'height_zero'
  | 'disabled'
  | 'state_unknown'
  | 'index_not_ready'
  | 'reorganisation'
  | 'reset'
  | 'catch_up'
  | 'tip_below'
  | 'block_unfinished'
  | 'completed'
  | 'below_minimum';

export interface GateRequest {
  readonly height: number;
  readonly lastCompleted: number;
  readonly heightMin: number;
  /** False: a pass may run while the chain catches up. */
  readonly skipCatchUp: boolean;
}

/** The first gate that is closed; null: all are open. `conditions` null: nobody can say. */
export function closedGate(request: GateRequest, conditions: ChainConditions | null): SkipReason | null {
  if (request.height === 0) return 'height_zero';
  if (conditions === null) return 'state_unknown';
  if (!conditions.isIndexReady) return 'index_not_ready';
  if (conditions.isReorganising) return 'reorganisation';
  if (conditions.isResetting) return 'reset';
  if (conditions.isCatchingUp && request.skipCatchUp) return 'catch_up';
  if (conditions.tipHeight < request.height) return 'tip_below';
  if (conditions.appliedHeight < request.height) return 'block_unfinished';
  if (request.height <= request.lastCompleted) return 'completed';
  if (request.height < request.heightMin) return 'below_minimum';
  return null;
}

/**
 * H': consumers of the chain (an archive of blocks, a writer of snapshots) have persisted it up to some height, and may
 * need what was due within the retention after it. A consumer that says 0 limits nothing.
 */
export function allowedHeight(requested: number, persisted: readonly number[], retention: number): number {
  const limits = persisted.filter((height) => height > 0).map((height) => heightAfter(height, retention) ?? requested);
  return Math.min(requested, ...limits);
}
