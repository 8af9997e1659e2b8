/** Every row of a store, to be compared byte for byte. */
import assert from 'node:assert/strict';
import type { Engine } from '../engine/engine.ts';
import { toHex } from '../util/bytes.ts';

/** Every row of every column, in key order, as `key value` in hex. */
export type Dump = ReadonlyMap<string, readonly string[]>;

export function dump(engine: Engine): Dump {
  return new Map(engine.columns.map(({ name }) => [name, rowsOf(engine, name)]));
}

/** Of one column. */
export function rowsOf(engine: Engine, column: string): readonly string[] {
  return Array.from(engine.scan(column), ([key, value]) => `${toHex(key)} ${toHex(value)}`);
}

/** Byte-identical, or a message that names the first row that is not. */
export function assertSameDump(actual: Dump, expected: Dump, when: string): void {
  assert.deepEqual([...actual.keys()], [...expected.keys()], `${when}: the columns`);
  for (const [column, rows] of actual) assertSameRows(rows, expected.get(column)!, `${when}: ${column}`);
}

export function assertSameRows(actual: readonly string[], expected: readonly string[], what: string): void {
  const at = actual.findIndex((row, i) => row !== expected[i]);
  if (at < 0 && actual.length === expected.length) return;
  const place = at < 0 ? actual.length : at;
  assert.fail(
    `${what} has ${actual.length} rows, ${expected.length} were expected; row ${place} is\n${actual[place]}\nand should be\n${expected[place]}`,
  );
}
