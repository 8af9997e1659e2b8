/**
 * How many rows the writer has added to each column since the store was opened,
 * so that rows that are not in a table yet can be told: of a column RocksDB's
 * binding says nothing. In memory that all threads share, because readers in
 * other threads are asked too; only the writer writes.
 *
 * A column's part: rows added so far | checkpoints made | ring of checkpoints,
 * each the sequence number and the rows added up to there.
 */

/** Operations on a column between two checkpoints: how exactly the rows in memory are known. */
const CHECKPOINT_OPERATIONS = 256;
/** A memtable holds a few hundred thousand operations; beyond the ring's end, rows that are in tables are counted twice. */
const CHECKPOINTS = 1024;
const [ADDED, MADE, RING] = [0, 1, 2];
const COLUMN_NUMBERS = RING + 2 * CHECKPOINTS;

export class WriteCounters {
  readonly shared: SharedArrayBuffer;
  readonly #numbers: Float64Array;
  readonly #places: ReadonlyMap<string, number>;
  /** Of the writer, by column: operations since its last checkpoint. */
  readonly #since = new Map<string, number>();

  /** Without `shared` new ones, else those that another thread writes. */
  constructor(columns: readonly string[], shared?: SharedArrayBuffer) {
    this.shared = shared ?? new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT * COLUMN_NUMBERS * columns.length);
    this.#numbers = new Float64Array(this.shared);
    this.#places = new Map(columns.map((name, at) => [name, at * COLUMN_NUMBERS]));
  }

  /** A commit added so many rows (fewer than none: deleted) in so many operations. `sequence` tells its last sequence number. */
  add(column: string, rows: number, operations: number, sequence: () => number): void {
    const place = this.#placeOf(column);
    this.#numbers[place + ADDED] += rows;
    const since = (this.#since.get(column) ?? 0) + operations;
    this.#since.set(column, since < CHECKPOINT_OPERATIONS ? since : 0);
    if (since >= CHECKPOINT_OPERATIONS) this.#checkpoint(place, sequence());
  }

  /** All rows of the column were deleted at once. */
  cleared(column: string): void {
    this.#numbers.fill(0, this.#placeOf(column), this.#placeOf(column) + RING);
    this.#since.delete(column);
  }

  /** Rows added after the operation with that sequence number. */
  addedAfter(column: string, sequence: number): number {
    const place = this.#placeOf(column);
    const made = this.#numbers[place + MADE];
    for (let at = made - 1; at >= Math.max(0, made - CHECKPOINTS); at--) {
      const checkpoint = place + RING + 2 * (at % CHECKPOINTS);
      if (this.#numbers[checkpoint] <= sequence) return this.#numbers[place + ADDED] - this.#numbers[checkpoint + 1];
    }
    return this.#numbers[place + ADDED];
  }

  #checkpoint(place: number, sequence: number): void {
    const checkpoint = place + RING + 2 * (this.#numbers[place + MADE] % CHECKPOINTS);
    this.#numbers[checkpoint] = sequence;
    this.#numbers[checkpoint + 1] = this.#numbers[place + ADDED];
    this.#numbers[place + MADE]++;
  }

  #placeOf(column: string): number {
    return this.#places.get(column) ?? 0;
  }
}
