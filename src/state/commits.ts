/**
 * What a fold has committed, and what is on its way there: the next step goes on
 * from the newest step that was planned, the head is the newest that is written,
 * and a commit that fails takes those behind it along.
 */
import type { CommitsAhead } from '../engine/engine.ts';
import type { Head } from './head.ts';

/** Where a store is, as far as its next commit depends on it. */
export interface CommitState {
  readonly head: Head | null;
  /** As it is stored (`horizon.ts`); -1: none. */
  readonly horizonMark: number;
}

export class Commits {
  /** What the store has. */
  committed: CommitState;
  /** What it will have when all that is on its way is written. */
  planned: CommitState;
  /** Why the store lacks steps that were on their way; nobody was told yet. */
  private failure: Error | null = null;
  /** Who commits ahead, once there is somebody. */
  private writer: CommitsAhead | null = null;
  /** Written, and watchers are still to be told. */
  private readonly untold: (() => void)[] = [];
  private isTelling = false;

  private readonly read: () => CommitState;

  /** `read` tells where the store is, from its rows. */
  constructor(read: () => CommitState) {
    this.read = read;
    this.committed = read();
    this.planned = this.committed;
  }

  /** Written, with nothing on its way. */
  reached(place: CommitState): void {
    this.committed = place;
    this.planned = place;
  }

  /** Steps that go on from what is planned. */
  ahead<T>(writer: CommitsAhead, body: () => T): T {
    this.writer = writer;
    try {
      return writer.plan(body);
    } catch (error) {
      // What was read after a commit had failed is another state than the one that was planned on.
      this.throwFailure();
      throw error;
    }
  }

  /** A step that was planned is written, or failed. */
  landed(place: CommitState, tell: () => void, failure: Error | null): void {
    if (failure !== null) {
      this.failed(failure);
      return;
    }
    this.committed = place;
    this.untold.push(tell);
    // A watcher that reads may wait for the next steps: they are told after this one.
    if (this.isTelling) return;
    this.isTelling = true;
    for (let next = this.untold.shift(); next !== undefined; next = this.untold.shift()) this.tell(next);
    this.isTelling = false;
  }

  private failed(failure: Error): void {
    this.failure ??= failure;
    this.planned = this.committed;
    try {
      // A thread that ends in the middle of a commit does not say whether that was the last thing it did.
      this.reached(this.read());
    } catch {
      // Nothing can be read either: what is thrown already says why.
    }
  }

  /** What a watcher throws is thrown where a commit that failed is: nobody who calls is here. */
  private tell(told: () => void): void {
    try {
      told();
    } catch (error) {
      this.failure ??= error as Error;
    }
  }

  /** Returns when nothing is on its way. */
  settle(): void {
    this.writer?.settle();
    this.throwFailure();
  }

  /** Once for each. */
  throwFailure(): void {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw failure;
  }
}
