/**
 * A reader with changes on top of another: the state after them, while what is
 * below stays as it is. So blocks are undone one after the other over a snapshot
 * that nobody writes to.
 */
import type { Reader, Row, ScanOptions } from '../engine/engine.ts';
import type { ColumnChange } from './change.ts';
import { keyText } from './row-changes.ts';

interface ColumnOverlay {
  readonly values: Map<string, { readonly key: Uint8Array; readonly value: Uint8Array | undefined }>;
  /** Keys in order, from the first scan on. */
  sorted: string[] | null;
}

export class RowOverlay implements Reader {
  private readonly below: Reader;
  private readonly columns = new Map<string, ColumnOverlay>();
  /** Bytes of keys and values on top, of every change so far. */
  bytes = 0;

  constructor(below: Reader) {
    this.below = below;
  }

  apply(changes: readonly ColumnChange[]): void {
    for (const { column, puts, deletes } of changes) {
      for (const [key, value] of puts) this.set(column, key, value);
      for (const key of deletes) this.set(column, key, undefined);
    }
  }

  get(column: string, key: Uint8Array): Uint8Array | undefined {
    const known = this.columns.get(column)?.values.get(keyText(key));
    return known === undefined ? this.below.get(column, key) : known.value;
  }

  getMany(column: string, keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const values = this.columns.get(column)?.values;
    if (values === undefined) return this.below.getMany(column, keys);
    const found = keys.map((key) => values.get(keyText(key)));
    const others = keys.filter((_, i) => found[i] === undefined);
    const rest = others.length === 0 ? [] : this.below.getMany(column, others);
    let next = 0;
    return found.map((known) => (known === undefined ? rest[next++] : known.value));
  }

  scan(column: string, options: ScanOptions = {}): Iterable<Row> {
    const overlay = this.columns.get(column);
    return overlay === undefined ? this.below.scan(column, options) : this.merged(column, overlay, options);
  }

  private set(column: string, key: Uint8Array, value: Uint8Array | undefined): void {
    let overlay = this.columns.get(column);
    if (overlay === undefined) {
      overlay = { values: new Map(), sorted: null };
      this.columns.set(column, overlay);
    }
    const text = keyText(key);
    if (overlay.sorted !== null && !overlay.values.has(text)) overlay.sorted.splice(placeOf(overlay.sorted, text), 0, text);
    overlay.values.set(text, { key, value });
    this.bytes += key.length + (value?.length ?? 0);
  }

  private *merged(column: string, overlay: ColumnOverlay, options: ScanOptions): Iterable<Row> {
    const { reverse = false, limit = Number.POSITIVE_INFINITY } = options;
    const { limit: _, ...range } = options;
    const own = [...ownRows(overlay, options)];
    let [next, count] = [0, 0];
    for (const row of this.below.scan(column, range)) {
      const text = keyText(row[0]);
      for (; next < own.length && (reverse ? own[next].text > text : own[next].text < text); next++) {
        const { key, value } = own[next];
        if (value === undefined) continue;
        if (count++ >= limit) return;
        yield [key.slice(), value.slice()];
      }
      if (overlay.values.has(text)) continue;
      if (count++ >= limit) return;
      yield row;
    }
    for (; next < own.length; next++) {
      const { key, value } = own[next];
      if (value === undefined) continue;
      if (count++ >= limit) return;
      yield [key.slice(), value.slice()];
    }
  }
}

interface OwnRow {
  readonly text: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array | undefined;
}

/** Those on top that are in the range, in its direction. */
function* ownRows(overlay: ColumnOverlay, { gte, lt, reverse = false }: ScanOptions): Iterable<OwnRow> {
  overlay.sorted ??= [...overlay.values.keys()].sort();
  const { sorted, values } = overlay;
  const from = gte === undefined ? 0 : placeOf(sorted, keyText(gte));
  const to = lt === undefined ? sorted.length : placeOf(sorted, keyText(lt));
  for (let i = from; i < to; i++) {
    const text = sorted[reverse ? from + to - 1 - i : i];
    const known = values.get(text);
    if (known !== undefined) yield { text, ...known };
  }
}

/** Of the first that is not below. */
function placeOf(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
