/**
 * An engine whose commits ahead take their time: what was handed over lands when
 * somebody waits, or some calls later, as a random number says. So a fold that
 * goes on before its commits are there can be tried without a thread, the same
 * way each time, and made to fail.
 */
import { Random } from '../../src/chains/random.ts';
import type { Batch, ColumnSpec, CommitsAhead, Engine, EngineStats, Landed, Row, ScanOptions, Snapshot } from '../../src/engine/engine.ts';
import { toHex } from '../../src/util/bytes.ts';
import { assert } from '../../src/util/errors.ts';

interface Operation {
  readonly column: string;
  readonly key: Uint8Array;
  /** Null: deleted. */
  readonly value: Uint8Array | null;
}

interface Flight {
  readonly operations: readonly Operation[];
  readonly landed: Landed;
  readonly generation: number;
}

const FLIGHTS_MAX = 3;

export class DelayedEngine implements Engine {
  /** How many commits were handed over, and how many lookups found what was on its way. */
  readonly counts = { handed: 0, found: 0 };
  /** The next commit that lands fails with it. */
  failure: Error | null = null;
  private readonly inner: Engine;
  private readonly random: Random;
  private readonly flights: Flight[] = [];
  private isPlanning = false;
  private generation = 0;

  constructor(inner: Engine, seed: number) {
    this.inner = inner;
    this.random = new Random(seed, 17);
  }

  get columns(): readonly ColumnSpec[] {
    return this.inner.columns;
  }

  /** What was handed over and has not landed. */
  get onTheirWay(): number {
    return this.flights.length;
  }

  ahead(): CommitsAhead | null {
    // As while the thread starts, or where there is none.
    if (this.random.chance(0.1)) return null;
    return { plan: (body) => this.plan(body), batch: (landed) => this.delayed(landed), settle: () => this.settle() };
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(column, [key])[0];
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (!this.isPlanning) this.settle();
    return keys.map((key) => {
      const found = this.onItsWay(column, toHex(key));
      if (found === undefined) return this.inner.get(column, key);
      this.counts.found++;
      return found.value?.slice();
    });
  }

  *scan(column: string, options?: ScanOptions): Generator<Row, void, void> {
    this.settle();
    yield* this.inner.scan(column, options);
  }

  batch(): Batch {
    this.settle();
    return this.inner.batch();
  }

  snapshot(columns: readonly string[]): Snapshot {
    this.settle();
    return this.inner.snapshot(columns);
  }

  clear(column: string): void {
    this.settle();
    this.inner.clear(column);
  }

  stats(column?: string): EngineStats {
    this.settle();
    return this.inner.stats(column);
  }

  async close(): Promise<void> {
    this.settle();
    await this.inner.close();
  }

  /** As a turn of the event loop in which the oldest is heard of. */
  landOne(): void {
    const flight = this.flights.shift();
    if (flight === undefined) return;
    const { failure } = this;
    if (failure === null && flight.generation === this.generation) {
      const batch = this.inner.batch();
      for (const { column, key, value } of flight.operations) {
        if (value === null) batch.del(column, key);
        else batch.put(column, key, value);
      }
      batch.commit();
      this.tell(() => flight.landed(null));
      return;
    }
    if (flight.generation === this.generation) this.generation++;
    this.failure = null;
    const failed = [flight, ...this.flights.splice(0)];
    for (const each of failed) this.tell(() => each.landed(failure ?? new Error('one before it was not written')));
  }

  private tell(told: () => void): void {
    const before = this.isPlanning;
    this.isPlanning = false;
    try {
      told();
    } finally {
      this.isPlanning = before;
    }
  }

  private onItsWay(column: string, key: string): Operation | undefined {
    for (const { operations } of this.flights.toReversed()) {
      const found = operations.findLast((each) => each.column === column && toHex(each.key) === key);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private plan<T>(body: () => T): T {
    this.isPlanning = true;
    try {
      return body();
    } finally {
      this.isPlanning = false;
    }
  }

  private settle(): void {
    while (this.flights.length > 0) this.landOne();
  }

  private delayed(landed: Landed): Batch {
    const { generation } = this;
    const operations: Operation[] = [];
    return {
      put: (column, key, value) => operations.push({ column, key: key.slice(), value: value.slice() }),
      del: (column, key) => operations.push({ column, key: key.slice(), value: null }),
      get size() {
        return operations.length;
      },
      clear: () => {
        operations.length = 0;
      },
      commit: () => {
        assert(this.isPlanning, 'a step is handed over where it was planned');
        while (this.flights.length >= FLIGHTS_MAX || (this.flights.length > 0 && this.random.chance(0.3))) this.landOne();
        if (generation !== this.generation) throw new Error('one before it was not written');
        this.counts.handed++;
        this.flights.push({ operations: [...operations], landed, generation });
      },
    };
  }
}
