/**
 * What a RocksDB says about itself, and about one column of it. Of a column the
 * binding tells nothing, so that is read from its tables (rocks-tables.ts).
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineStats, Row } from './engine.ts';
import { binding } from './rocks-binding.ts';
import type { RocksDatabase } from './rocks-database.ts';
import type { TableTotals } from './rocks-tables.ts';

const KIND = 'rocksdb';

/** What a person asks first when a store is slow; of the default column or of the whole database. */
const PROPERTIES = [
  'rocksdb.block-cache-usage',
  'rocksdb.num-running-compactions',
  'rocksdb.num-running-flushes',
  'rocksdb.num-snapshots',
  'rocksdb.actual-delayed-write-rate',
  'rocksdb.is-write-stopped',
  'rocksdb.background-errors',
];

/** Rows counted of a column that has no table yet: a few milliseconds. */
export const STATS_ROWS_MAX = 1000;

export function databaseStats({ native, directory }: RocksDatabase): EngineStats {
  const properties = PROPERTIES.map((name) => [name, binding.db_get_property(native, name)] as const);
  return {
    kind: KIND,
    bytes: directoryBytes(directory),
    properties: Object.fromEntries(properties.filter(([, value]) => value !== '')),
  };
}

/** `rows` are read only of a column without tables: all it has is in memory and the log, and that is little. */
export function columnStats(tables: TableTotals, rows: Iterable<Row>): EngineStats {
  if (tables.files === 0) return youngStats(rows);
  const { files, bytes, entries, deletions, rawBytes } = tables;
  return {
    kind: KIND,
    bytes,
    properties: {
      'rocksdb.total-sst-files-size': `${bytes}`,
      // As RocksDB estimates it: each deletion stands for itself and for the row it deletes.
      'rocksdb.estimate-num-keys': `${Math.max(0, entries - 2 * deletions)}`,
      'rocksdb.num-sst-files': `${files}`,
      'rocksdb.num-deletions': `${deletions}`,
      'rocksdb.raw-size': `${rawBytes}`,
    },
  };
}

function youngStats(rows: Iterable<Row>): EngineStats {
  let [count, bytes] = [0, 0];
  for (const [key, value] of rows) {
    bytes += key.length + value.length;
    count++;
  }
  return {
    kind: KIND,
    bytes,
    properties: {
      'rocksdb.total-sst-files-size': '0',
      'rocksdb.estimate-num-keys': `${count}`,
      'rocksdb.num-sst-files': '0',
      'rocksdb.num-deletions': '0',
      'rocksdb.raw-size': `${bytes}`,
    },
  };
}

function directoryBytes(directory: string): number {
  let bytes = 0;
  // Compaction deletes files while we look.
  for (const name of readdirSync(directory)) bytes += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}
