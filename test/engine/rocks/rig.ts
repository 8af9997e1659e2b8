/** Small RocksDB stores with many tables, for the tests of what only RocksDB can get wrong. */
import { equal, ok } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { ColumnSpec, Engine, Row } from '../../../src/engine/engine.ts';
import { openRocks } from '../../../src/engine/rocks/rocks.ts';
import { compareBytes, toHex, writeU32 } from '../../../src/util/bytes.ts';
import { type ErrorCode, UnspentError } from '../../../src/util/errors.ts';

export const COLUMNS: readonly ColumnSpec[] = [
  { name: 'points', access: 'point', weight: 1 },
  { name: 'prefixes', access: 'prefix', prefixBytes: 28, weight: 1 },
  { name: 'ordered', access: 'order', weight: 1 },
];
export const NAMES = COLUMNS.map((column) => column.name);
export const SOURCE = new URL('../../../src/engine/rocks/rocks.ts', import.meta.url).href;

/** Memtables as small as they get, so that a little data makes many tables. */
export const SMALL = { createIfMissing: true, memtableBytes: 0, cacheBytes: 0 };

let root: string;
let made = 0;
before(() => {
  root = mkdtempSync(join(tmpdir(), 'unspent-rocks-'));
});
after(() => rmSync(root, { recursive: true }));

export const newDirectory = () => join(root, `${made++}`);
export const open = (directory: string, columns = COLUMNS) => openRocks(directory, columns, SMALL);
export const reading = async <T>(
  directory: string,
  columns: readonly ColumnSpec[],
  body: (engine: Engine) => T | Promise<T>,
): Promise<T> => {
  const engine = await open(directory, columns);
  try {
    return await body(engine);
  } finally {
    await engine.close();
  }
};
export const coded = (code: ErrorCode, directory: string) => (error: unknown) => {
  ok(error instanceof UnspentError, `${error}`);
  equal(error.code, code);
  ok(error.message.includes(directory), error.message);
  return true;
};

/** A pseudo-random key: the same number, the same bytes. */
export function keyOf(at: number, bytes: number): Uint8Array {
  return createHash('sha512').update(`${at}`).digest().subarray(0, bytes);
}

/** `owners` prefixes of `each` rows, written round by round so that every table holds some of each. */
export function fill(engine: Engine, owners: number, each: number): void {
  for (let row = 0; row < each; row++) {
    const batch = engine.batch();
    for (let owner = 0; owner < owners; owner++) {
      const key = new Uint8Array(36);
      key.set(keyOf(owner, 28));
      writeU32(key, 32, row);
      batch.put('prefixes', key, keyOf(row, 32));
      batch.put('points', keyOf(owner * each + row, 34), keyOf(row, 60));
      batch.put('ordered', key.slice(20), keyOf(row, 60));
    }
    batch.commit();
  }
}

export function keysOf(rows: Iterable<Row>): string[] {
  return Array.from(rows, ([key]) => toHex(key));
}

export function shown(rows: Iterable<Row>): string[] {
  let last: Uint8Array | undefined;
  return Array.from(rows, ([key, value]) => {
    ok(last === undefined || compareBytes(last, key) < 0);
    last = key;
    return `${toHex(key)}=${toHex(value)}`;
  });
}
