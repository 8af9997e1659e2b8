/** The settings of prune passes, with what they are where nobody says. */
import {
  PRUNE_CHILD_BATCH,
  PRUNE_CHILD_READ_MS,
  PRUNE_CHILD_RETRIES,
  PRUNE_CHUNK_PARENTS,
  PRUNE_PARALLEL_CHUNKS,
  PRUNE_PASS_MS,
} from '../../util/limits.ts';

export interface PassSettings {
  readonly chunkParents: number;
  readonly childBatch: number;
  readonly childRetries: number;
  readonly childReadMs: number;
  readonly parallelChunks: number;
  readonly passMs: number;
  readonly heightMin: number;
  readonly skipCatchUp: boolean;
  /** Counts what would be deleted, and changes nothing. */
  readonly dryRun: boolean;
  /** Before each pass, the parents of records that are unmined for half the retention are preserved for so many blocks; 0: not. */
  readonly preserveParentsBlocks: number;
}

export const PRUNE_DEFAULTS: PassSettings = {
  chunkParents: PRUNE_CHUNK_PARENTS,
  childBatch: PRUNE_CHILD_BATCH,
  childRetries: PRUNE_CHILD_RETRIES,
  childReadMs: PRUNE_CHILD_READ_MS,
  parallelChunks: PRUNE_PARALLEL_CHUNKS,
  passMs: PRUNE_PASS_MS,
  heightMin: 0,
  skipCatchUp: true,
  dryRun: false,
  preserveParentsBlocks: 0,
};
