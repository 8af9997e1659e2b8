/**
 * Makes overlays of earlier blocks that are not cached, in slices of the
 * request that asks first, and one at a time: while it is made, one may take
 * a hundred megabytes. If the client is gone, the work is dropped halfway.
 */
import type { Steps } from '../../util/steps.ts';
import type { Task } from '../http/work/task.ts';

export class PastMaker {
  private last: Promise<void> = Promise.resolve();

  /** Resolves when those before it and this one are made. Throws BUSY, or whatever making it throws. */
  async make(task: Task, steps: Steps<void>): Promise<void> {
    const before = this.last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.last = promise;
    await before;
    try {
      await task.inSlices(
        steps,
        () => true,
        () => undefined,
      );
    } finally {
      resolve();
    }
  }
}
