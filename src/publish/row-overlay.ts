/**
 * A reader with changes on top of another: the state after them, while what is
 * below stays as it is. So blocks are undone one after the other over a snapshot
 * that nobody writes to. Rows that were read below by their keys are remembered:
 * what undoing a block reads is what it changes.
 */
import type { Batch, Reader, Row, ScanOptions } from '../engine/engine.ts';
import { compareBytes } from '../util/bytes.ts';
import { copied } from '../util/slab.ts';
import { type ColumnChange, ColumnChanges } from './change.ts';
import { NumberedKeys } from './numbered-keys.ts';

/** Null: there is no such row; undefined: nothing is known here. */
export type KnownValue = Uint8Array | null | undefined;

/** Rows of a column, by their numbers in `table`. */
export interface ColumnOverlay {
  readonly column: string;
  readonly table: NumberedKeys;
  /** What is on top; undefined: the row is as it is below. */
  readonly top: KnownValue[];
  /** What was read below. */
  readonly below: KnownValue[];
  /** Of those that have been on top: the last step that did. */
  readonly steps: number[];
  /** Those on top from the last to the first, from the first scan on: undoing blocks adds keys below those before, and that is its end. */
  sorted: number[] | null;
}

export class RowOverlay implements Reader {
  readonly below: Reader;
  private readonly columns = new Map<string, ColumnOverlay>();
  private steps = 0;
  /** Of keys and values that are held. */
  bytes = 0;

  constructor(below: Reader) {
    this.below = below;
  }

  apply(changes: readonly ColumnChange[]): void {
    const step = new OverlayStep(this);
    for (const { column, puts, deletes } of changes) {
      for (const [key, value] of puts) step.put(column, key, value);
      for (const key of deletes) step.del(column, key);
    }
    this.take(step);
  }

  /** Returns the rows that the step touches, as they were on top before it. */
  take({ operations }: OverlayStep): TouchedColumn[] {
    const step = ++this.steps;
    return Array.from(operations.values(), ({ overlay, numbers, values }) => {
      const touched = { overlay, numbers: [] as number[], before: [] as KnownValue[] };
      for (let i = 0; i < numbers.length; i++) {
        const number = numbers[i];
        if (overlay.steps[number] !== step) {
          overlay.steps[number] = step;
          touched.numbers.push(number);
          touched.before.push(overlay.top[number]);
        }
        this.setTop(overlay, number, values[i]);
      }
      const isGone = Uint8Array.from(touched.numbers, (number) => (overlay.top[number] === null ? 1 : 0));
      return { ...touched, isGone };
    });
  }

  /** Reads what rows were below, where they were not on top before they were touched: a call for each column. */
  readBefore(touched: readonly TouchedColumn[]): void {
    const unread = new Map<ColumnOverlay, number[]>();
    for (const { overlay, numbers, before } of touched) {
      const wanted = unread.get(overlay) ?? [];
      unread.set(overlay, wanted);
      for (let i = 0; i < numbers.length; i++) {
        if (before[i] === undefined && overlay.below[numbers[i]] === undefined) wanted.push(numbers[i]);
      }
    }
    for (const [overlay, numbers] of unread) this.readBelow(overlay, numbers);
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    return this.getMany(column, [key])[0];
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const overlay = this.columnOf(column);
    const numbers = keys.map((key) => this.numberOf(overlay, key));
    this.readBelow(
      overlay,
      numbers.filter((number) => overlay.top[number] === undefined && overlay.below[number] === undefined),
    );
    return numbers.map((number) => (overlay.top[number] === undefined ? overlay.below[number] : overlay.top[number]) ?? undefined);
  }

  scan(column: string, options: ScanOptions = {}): Iterable<Row> {
    const overlay = this.columns.get(column);
    return overlay === undefined ? this.below.scan(column, options) : this.merged(overlay, options);
  }

  /** A scan of the reader below, whose rows are remembered. */
  *scanBelow(column: string, options?: ScanOptions): Iterable<Row> {
    const overlay = this.columnOf(column);
    for (const row of this.below.scan(column, options)) {
      this.remember(overlay, this.numberOf(overlay, row[0]), row[1]);
      yield row;
    }
  }

  columnOf(column: string): ColumnOverlay {
    let overlay = this.columns.get(column);
    if (overlay === undefined) {
      overlay = { column, table: new NumberedKeys(), top: [], below: [], steps: [], sorted: null };
      this.columns.set(column, overlay);
    }
    return overlay;
  }

  /** The number of a row, known or not. */
  numberOf(overlay: ColumnOverlay, key: Uint8Array): number {
    const { table, top, below, steps } = overlay;
    const number = table.add(key);
    if (number < top.length) return number;
    top.push(undefined);
    below.push(undefined);
    steps.push(0);
    this.bytes += key.length;
    return number;
  }

  /** The value that a row has where nobody has changed it since: it need not be read. */
  knows(column: string, number: number, value: Uint8Array): void {
    const overlay = this.columnOf(column);
    if (overlay.top[number] === undefined && overlay.below[number] === undefined) this.remember(overlay, number, copied(value));
  }

  private readBelow(overlay: ColumnOverlay, numbers: readonly number[]): void {
    if (numbers.length === 0) return;
    const keys = numbers.map((number) => overlay.table.key(number));
    for (const [i, value] of this.below.getMany(overlay.column, keys).entries()) this.remember(overlay, numbers[i], value ?? null);
  }

