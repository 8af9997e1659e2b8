/**
 * Every RocksDB setting we make, with its reason, and how the two memory
 * budgets are split over the columns. Measured: docs/internals/speed.md.
 */
import { totalmem } from 'node:os';
import { assert } from '../../util/errors.ts';
import type { ColumnSpec } from '../engine.ts';
import type { NativeColumnOptions, NativeOpenOptions } from './binding.ts';
import { DEFAULT_COLUMN, nativeName } from './native-name.ts';
import { IDLE_COLUMN } from './recovery.ts';

const MIB = 1024 * 1024;

/** `auto`: where there is a second core, as soon as the thread runs. `on`: wherever the fold asks for it, and it is waited for. */
export type WriterThread = 'auto' | 'on' | 'off';

export interface RocksOptions {
  readonly createIfMissing: boolean;
  /** Columns the database may have and nobody asks for any more: opened, because RocksDB insists, and emptied. */
  readonly retired?: readonly string[];
  /** Columns the database has, unless it is empty. RocksDB would make one that is missing anew and say nothing. */
  readonly existing?: readonly string[];
  /** Memtable budget over all columns, split by weight. RocksDB may hold half as much again while flushes lag. */
  readonly memtableBytes?: number;
  /** Of memtables and block cache together. 0: a quarter of the machine's, 1 GB at most. Default: no bound, but those of its parts. */
  readonly memoryBytes?: number;
  /**
   * Block cache over all columns; it holds the index and filter blocks too, so it bounds what reading costs in memory.
   * Default: what memtables leave of `memoryBytes`.
   */
  readonly cacheBytes?: number;
  /** Zstd dictionaries for the deep levels. Without, they are plain zstd: the binding cannot turn that off. */
  readonly compression?: boolean;
  /** Whether groups of blocks are written in a thread of their own. Default: auto. */
  readonly writerThread?: WriterThread;
}

/** Smaller memtables are faster, down to 16 to 32 MB for a busy column: 96 MB over eight columns is there. */
const MEMTABLE_BYTES = 96 * MIB;

/** A column that receives almost nothing still needs room to merge two memtables a flush. */
const COLUMN_MEMTABLE_BYTES_MIN = MIB;

/** Where nobody says how much memory there is. Three fifths of it are the unspent column's. */
const CACHE_BYTES = 160 * MIB;
const MEMORY_BYTES_MAX = 1_000_000_000;
const MEMORY_SHARE = 1 / 4;
/** RocksDB may hold that much of the memtable budget while flushes lag. */
const MEMTABLES_AT_MOST = 1.5;

const COLUMN_CACHE_BYTES_MIN = MIB;

/** The binding keeps cache sizes in 32 bits. */
const COLUMN_CACHE_BYTES_MAX = 2 ** 32 - 1;

/** Looked-up columns miss the cache at random places, prefix columns in runs, ordered ones are walked. */
const CACHE_SHARE = { point: 8, archive: 1, prefix: 3, order: 1 } as const;

/** Keys and values are mostly hashes: with dictionaries tables came out 18 to 30 % larger and writes 7 to 10 % slower. */
const COMPRESSION = false;

/** The same in every column. */
const COLUMN = {
  // Sizes memtables and levels from one budget, compresses only what has settled (level 2 and deeper).
  compaction: 'level',
  // Outside the cache, index and filter blocks grow with the store and nothing bounds them.
  cacheIndexAndFilterBlocks: true,
} as const;

