/**
 * What the server reads from: snapshots that requests share while the fold
 * writes (`events/shared-snapshots.ts`), and what the engine says about itself.
 */
import { SharedSnapshots } from '../events/shared-snapshots.ts';
import { UnspentError } from '../util/errors.ts';
import type { Reads } from './context.ts';

export class EngineReads extends SharedSnapshots implements Reads {
  engineStats(column?: string): ReturnType<Reads['engineStats']> {
    if (column !== undefined && !this.columns.includes(column)) {
      throw new UnspentError('NOT_FOUND', `the store has no column '${column.slice(0, 60)}'; there are ${this.columns.join(', ')}`, {
        column,
      });
    }
    const { bytes, properties } = this.engine.stats(column);
    return { bytes, properties };
  }
}
