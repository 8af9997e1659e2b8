/**
 * A published copy, opened for reading: the link to its database, the engine
 * over it, and which published change is read. When a newer one is pinned, what
 * every reader of it needs first is fetched before anybody is told, so that
 * nobody waits for that.
 */
import type { Snapshot } from '../../engine/engine.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import type { PublishedIdentity } from '../identity.ts';
import type { CopyHead } from './contract.ts';
import { CopyEngine, PinnedRows } from './engine.ts';
import { parseIdentity } from './identity.ts';
import { CopyLink, type PinnedCopy } from './link.ts';
import type { CopyState } from './messages.ts';

export interface CopyFigures {
  /** Reads, how often they were repeated for rows that had to come, and how many were finished asleep. */
  readonly reads: number;
  readonly repeats: number;
  readonly finishedAsleep: number;
  /** Times that the thread slept for rows. */
  readonly sleeps: number;
  /** Messages to the thread that asks, statements of the database, and rows that came. */
  readonly fetches: number;
  readonly statements: number;
  readonly rows: number;
  readonly cacheBytes: number;
}

export interface CopyListener {
  /** Another change is read from now on. */
  onMove(): void;
  /** How the database is doing may be another than before. */
  onState?(): void;
  /** The copy cannot be read any more by this process: it has become another, or the thread has failed. */
  onEnd(error: Error): void;
}

/** What all readers of a change read first. */
export type Prepare = (snapshot: Snapshot) => void;

export class PublishedCopy {
  readonly engine: CopyEngine;
  readonly identity: PublishedIdentity;
  private readonly link: CopyLink;
  private readonly document: string;
  private readonly events: LinkEvents;
  private prepare: Prepare = () => undefined;
  private listener: CopyListener = { onMove: () => undefined, onEnd: () => undefined };
  /** The newest that was pinned, while one before it is being prepared. */
  private next: PinnedRows | null = null;
  private isPreparing = false;

  private constructor(link: CopyLink, events: LinkEvents, { pin, head, identity }: PinnedCopy) {
    this.link = link;
    this.events = events;
    this.document = identity;
    this.identity = parseIdentity(identity);
    this.engine = new CopyEngine(link, this.identity.columns, this.rowsOf(pin, head));
  }

  /** Throws USAGE, COPY_UNREACHABLE, COPY_UNREADY, STORE_SCHEMA. */
  static async open(url: string): Promise<PublishedCopy> {
    const events = new LinkEvents();
    const link = new CopyLink(url, events);
    try {
      return new PublishedCopy(link, events, await events.first);
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  /** From now on changes are followed. */
  async follow(prepare: Prepare, listener: CopyListener): Promise<void> {
    this.prepare = prepare;
    await this.prepared(this.engine.snapshot());
    this.listener = listener;
    this.events.follow({
      onPinned: (pinned) => this.pinned(pinned),
      onState: () => this.onState(),
      onFailure: (error) => this.listener.onEnd(error),
    });
  }

  /** How the database is doing; null: not told yet. */
  get state(): CopyState | null {
    return this.events.state;
  }

  /** The change that is read. */
  get head(): CopyHead {
    return this.engine.head;
  }

  get figures(): CopyFigures {
    const { reads, repeats, given } = this.engine.attempts.counts;
    const { sleeps, fetches } = this.link;
    const { fetchedRows: rows, cachedBytes: cacheBytes } = this.engine;
    const statements = this.state?.statements ?? 0;
    return { reads, repeats, finishedAsleep: given, sleeps, fetches, statements, rows, cacheBytes };
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private rowsOf(pin: number, head: CopyHead): PinnedRows {
    return new PinnedRows(pin, head, () => this.link.release(pin));
  }

  private onState(): void {
    this.engine.sizes = this.state?.sizes ?? {};
    this.listener.onState?.();
  }

  private pinned({ pin, head, identity }: PinnedCopy): void {
    if (identity !== this.document) {
      this.listener.onEnd(
        new UnspentError('COPY_MOVED', 'the copy is of a store with other columns or settings now: start the reader again'),
      );
      return;
    }
    this.next?.retire();
    this.next = this.rowsOf(pin, head);
    if (!this.isPreparing) void this.advance();
  }

  private async advance(): Promise<void> {
    this.isPreparing = true;
    while (this.next !== null) {
      const to = this.next;
      this.next = null;
      try {
        await this.prepared(this.engine.snapshotOf(to));
      } catch (error) {
        // The next look of the thread tells of the next change, or that the database is gone; this one is passed over.
        to.retire();
        if (isUnspentError(error)) continue;
        this.listener.onEnd(error as Error);
        break;
      }
      this.engine.advance(to);
      this.listener.onMove();
    }
    this.isPreparing = false;
  }

  private async prepared(snapshot: Snapshot): Promise<void> {
    try {
      await this.engine.attempts.run(() => this.prepare(snapshot));
    } finally {
      snapshot.release();
    }
  }
}

/** What the link tells, from before there is somebody to tell it to. */
class LinkEvents {
  readonly first: Promise<PinnedCopy>;
  state: CopyState | null = null;
  private begin: { resolve(pinned: PinnedCopy): void; reject(error: Error): void } | null;
  private waiting: PinnedCopy | null = null;
  private failure: Error | null = null;
  private told: ConstructorParameters<typeof CopyLink>[1] | null = null;

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<PinnedCopy>();
    this.first = promise;
    this.begin = { resolve, reject };
  }

  follow(told: ConstructorParameters<typeof CopyLink>[1]): void {
    this.told = told;
    if (this.waiting !== null) told.onPinned(this.waiting);
    if (this.failure !== null) told.onFailure(this.failure);
    told.onState(this.state as CopyState);
  }

  onPinned(pinned: PinnedCopy): void {
    if (this.begin !== null) {
      this.begin.resolve(pinned);
      this.begin = null;
    } else if (this.told !== null) this.told.onPinned(pinned);
    else this.waiting = pinned;
  }

  onState(state: CopyState): void {
    this.state = state;
    this.told?.onState(state);
  }

  onFailure(error: Error): void {
    this.failure = error;
    this.begin?.reject(error);
    this.begin = null;
    this.told?.onFailure(error);
  }
}