const BY_ACCESS = {
  // The preset's hash index in data blocks and filter on memtables: lookups 1.5 to 1.8 times as fast where the key
  // is there, 2.8 where it is not, writes unchanged. Bloom instead of its ribbon filter: another fifth.
  point: { optimize: 'point-lookup', filterPolicy: 'bloomfilter:10:false' },
  // Not asked by the fold: the filter is for people's questions, the cache for others.
  archive: { filterPolicy: 'bloomfilter:10:false' },
  // The filter also holds prefixes, so that a scan of an address nobody uses reads no block. The preset is here for its
  // filter on memtables: such a scan takes four fifths of the time where the column is in memory (docs/adr/0018).
  prefix: { optimize: 'point-lookup', filterPolicy: 'bloomfilter:10:false' },
  // The binding's default filter stays: a few keys (the tip) are looked up by name in such columns.
  order: {},
} as const;

/** The database itself. */
const DATABASE = {
  // One flush and one compaction beside the fold. More keep the levels tidier under a fast sync (a fifth less disk
  // meanwhile), but on two cores the fold paid for it: 13 us an output instead of 8 (docs/internals/speed.md).
  parallelism: 2,
  // Costs more CPU than the bytes it saves are worth (no gain measured).
  walCompression: false,
} as const;

export function nativeNames(columns: readonly ColumnSpec[], names: readonly string[]): string[] {
  return names.map((name) => nativeName(columns.find((column) => column.name === name) ?? { name, access: 'order', weight: 0 }));
}

export function nativeOptions(columns: readonly ColumnSpec[], options: RocksOptions): NativeOpenOptions {
  const memtables = shares(columns, options.memtableBytes ?? MEMTABLE_BYTES, (column) => column.weight);
  const caches = shares(columns, cacheBudget(options), (column) => column.weight * CACHE_SHARE[column.access]);
  const compression = options.compression ?? COMPRESSION;
  const idle = { ...COLUMN, memtableMemoryBudget: COLUMN_MEMTABLE_BYTES_MIN, cacheSize: COLUMN_CACHE_BYTES_MIN, compression };
  // RocksDB has its first column whether we use it or not.
  const natives: Record<string, NativeColumnOptions> = { [DEFAULT_COLUMN]: idle, [IDLE_COLUMN]: idle };
  for (const name of options.retired ?? []) natives[name] = idle;
  for (const [at, column] of columns.entries()) {
    natives[nativeName(column)] = {
      ...COLUMN,
      ...BY_ACCESS[column.access],
      ...(column.access === 'prefix' ? { prefixExtractor: prefixExtractor(column) } : {}),
      memtableMemoryBudget: Math.max(COLUMN_MEMTABLE_BYTES_MIN, memtables[at]),
      cacheSize: Math.min(COLUMN_CACHE_BYTES_MAX, Math.max(COLUMN_CACHE_BYTES_MIN, caches[at])),
      compression,
    };
  }
  return { ...DATABASE, createIfMissing: options.createIfMissing, columns: natives };
}

/** Of all columns together. */
export function cacheBudget(
  { cacheBytes, memoryBytes, memtableBytes = MEMTABLE_BYTES }: Omit<RocksOptions, 'createIfMissing'>,
  machineBytes = memoryOfMachine(),
): number {
  if (cacheBytes !== undefined) return cacheBytes;
  if (memoryBytes === undefined) return CACHE_BYTES;
  const all = memoryBytes === 0 ? Math.min(MEMORY_BYTES_MAX, MEMORY_SHARE * machineBytes) : memoryBytes;
  return Math.max(0, Math.floor(all - MEMTABLES_AT_MOST * memtableBytes));
}

/** As far as this process may have it. */
function memoryOfMachine(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** RocksDB accepts a misspelt name and ignores it: a test reads it back from the OPTIONS file. */
function prefixExtractor(column: ColumnSpec): string {
  assert(column.prefixBytes !== undefined && column.prefixBytes > 0, `column '${column.name}' needs its prefixBytes`);
  return `rocksdb.FixedPrefix.${column.prefixBytes}`;
}

function shares(columns: readonly ColumnSpec[], total: number, weigh: (column: ColumnSpec) => number): number[] {
  const weights = columns.map(weigh);
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => (sum === 0 ? 0 : Math.floor((total * weight) / sum)));
}
