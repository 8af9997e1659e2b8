/**
 * A reader with changes on top of another: the state after them, while what is
 * below stays as it is. So blocks are undone one after the other over a snapshot
 * that nobody writes to.
 */
import type { Reader, Row, ScanOptions } from '../engine/engine.ts';
import type { ColumnChange } from './change.ts';
import { keyText, type RowChange, RowChanges } from './row-changes.ts';

interface ColumnOverlay {
  readonly values: Map<string, RowChange>;
  /** Keys from the last to the first, from the first scan on: undoing blocks adds keys below those before, and that is its end. */
  sorted: string[] | null;
}

export class RowOverlay implements Reader {
  readonly below: Reader;
  private readonly columns = new Map<string, ColumnOverlay>();
  /** Bytes of keys and values on top, of every change so far. */
  bytes = 0;

  constructor(below: Reader) {
    this.below = below;
  }

  apply(changes: readonly ColumnChange[]): void {
    const collected = new RowChanges();
    collected.add(changes);
    this.take(collected);
  }

  /** The same of changes whose keys are texts already. */
  take(changes: RowChanges): void {
    for (const [column, rows] of changes.columns) {
      const overlay = this.overlayOf(column);
      for (const [text, change] of rows) this.set(overlay, text, change);
    }
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    const known = this.columns.get(column)?.values.get(keyText(key));
    return known === undefined ? this.below.get(column, key) : known.value;
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const values = this.onTop(column);
    if (values === undefined) return this.below.getMany(column, keys);
    const found = keys.map((key) => values.get(keyText(key)));
    const others = keys.filter((_, i) => found[i] === undefined);
    const rest = others.length === 0 ? [] : this.below.getMany(column, others);
    let next = 0;
    return found.map((known) => (known === undefined ? rest[next++] : known.value));
  }

  /** What is on top of the reader below, by the texts of keys; undefined: nothing. */
  onTop(column: string): ReadonlyMap<string, RowChange> | undefined {
    return this.columns.get(column)?.values;
  }

  scan(column: string, options: ScanOptions = {}): Iterable<Row> {
    const overlay = this.columns.get(column);
    return overlay === undefined ? this.below.scan(column, options) : this.merged(column, overlay, options);
  }

  private overlayOf(column: string): ColumnOverlay {
    let overlay = this.columns.get(column);
    if (overlay === undefined) {
      overlay = { values: new Map(), sorted: null };
      this.columns.set(column, overlay);
    }
    return overlay;
  }

  private set({ values, sorted }: ColumnOverlay, text: string, change: RowChange): void {
    if (sorted !== null && !values.has(text)) sorted.splice(placeOf(sorted, text), 0, text);
    values.set(text, change);
    this.bytes += change.key.length + (change.value?.length ?? 0);
  }

  private *merged(column: string, overlay: ColumnOverlay, options: ScanOptions): Iterable<Row> {
    const { reverse = false, limit } = options;
    const own = [...ownRows(overlay, options)];
    let [next, left] = [0, limit ?? Number.POSITIVE_INFINITY];
    // Each row on top hides one below at most. Without a limit the engine would read ahead for a scan that wants one row.
    const range = limit === undefined ? options : { ...options, limit: limit + own.length };
    for (const row of this.below.scan(column, range)) {
      const text = keyText(row[0]);
      for (; next < own.length && (reverse ? own[next].text >= text : own[next].text <= text); next++) {
        const { key, value } = own[next];
        if (value === undefined) continue;
        if (left-- === 0) return;
        yield [key.slice(), value.slice()];
      }
      if (own[next - 1]?.text === text) continue;
      if (left-- === 0) return;
      yield row;
    }
    for (; next < own.length; next++) {
      const { key, value } = own[next];
      if (value === undefined) continue;
      if (left-- === 0) return;
      yield [key.slice(), value.slice()];
    }
  }
}

interface OwnRow extends RowChange {
  readonly text: string;
}

/** Those on top that are in the range, in its direction. */
function* ownRows(overlay: ColumnOverlay, { gte, lt, reverse = false }: ScanOptions): Iterable<OwnRow> {
  overlay.sorted ??= [...overlay.values.keys()].sort().reverse();
  const { sorted, values } = overlay;
  const from = lt === undefined ? 0 : placeOf(sorted, keyText(lt));
  const to = gte === undefined ? sorted.length : placeOf(sorted, keyText(gte));
  for (let i = from; i < to; i++) {
    const text = sorted[reverse ? i : from + to - 1 - i];
    const known = values.get(text);
    if (known !== undefined) yield { text, ...known };
  }
}

/** Of the first that is below; `sorted` is from the last to the first. */
function placeOf(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] >= text) low = middle + 1;
    else high = middle;
  }
  return low;
}
