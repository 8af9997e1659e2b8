/**
 * Reading while the fold writes. Everybody who asks between two moves of the
 * store shares one query, that is, one snapshot; when the store has moved, the
 * next one to ask makes the next. An old snapshot goes with its last reader, so
 * a long answer stays at its point and a short one costs no snapshot at all.
 */
import type { Engine } from '../engine/engine.ts';
import type { OutputTraits } from '../ledgers/ledger.ts';
import { Overlays } from '../query/overlay.ts';
import { Query } from '../query/query.ts';
import { assert, UnspentError } from '../util/errors.ts';
import type { Lease, Reads } from './context.ts';

/** A query and how many hold it. */
class Shared {
  readonly query: Query;
  readonly #onReleased: () => void;
  #holders = 0;
  #old = false;

  constructor(query: Query, onReleased: () => void) {
    this.query = query;
    this.#onReleased = onReleased;
  }

  join(): void {
    this.#holders++;
  }

  leave(): void {
    this.#holders--;
    this.#releaseUnused();
  }

  /** The store has moved: nobody new gets this one. */
  retire(): void {
    this.#old = true;
    this.#releaseUnused();
  }

  #releaseUnused(): void {
    if (!this.#old || this.#holders > 0) return;
    this.query.release();
    this.#onReleased();
  }
}

class Held implements Lease {
  readonly query: Query;
  readonly #shared: Shared;
  #held = true;

  constructor(shared: Shared) {
    this.query = shared.query;
    this.#shared = shared;
    shared.join();
  }

  release(): void {
    assert(this.#held, 'a lease is released once');
    this.#held = false;
    this.#shared.leave();
  }
}

export class EngineReads implements Reads {
  readonly columns: readonly string[];
  readonly #engine: Engine;
  readonly #traits: OutputTraits | null;
  /** The pasts that were asked for last, whoever asks next. */
  readonly #overlays = new Overlays();
  readonly #listeners = new Set<() => void>();
  #snapshots = 0;
  #current: Shared | null = null;
  #closed = false;

  constructor(engine: Engine, traits: OutputTraits | null) {
    this.#engine = engine;
    this.#traits = traits;
    this.columns = engine.columns.map((column) => column.name);
  }

  lease(): Lease {
    if (this.#current === null) {
      if (this.#closed) throw new UnspentError('CLOSED', 'the store is closed');
      this.#current = this.#share();
    }
    return new Held(this.#current);
  }

  moved(): void {
    this.#retire();
    for (const listener of [...this.#listeners]) listener();
  }

  onMove(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  engine(column?: string): ReturnType<Reads['engine']> {
    if (column !== undefined && !this.columns.includes(column)) {
      throw new UnspentError('NOT_FOUND', `the store has no column '${column.slice(0, 60)}'; there are ${this.columns.join(', ')}`, {
        column,
      });
    }
    const { bytes, properties } = this.#engine.stats(column);
    return { bytes, properties };
  }

  /** Snapshots that are still open; none but the newest unless somebody is reading. */
  get snapshots(): number {
    return this.#snapshots;
  }

  /** No lease is given any more. The engine may be closed when all are released. */
  close(): void {
    this.#closed = true;
    this.#retire();
    this.#listeners.clear();
  }

  #share(): Shared {
    const query = new Query(this.#engine.snapshot(this.columns), this.columns, this.#traits, this.#overlays);
    this.#snapshots++;
    return new Shared(query, () => {
      this.#snapshots--;
    });
  }

  #retire(): void {
    const last = this.#current;
    this.#current = null;
    last?.retire();
  }
}
