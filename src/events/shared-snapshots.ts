/**
 * Snapshots of a store that several readers share. Everybody who asks between
 * two commits of the fold gets the same query, that is, the same snapshot; after
 * a commit the next one to ask makes a new one. A snapshot is released with its
 * last reader, so a long read stays at its block and a short one usually costs
 * no snapshot of its own.
 */
import type { Engine } from '../engine/engine.ts';
import { Overlays } from '../query/overlay.ts';
import { Query } from '../query/query.ts';
import type { OutputRules } from '../query/store-columns.ts';
import { assert, UnspentError } from '../util/errors.ts';

/** One reader's share of a query. Release it once. */
export interface Lease {
  readonly query: Query;
  /** A second lease of the same query, to be released on its own. */
  share(): Lease;
  release(): void;
}

export class SharedSnapshots {
  readonly columns: readonly string[];
  protected readonly engine: Engine;
  private readonly rules: OutputRules;
  private readonly overlays: Overlays;
  private readonly listeners = new Set<() => void>();
  private current: CountedQuery | null = null;
  private open = 0;
  private closed = false;

  /** `overlays`: the earlier states that were read last, shared by all queries of the store. */
  constructor(engine: Engine, rules: OutputRules, overlays: Overlays = new Overlays()) {
    this.engine = engine;
    this.rules = rules;
    this.overlays = overlays;
    this.columns = engine.columns.map((column) => column.name);
  }

  /** The state after the newest commit. Throws CLOSED. */
  lease(): Lease {
    if (this.current === null) {
      if (this.closed) throw new UnspentError('CLOSED', 'the store is closed');
      this.current = this.take();
    }
    return new CountedLease(this.current);
  }

  /**
   * The fold has committed: leases taken from now on get a new snapshot. Called by the first part of the program that
   * hears of the commit.
   */
  moved(): void {
    this.retire();
    for (const listener of [...this.listeners]) listener();
  }

  /** Called after each move, when the new state can be leased. Returns what ends it. */
  onMove(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Snapshots that are still open: only the newest, unless an older one is still read. */
  get snapshots(): number {
    return this.open;
  }

  /** No lease is given any more. The engine may be closed when all are released. */
  close(): void {
    this.closed = true;
    this.retire();
    this.listeners.clear();
  }

  private take(): CountedQuery {
    const query = new Query(this.engine.snapshot(this.columns), this.columns, this.rules, this.overlays);
    this.open++;
    return new CountedQuery(query, () => {
      this.open--;
    });
  }

  private retire(): void {
    const last = this.current;
    this.current = null;
    last?.retire();
  }
}

/** A query and how many leases of it there are. */
class CountedQuery {
  readonly query: Query;
  private readonly onReleased: () => void;
  private leases = 0;
  private isRetired = false;

  constructor(query: Query, onReleased: () => void) {
    this.query = query;
    this.onReleased = onReleased;
  }

  join(): void {
    this.leases++;
  }

  leave(): void {
    this.leases--;
    this.releaseUnused();
  }

  /** The store has moved: no new lease is of this snapshot. */
  retire(): void {
    this.isRetired = true;
    this.releaseUnused();
  }

  private releaseUnused(): void {
    if (!this.isRetired || this.leases > 0) return;
    this.query.release();
    this.onReleased();
  }
}

class CountedLease implements Lease {
  readonly query: Query;
  private readonly counted: CountedQuery;
  private isHeld = true;

  constructor(counted: CountedQuery) {
    this.query = counted.query;
    this.counted = counted;
    counted.join();
  }

  share(): Lease {
    assert(this.isHeld, 'a lease is shared before it is released');
    return new CountedLease(this.counted);
  }

  release(): void {
    assert(this.isHeld, 'a lease is released once');
    this.isHeld = false;
    this.counted.leave();
  }
}
