/**
 * Publishing in a thread of its own, seen from the thread of the fold: however
 * far it falls behind, the fold does not wait for it. They share the open
 * database; the thread ends before the engine does.
 */
import { Worker } from 'node:worker_threads';
import type { ColumnSpec } from '../../engine/engine.ts';
import type { EngineHandle, OwnedEngine } from '../../engine/open.ts';
import type { FoldWatcher } from '../../state/fold.ts';
import type { Publishing, PublishReport } from '../../store/publishing.ts';
import type { OpenStore } from '../../store/store.ts';
import { UnspentError } from '../../util/errors.ts';
import { errorOf, type Failure } from '../../util/failure.ts';
import { type PublishedParts, publishedParts } from '../of-store.ts';
import type { CopyTarget } from '../target.ts';

/** What the thread is given. */
export interface PublishThreadData extends PublishedParts {
  readonly handle: EngineHandle;
  readonly columns: readonly ColumnSpec[];
  readonly to: string;
  readonly form: CopyTarget['form'];
}

/** To the thread. */
export type PublishOrder = 'moved' | 'close';

/** From the thread. */
export type PublishNews =
  | { readonly kind: 'report'; readonly report: PublishReport }
  | { readonly kind: 'failed'; readonly failure: Failure };

export class PublishThread implements Publishing {
  /** Resolves when it has ended as it was told to; rejects when it failed. */
  readonly ended: Promise<void>;
  private readonly worker: Worker;
  private readonly store: OpenStore;
  private readonly watcher: FoldWatcher;
  /** What it has said last. */
  private last: PublishReport;
  private isTold = false;
  private isClosing = false;

  constructor(store: OpenStore, to: string, form: CopyTarget['form'], first: PublishReport) {
    const { handle } = store.engine as Partial<OwnedEngine>;
    if (handle === undefined)
      throw new UnspentError('UNSUPPORTED', "an engine of the program's own cannot be published from another thread");
    this.store = store;
    this.last = first;
    const workerData: PublishThreadData = { ...publishedParts(store), handle, columns: store.engine.columns, to, form };
    const file = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
    this.worker = new Worker(new URL(file, import.meta.url), { workerData, name: 'unspent publish' });
    let failure: Error | null = null;
    this.ended = new Promise((resolve, reject) => {
      this.worker.on('message', (news: PublishNews) => {
        if (news.kind === 'report') this.last = news.report;
        else failure = errorOf(news.failure);
      });
      this.worker.once('error', (error) => {
        failure = error instanceof Error ? error : new Error(String(error));
      });
      this.worker.once('exit', () =>
        failure === null && this.isClosing ? resolve() : reject(failure ?? new Error('the publishing thread ended')),
      );
    });
    // Whoever closes the store need not ask why it ended.
    this.ended.catch(() => undefined);
    const moved = (): void => this.moved();
    this.watcher = { applied: moved, rolledBack: moved, pruned: moved, filled: moved };
    store.fold.watchers.add(this.watcher);
    store.readers.add(this);
    store.publishing = this;
  }

  /** How far behind the copy is, also when the thread has ended. */
  get report(): PublishReport {
    const { head } = this.store.fold;
    return { ...this.last, lag: Math.max(0, (head?.height ?? -1) - (this.last.height ?? -1)) };
  }

  /** Many commits of one turn are one message. */
  private moved(): void {
    if (this.isTold) return;
    this.isTold = true;
    setImmediate(() => {
      this.isTold = false;
      this.worker.postMessage('moved' satisfies PublishOrder);
    });
  }

  /** When it resolves, nothing over there reads the store any more. */
  async close(): Promise<void> {
    this.store.fold.watchers.delete(this.watcher);
    if (!this.isClosing) this.worker.postMessage('close' satisfies PublishOrder);
    this.isClosing = true;
    await this.ended.catch(() => undefined);
    this.store.readers.delete(this);
  }
}
