/** Small SQLite stores whose content at every commit is known, for the tests of what only SQLite can get wrong. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { ColumnSpec, Engine, Reader } from '../../../src/engine/engine.ts';
import { type EngineOptions, type OwnedEngine, openEngineIn } from '../../../src/engine/open.ts';
import { readU32, writeU32 } from '../../../src/util/bytes.ts';
import { type ErrorCode, UnspentError } from '../../../src/util/errors.ts';

export const COLUMNS: readonly ColumnSpec[] = ['a', 'b', 'c'].map((name) => ({ name, access: 'point', weight: 1 }));

/** A log of the least size, so that it is moved into the tables all the time. */
export const SMALL: EngineOptions = { kind: 'sqlite', createIfMissing: true, memtableBytes: 100_000, cacheBytes: 1_000_000 };

let root: string;
let made = 0;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'unspent-sqlite-'));
});
after(() => rmSync(root, { recursive: true }));

export const newDirectory = (): string => join(root, `${made++}`);
export const open = (directory: string, columns = COLUMNS, more: Partial<EngineOptions> = {}): Promise<OwnedEngine> =>
  openEngineIn(directory, columns, { ...SMALL, ...more });

export const coded =
  (code: ErrorCode, text = '') =>
  (error: unknown) => {
    ok(error instanceof UnspentError, `${error}`);
    equal(error.code, code, error.message);
    ok(error.message.includes(text), error.message);
    return true;
  };

/** Keys that lie all over the tree. */
function keyOf(row: number): Uint8Array {
  const key = new Uint8Array(8);
  writeU32(key, 0, Math.imul(row, 0x9e3779b1) >>> 0);
  writeU32(key, 4, row);
  return key;
}

const ROWS_PER_COMMIT = 20;
const ROWS_KEPT = 400;
const COUNT = Uint8Array.of(0);

/** Commit n puts rows into every column, takes the oldest away and says that it was the nth. */
export function commitNext(engine: Engine): number {
  const number = commitsOf(engine) + 1;
  const batch = engine.batch();
  const count = new Uint8Array(4);
  writeU32(count, 0, number);
  for (const { name } of COLUMNS) {
    batch.put(name, COUNT, count);
    for (let i = 0; i < ROWS_PER_COMMIT; i++) {
      const row = number * ROWS_PER_COMMIT + i;
      batch.put(name, keyOf(row), new Uint8Array(40 + (row % 200)).fill(row));
      if (row >= ROWS_KEPT + ROWS_PER_COMMIT) batch.del(name, keyOf(row - ROWS_KEPT));
    }
  }
  batch.commit();
  return number;
}

export function commitsOf(reader: Reader): number {
  const count = reader.get(COLUMNS[0].name, COUNT);
  return count === undefined ? 0 : readU32(count, 0);
}

/** Every column is exactly what that many commits make. */
export function assertState(reader: Reader): number {
  const number = commitsOf(reader);
  const last = (number + 1) * ROWS_PER_COMMIT;
  const rows = Array.from({ length: Math.min(ROWS_KEPT, number * ROWS_PER_COMMIT) }, (_, i) => last - 1 - i);
  const expected = new Map(rows.map((row) => [Buffer.from(keyOf(row)).toString('hex'), 40 + (row % 200)]));
  for (const { name } of COLUMNS) {
    equal(readU32(reader.get(name, COUNT) ?? new Uint8Array(4), 0), number);
    const found = Array.from(reader.scan(name, { gte: Uint8Array.of(0, 0) }), ([key, value]) => [
      Buffer.from(key).toString('hex'),
      value.length,
    ]);
    deepEqual(new Map(found as [string, number][]), expected, `column ${name} at commit ${number}`);
  }
  return number;
}
