/**
 * What a RocksDB says about itself, and about one column of it. Of a column the
 * binding tells nothing, so that is read from its tables (rocks-tables.ts), and
 * what is in none yet from the writer's counters (write-counters.ts).
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineStats, Row } from '../engine.ts';
import { binding } from './binding.ts';
import type { RocksDatabase } from './database.ts';
import type { TableTotals } from './tables.ts';

const KIND = 'rocksdb';

/** What a person asks first when a store is slow; of RocksDB's default column (MAIN_COLUMN) or of the whole database. */
const PROPERTIES = [
  'rocksdb.block-cache-capacity',
  'rocksdb.block-cache-usage',
  'rocksdb.block-cache-pinned-usage',
  'rocksdb.num-running-compactions',
  'rocksdb.num-running-flushes',
  'rocksdb.num-snapshots',
  'rocksdb.num-files-at-level0',
  'rocksdb.estimate-pending-compaction-bytes',
  'rocksdb.actual-delayed-write-rate',
  'rocksdb.is-write-stopped',
  'rocksdb.background-errors',
];

const DB_STATS = 'rocksdb.dbstats';

/** Rows looked at of a column that has no table yet, for the size of one: a few milliseconds. */
export const STATS_ROWS_MAX = 1000;

export function databaseStats({ native, directory }: RocksDatabase): EngineStats {
  const properties = PROPERTIES.map((name) => [name, binding.db_get_property(native, name)] as const);
  return {
    kind: KIND,
    bytes: directoryBytes(directory),
    properties: {
      ...Object.fromEntries(properties.filter(([, value]) => value !== '')),
      ...stalls(binding.db_get_property(native, DB_STATS)),
    },
  };
}

/** How long writes have waited for flushes and compactions since the database was opened: RocksDB says it in a text only. */
function stalls(text: string): Readonly<Record<string, string>> {
  const [, hours, minutes, seconds] = /^Cumulative stall: (\d+):(\d+):(\d+\.\d+) /m.exec(text) ?? [];
  if (seconds === undefined) return {};
  return { 'unspent.stalled-ms': `${Math.round(1000 * (3600 * Number(hours) + 60 * Number(minutes) + Number(seconds)))}` };
}

/** `added`: rows that are in no table yet. `rows` are read only of a column without tables, for the size of one. */
export function rocksColumnStats(tables: TableTotals, added: number, rows: Iterable<Row>): EngineStats {
  // As RocksDB estimates it: each deletion stands for itself and for the row it deletes, and a row written twice is two.
  const keys = Math.max(0, tables.entries - 2 * tables.deletions + added);
  const bytes = tables.files === 0 ? Math.round(keys * meanBytes(rows)) : tables.bytes;
  return {
    kind: KIND,
    bytes,
    properties: {
      'rocksdb.total-sst-files-size': `${tables.bytes}`,
      'rocksdb.estimate-num-keys': `${keys}`,
      'rocksdb.num-sst-files': `${tables.files}`,
      'rocksdb.num-deletions': `${tables.deletions}`,
      'rocksdb.raw-size': `${tables.files === 0 ? bytes : tables.rawBytes}`,
    },
  };
}

function meanBytes(rows: Iterable<Row>): number {
  let [count, bytes] = [0, 0];
  for (const [key, value] of rows) {
    bytes += key.length + value.length;
    count++;
  }
  return count === 0 ? 0 : bytes / count;
}

function directoryBytes(directory: string): number {
  let bytes = 0;
  // Compaction deletes files while we look, and somebody may have moved all of it (store/place.ts).
  for (const name of existsSync(directory) ? readdirSync(directory) : [])
    bytes += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}
