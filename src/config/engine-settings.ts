/** Settings of the engine that a store rests on. */
import type { Setting } from '../util/setting.ts';

const MB = 1_000_000;

/** Memory budgets reach the engine as 32-bit numbers. */
const ENGINE_BYTES_MAX = 4_000 * MB;

/** What SQLite, as Node compiles it, maps at most. */
const SQLITE_MMAP_BYTES_MAX = 2_000 * MB;

export const ENGINE_SETTINGS = {
  'engine.kind': {
    type: 'oneOf',
    values: ['auto', 'rocks', 'sqlite'],
    default: 'auto',
    doc: 'The engine of a new store; `auto`: RocksDB, or SQLite where RocksDB does not run. A store keeps the engine it was made with.',
  },
  'engine.memtableBytes': {
    type: 'bytes',
    default: 96 * MB,
    min: MB,
    max: ENGINE_BYTES_MAX,
    doc: 'Memory for writes not yet sorted onto the disk, over all columns. SQLite: size of the log, on disk, at which it is moved into the tables.',
  },
  'engine.memoryBytes': {
    type: 'bytes',
    default: 0,
    min: 0,
    max: ENGINE_BYTES_MAX,
    doc: 'RocksDB: its memory in all. What one and a half times `engine.memtableBytes` leave of it is for blocks read from the disk. 0: a quarter of the memory of the machine, 1 GB at most.',
  },
  'engine.cacheBytes': {
    type: 'bytes',
    default: 0,
    min: 0,
    max: ENGINE_BYTES_MAX,
    doc: 'Memory for blocks read from the disk, over all columns. 0: RocksDB has what `engine.memoryBytes` leaves for them, SQLite 160 MB. SQLite: of the writer; each reader has a sixteenth of it beside that.',
  },
  'engine.writerThread': {
    type: 'oneOf',
    values: ['auto', 'on', 'off'],
    default: 'auto',
    doc: 'RocksDB: whether groups of blocks are written in a thread of their own while the next ones are worked out. `auto`: where there is a second core; `on`: it is waited for when it starts.',
  },
  'engine.mmapBytes': {
    type: 'bytes',
    default: 0,
    min: 0,
    max: SQLITE_MMAP_BYTES_MAX,
    doc: 'SQLite: how much of its file is mapped into memory to be read. Lookups take less, but a disk that fails kills the process.',
  },
  'engine.compression': {
    type: 'boolean',
    default: false,
    doc: 'RocksDB: zstd dictionaries on top of plain zstd, for chains whose outputs resemble each other more than hashes do.',
  },
} as const satisfies Readonly<Record<string, Setting>>;
