/**
 * What the server reads from: snapshots that requests share while the fold
 * writes (`events/shared-snapshots.ts`), and what the engine says about itself.
 */
import { SharedSnapshots } from '../events/shared-snapshots.ts';
import type { Attempts, Turn } from '../publish/remote/attempts.ts';
import type { CopyEngine } from '../publish/remote/engine.ts';
import type { OutputRules } from '../query/store-columns.ts';
import { UnspentError } from '../util/errors.ts';
import type { Reads } from './context.ts';
import type { Task } from './http/work/task.ts';

export class EngineReads extends SharedSnapshots implements Reads {
  attempt<T>(read: () => T, _task?: Task): T | Promise<T> {
    return read();
  }

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

/** Of a published copy: reads wait for rows that are not here yet. */
export class CopyReads extends EngineReads {
  private readonly attempts: Attempts;

  constructor(engine: CopyEngine, rules: OutputRules) {
    super(engine, rules);
    this.attempts = engine.attempts;
  }

  override attempt<T>(read: () => T, task?: Task): T | Promise<T> {
    const again = (step: () => T | Promise<T>): T | Promise<T> => {
      task?.restart();
      return task === undefined ? step() : task.run(step);
    };
    return this.attempts.run(read, again as Turn);
  }
}
