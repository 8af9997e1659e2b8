/**
 * The moments of a copy that readers hold, by number. The newest one follows the
 * published head; those before it live until they are released, or until there
 * are too many. A moment that the database has lost is taken again where the head
 * has not moved meanwhile: the same change is the same state. So a database that
 * was restarted between two blocks costs its readers a pause and nothing else.
 */
import { UnspentError } from '../../util/errors.ts';
import { COPY_MOMENT_MS, COPY_MOMENTS_MAX } from '../../util/limits.ts';
import type { CopyHead, RemoteSnapshot, RemoteStore } from './contract.ts';

/** Told of each newer change that can be read. */
type Pinned = (pin: number, snapshot: RemoteSnapshot) => void;

interface Moment {
  snapshot: RemoteSnapshot;
  takenAt: number;
}

export class Moments {
  private readonly store: Pick<RemoteStore, 'newest' | 'pin'>;
  private readonly onPinned: Pinned;
  private readonly moments = new Map<number, Moment>();
  private newest = 0;
  private looking: Promise<CopyHead> | null = null;
  private looksAgain = false;

  constructor(store: Pick<RemoteStore, 'newest' | 'pin'>, onPinned: Pinned) {
    this.store = store;
    this.onPinned = onPinned;
  }

  /** Held in the database. */
  get size(): number {
    return this.moments.size;
  }

  /** Looks where the head is, and takes its moment where it has moved. One look at a time; a call during one asks for another. */
  look(): Promise<CopyHead> {
    this.looksAgain = true;
    this.looking ??= this.lookAll().finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  private async lookAll(): Promise<CopyHead> {
    for (;;) {
      this.looksAgain = false;
      const head = await this.store.newest();
      if (!head.complete) throw new UnspentError('COPY_UNREADY', 'the copy is still being loaded by its publisher');
      if (this.needsMoment(head)) this.take(await this.store.pin());
      if (!this.looksAgain) return head;
    }
  }

  private needsMoment(head: CopyHead): boolean {
    const moment = this.moments.get(this.newest);
    if (moment === undefined || moment.snapshot.isLost || !isSame(moment.snapshot.head, head)) return true;
    // A transaction that stays open for hours keeps the server from cleaning up behind others.
    return performance.now() - moment.takenAt > COPY_MOMENT_MS;
  }

  private take(snapshot: RemoteSnapshot): void {
    if (!snapshot.head.complete) {
      snapshot.release();
      throw new UnspentError('COPY_UNREADY', 'the copy is still being loaded by its publisher');
    }
    const before = this.moments.get(this.newest);
    if (before !== undefined && isSame(before.snapshot.head, snapshot.head) && before.snapshot.identity === snapshot.identity) {
      const { snapshot: old } = before;
      before.snapshot = snapshot;
      before.takenAt = performance.now();
      old.release();
      return;
    }
    before?.snapshot.retire();
    this.newest++;
    this.moments.set(this.newest, { snapshot, takenAt: performance.now() });
    this.limit();
    this.onPinned(this.newest, snapshot);
  }

  /** The oldest go: what was still read of them is refused from here on. */
  private limit(): void {
    for (const pin of [...this.moments.keys()].slice(0, Math.max(0, this.moments.size - COPY_MOMENTS_MAX))) this.release(pin);
  }

  /** Throws COPY_MOVED where it is not held any more. */
  at(pin: number): RemoteSnapshot {
    const moment = this.moments.get(pin);
    if (moment === undefined || (moment.snapshot.isLost && pin !== this.newest))
      throw new UnspentError('COPY_MOVED', 'the copy is not held at the block of this answer any more');
    return moment.snapshot;
  }

  isNewest(pin: number): boolean {
    return pin === this.newest;
  }

  release(pin: number): void {
    const moment = this.moments.get(pin);
    this.moments.delete(pin);
    moment?.snapshot.release();
  }

  close(): void {
    for (const pin of [...this.moments.keys()]) this.release(pin);
  }
}

function isSame(a: CopyHead, b: CopyHead): boolean {
  return a.seq === b.seq && a.height === b.height && a.slot === b.slot;
}
