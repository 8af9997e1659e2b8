/**
 * The readers of one store's events: what they share, how they hear of commits,
 * and that all of them end when the store closes.
 */

import type { Dialect } from '../query/dialect.ts';
import type { Overlays } from '../query/overlay.ts';
import type { OutputRules } from '../query/store-columns.ts';
import type { Fold } from '../state/fold.ts';
import { SharedSnapshots } from './shared-snapshots.ts';
import { type EventForm, StoreEvents, type StoreEventsOptions } from './store-events.ts';

export class EventReaders {
  private readonly fold: Fold;
  private readonly dialect: Pick<Dialect, 'parseId'>;
  private readonly snapshots: SharedSnapshots;
  private readonly open = new Set<StoreEvents<unknown>>();

  constructor(fold: Fold, rules: OutputRules, dialect: Pick<Dialect, 'parseId'>, overlays?: Overlays) {
    this.fold = fold;
    this.dialect = dialect;
    this.snapshots = new SharedSnapshots(fold.engine, rules, overlays);
    const moved = (): void => this.snapshots.moved();
    fold.watchers.add({ applied: moved, rolledBack: moved });
  }

  /** Throws USAGE, EXPIRED, UNSUPPORTED where the store keeps no outputs, CLOSED. */
  read<E>(options: StoreEventsOptions, form: EventForm<E>): StoreEvents<E> {
    const { snapshots, dialect, fold } = this;
    const events: StoreEvents<E> = new StoreEvents({ snapshots, dialect, windows: fold.options }, options, form, () =>
      this.open.delete(events),
    );
    this.open.add(events);
    return events;
  }

  /** Snapshots that are held for them. */
  get heldSnapshots(): number {
    return this.snapshots.snapshots;
  }

  /** Every reader is told that it is over, and nothing is held any more. */
  close(): void {
    for (const events of [...this.open]) events.end();
    this.snapshots.close();
  }
}
