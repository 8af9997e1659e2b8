/**
 * Rewrites the rows of a column in batches of bounded size. How far it is stands
 * in the batch itself, so that whoever is interrupted goes on from there: rows up
 * to the cursor are new, those after it are old.
 */
import type { Batch, Engine, Row } from '../../engine/engine.ts';
import { CHAIN, metaKey } from '../../projections/chain.ts';
import { ByteReader, ByteWriter } from '../../util/byte-writer.ts';
import { compareBytes, equalBytes } from '../../util/bytes.ts';
import { keyAfter } from '../../util/key-range.ts';
import { nextTurn } from '../../util/time-slice.ts';

const CURSOR_KEY = metaKey('upgrade');

/** Where an upgrade is: in which step, and behind which row of which of its columns. */
export interface UpgradeCursor {
  /** The schema that the step begins with. */
  readonly from: number;
  /** The number of the column in the list of the step. */
  readonly column: number;
  readonly key: Uint8Array;
}

/** How a column is rewritten. */
export interface ColumnRewrite {
  readonly name: string;
  /** The row as it shall be; the very row it was given: it is so already; null: it goes. */
  readonly rewrite: (row: Row) => Row | null;
  /** A row of another column that each row, as it was, brings along. */
  readonly adds?: { readonly column: string; readonly row: (row: Row) => Row };
}

export function readUpgradeCursor(engine: Engine): UpgradeCursor | null {
  const bytes = engine.get(CHAIN, CURSOR_KEY);
  if (bytes === undefined) return null;
  const reader = new ByteReader(bytes, 'the cursor of an upgrade');
  const [from, column] = [reader.varint(), reader.varint()];
  return { from, column, key: reader.run(reader.varint()) };
}

function writeUpgradeCursor(batch: Batch, { from, column, key }: UpgradeCursor): void {
  const writer = new ByteWriter();
  writer.varint(from);
  writer.varint(column);
  writer.varint(key.length);
  writer.run(key);
  batch.put(CHAIN, CURSOR_KEY, writer.view());
}

export function dropUpgradeCursor(engine: Engine): void {
  const batch = engine.batch();
  batch.del(CHAIN, CURSOR_KEY);
  batch.commit({ fsync: true });
}

/** `at`: where to begin. `onRows` is called after each batch; whoever wants to stop throws there. */
export async function rewriteColumn(
  engine: Engine,
  { name, rewrite, adds }: ColumnRewrite,
  at: UpgradeCursor,
  { batchBytes, onRows }: { readonly batchBytes: number; readonly onRows: (rows: number) => void },
): Promise<void> {
  const spec = engine.columns.find((column) => column.name === name);
  if (spec === undefined) return;
  const batch = engine.batch();
  // In a column with prefixes a scan begins at the first row: those up to the cursor are passed over.
  const range = at.key.length === 0 || spec.access === 'prefix' ? {} : { gte: keyAfter(at.key) };
  const snapshot = engine.snapshot([name]);
  let [rows, bytes] = [0, 0];
  let last = at.key;
  const flush = async (): Promise<void> => {
    writeUpgradeCursor(batch, { ...at, key: last });
    batch.commit();
    bytes = 0;
    onRows(rows);
    await nextTurn();
  };
  try {
    for (const row of snapshot.scan(name, range)) {
      const [key, value] = row;
      if (compareBytes(key, at.key) <= 0) continue;
      const next = rewrite(row);
      last = key;
      rows++;
      bytes += key.length + value.length;
      if (next !== row) {
        if (next === null || !equalBytes(next[0], key)) batch.del(name, key);
        if (next !== null) batch.put(name, next[0], next[1]);
      }
      if (adds !== undefined) batch.put(adds.column, ...adds.row(row));
      if (bytes >= batchBytes) await flush();
    }
    await flush();
  } finally {
    snapshot.release();
  }
}