  private remember(overlay: ColumnOverlay, number: number, value: Uint8Array | null): void {
    if (overlay.below[number] !== undefined) return;
    overlay.below[number] = value;
    this.bytes += value?.length ?? 0;
  }

  private setTop({ top, table, sorted }: ColumnOverlay, number: number, value: Uint8Array | null): void {
    if (sorted !== null && top[number] === undefined) sorted.splice(placeOf(sorted, table, table.key(number)), 0, number);
    this.bytes += (value?.length ?? 0) - (top[number]?.length ?? 0);
    top[number] = value;
  }

  private *merged(overlay: ColumnOverlay, options: ScanOptions): Iterable<Row> {
    const { reverse = false, limit } = options;
    const own = ownRows(overlay, options);
    let [next, left] = [0, limit ?? Number.POSITIVE_INFINITY];
    // Each row on top hides one below at most. Without a limit the engine would read ahead for a scan that wants one row.
    const range = limit === undefined ? options : { ...options, limit: limit + own.length };
    for (const row of this.below.scan(overlay.column, range)) {
      let order = 1;
      for (; next < own.length; next++) {
        order = compareBytes(own[next][0], row[0]);
        if (reverse ? order < 0 : order > 0) break;
        const [key, value] = own[next];
        if (value !== null) {
          if (left-- === 0) return;
          yield [key.slice(), value.slice()];
        }
        if (order !== 0) continue;
        next++;
        break;
      }
      if (order === 0) continue;
      if (left-- === 0) return;
      yield row;
    }
    for (; next < own.length; next++) {
      const [key, value] = own[next];
      if (value === null) continue;
      if (left-- === 0) return;
      yield [key.slice(), value.slice()];
    }
  }
}

/** Rows that a step touches: their numbers, and what was on top of them before it. */
export interface TouchedColumn {
  readonly overlay: ColumnOverlay;
  readonly numbers: readonly number[];
  readonly before: readonly KnownValue[];
  /** 1: after it there is no such row. */
  readonly isGone: Uint8Array;
}

interface Operations {
  readonly overlay: ColumnOverlay;
  readonly numbers: number[];
  /** Null: deleted. */
  readonly values: (Uint8Array | null)[];
}

/** Operations that will be on top of an overlay; until it takes them, nobody sees them. */
export class OverlayStep implements Batch {
  readonly operations = new Map<string, Operations>();
  readonly asksValues = true;
  size = 0;
  private readonly overlay: RowOverlay;

  constructor(overlay: RowOverlay) {
    this.overlay = overlay;
  }

  put(column: string, key: Uint8Array, value: Uint8Array): void {
    this.set(column, key, copied(value));
  }

  del(column: string, key: Uint8Array, was?: Uint8Array): void {
    const number = this.set(column, key, null);
    if (was !== undefined) this.overlay.knows(column, number, was);
  }

  private set(column: string, key: Uint8Array, value: Uint8Array | null): number {
    let operations = this.operations.get(column);
    if (operations === undefined) {
      operations = { overlay: this.overlay.columnOf(column), numbers: [], values: [] };
      this.operations.set(column, operations);
    }
    const number = this.overlay.numberOf(operations.overlay, key);
    operations.numbers.push(number);
    operations.values.push(value);
    this.size++;
    return number;
  }

  /** Of each row the last operation; rows that `isLeftOut` are left out. */
  list(isLeftOut: (column: string, key: Uint8Array) => boolean): ColumnChange[] {
    return Array.from(this.operations.values(), ({ overlay: { column, table }, numbers, values }) => {
      const change = new ColumnChanges(column);
      for (const [number, value] of new Map(numbers.map((number, i) => [number, values[i]]))) {
        const key = table.key(number);
        if (!isLeftOut(column, key)) change.add(key, value);
      }
      return change;
    });
  }

  commit(): void {
    this.overlay.take(this);
    this.clear();
  }

  clear(): void {
    this.operations.clear();
    this.size = 0;
  }
}

/** Those on top that are in the range, in its direction. */
function ownRows(
  overlay: ColumnOverlay,
  { gte, lt, reverse = false }: ScanOptions,
): (readonly [key: Uint8Array, value: Uint8Array | null])[] {
  const { table, top } = overlay;
  overlay.sorted ??= numbersOnTop(overlay).sort((a, b) => compareBytes(table.key(b), table.key(a)));
  const { sorted } = overlay;
  const from = lt === undefined ? 0 : placeOf(sorted, table, lt);
  const to = gte === undefined ? sorted.length : placeOf(sorted, table, gte);
  const numbers = sorted.slice(from, to);
  if (!reverse) numbers.reverse();
  return numbers.map((number) => [table.key(number), top[number] ?? null]);
}

function numbersOnTop({ top }: ColumnOverlay): number[] {
  const numbers: number[] = [];
  for (let number = 0; number < top.length; number++) if (top[number] !== undefined) numbers.push(number);
  return numbers;
}

/** Of the first whose key is below; `sorted` is from the last to the first. */
function placeOf(sorted: readonly number[], table: NumberedKeys, key: Uint8Array): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareBytes(table.key(sorted[middle]), key) >= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
