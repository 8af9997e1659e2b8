/**
 * How a column is kept in SQLite: a table of its own, key and value as blobs,
 * which SQLite orders as the contract does. SQLite's pages have no checksums, so
 * every row has one: four bytes after the value, over column, key and value. A
 * flipped bit in an amount is found and not believed.
 */
import { crc32 } from 'node:zlib';
import { toHex } from '../../util/bytes.ts';
import { assert, UnspentError } from '../../util/errors.ts';
import type { ColumnSpec } from '../engine.ts';

export const CHECKSUM_BYTES = 4;

/** The CRC-32 of any bytes followed by their own CRC-32, little-endian. */
const RESIDUE = 0x2144df1c;

/** Plain names only: they stand in SQL. */
const TABLE_NAME = /^[a-z][a-z0-9_]*$/;

export interface SqliteColumn {
  readonly spec: ColumnSpec;
  /** The checksum of a row goes on from that of the column's name. */
  readonly seed: number;
  /** Texts of the statements that run once a key. */
  readonly lookup: string;
  readonly insert: string;
  readonly update: string;
  readonly remove: string;
}

export function sqliteColumn(spec: ColumnSpec): SqliteColumn {
  const { name } = spec;
  assert(TABLE_NAME.test(name), `'${name}' is the name of a column`);
  return {
    spec,
    seed: crc32(name),
    lookup: `SELECT value FROM ${name} WHERE key = ?`,
    insert: `INSERT OR IGNORE INTO ${name} (key, value) VALUES (?, ?)`,
    update: `UPDATE ${name} SET value = ?2 WHERE key = ?1`,
    remove: `DELETE FROM ${name} WHERE key = ?`,
  };
}

/** `row` is key and value, with room for the checksum behind them. */
export function writeChecksum({ seed }: SqliteColumn, row: Buffer): void {
  const at = row.length - CHECKSUM_BYTES;
  row.writeUInt32LE(crc32(row.subarray(0, at), seed), at);
}

/** The value without its checksum. Throws STORE_DAMAGED. */
export function checkedValue({ spec, seed }: SqliteColumn, key: Uint8Array, stored: Uint8Array, directory: string): Uint8Array {
  if (crc32(stored, crc32(key, seed)) === RESIDUE) return stored.subarray(0, stored.length - CHECKSUM_BYTES);
  const message = `the store is damaged (${directory}): the checksum of row ${toHex(key)} of '${spec.name}' is wrong`;
  throw new UnspentError('STORE_DAMAGED', message, { directory, column: spec.name, key: toHex(key) });
}
