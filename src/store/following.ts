/**
 * How a store is told to follow a source and to fill what was switched on, and
 * what it tells of that while it does.
 */
import type { FollowFoldOptions, FollowProgress } from '../sources/follow.ts';
import type { Source } from '../sources/source.ts';
import type { FillLimits, FillProgress } from '../state/fill.ts';

export interface FillSettings {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((fills: readonly FillProgress[]) => void) | undefined;
  /** After each step, with what it took and the outputs it went through. */
  readonly onStep?: ((seconds: number, rows: number) => void) | undefined;
  /** Of one step. Default: some milliseconds of work. */
  readonly limits?: FillLimits | undefined;
}

export interface FollowSettings {
  readonly until?: FollowFoldOptions['until'];
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: FollowFoldOptions['onProgress'];
  readonly onRollback?: FollowFoldOptions['onRollback'];
  /** Of the fill beside it, where something was switched on. */
  readonly onFill?: FillSettings['onProgress'];
  readonly onFillStep?: FillSettings['onStep'];
}

/** What is being followed, and how far that has come. */
export interface FollowState {
  readonly source: Source;
  progress: FollowProgress | null;
}
