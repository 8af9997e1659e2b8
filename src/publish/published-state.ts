/**
 * The state that a copy is in, to be read: from the snapshot of the store that
 * the copy was brought up to, or where there is none (this publisher has just
 * begun), from the copy itself.
 */
import type { Reader, Snapshot } from '../engine/engine.ts';
import { assert } from '../util/errors.ts';
import type { ColumnChange } from './change.ts';
import { withFetchedRows } from './fetched-rows.ts';
import { RowOverlay } from './row-overlay.ts';
import type { PublishedRows } from './target.ts';

export interface PublishedState {
  /** `body` reads, changes nothing, and may be called many times. */
  read<T>(body: (reader: Reader) => T): Promise<T>;
  /** The copy has taken this in. */
  moved(changes: readonly ColumnChange[]): void;
  release(): void;
}

/** In the snapshot the block that the copy is at is the newest. */
export class HeldState implements PublishedState {
  private readonly snapshot: Snapshot;
  private readonly overlay: RowOverlay;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
    this.overlay = new RowOverlay(snapshot);
  }

  async read<T>(body: (reader: Reader) => T): Promise<T> {
    return body(this.overlay);
  }

  moved(changes: readonly ColumnChange[]): void {
    this.overlay.apply(changes);
  }

  release(): void {
    this.snapshot.release();
  }
}

export class RemoteState implements PublishedState {
  private readonly rows: PublishedRows | null;

  constructor(rows: PublishedRows | null) {
    this.rows = rows;
  }

  read<T>(body: (reader: Reader) => T): Promise<T> {
    assert(this.rows !== null, 'the copy can be read');
    return withFetchedRows(this.rows, body);
  }

  moved(): void {}

  release(): void {}
}
