/**
 * What the table files say about the columns. The binding gives RocksDB's
 * properties of the default column only, but every table ends with properties
 * of its own: whose it is, its rows, its deletions. A table never changes, so
 * each is read once. Rows still in memory are in no table and not counted;
 * tables that are being merged count until those made of them are in place.
 *
 * The end of a table (format version 6, rocksdb/table/format.cc):
 *
 *   ... properties block ... | metaindex block | 5 bytes | footer, 53 bytes
 *   footer   checksum kind u8 | 3e007a00 | checksum u32 | context u32
 *            | size of the metaindex u32 | zeros | version u32 | magic 8
 *   block    entries: shared, unshared, value length (varints), rest of the
 *            key, value; then restart points u32 and their number u32
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { ByteReader } from '../../util/byte-writer.ts';
import { toHex } from '../../util/bytes.ts';

const TABLE_FILE = /^\d+\.sst$/;
const FOOTER_BYTES = 53;
const TRAILER_BYTES = 5;
const METAINDEX_SIZE_AT = 13;
const VERSION_AT = 41;
const FORMAT_VERSION = 6;
/** As it stands in the file: the last eight bytes, the number of a block-based table, little-endian. */
const MAGIC = 'f7cff485b741e288';

/** Of a block we read: properties are about a kilobyte; anything larger is not what we take it for. */
const BLOCK_BYTES_MAX = 1024 * 1024;

interface Table {
  readonly column: string;
  readonly bytes: number;
  readonly entries: number;
  readonly deletions: number;
  readonly rawBytes: number;
}

/** What all tables of a column add up to. */
export interface TableTotals {
  readonly files: number;
  readonly bytes: number;
  /** Puts and deletions; a row written twice counts twice until the tables are merged. */
  readonly entries: number;
  readonly deletions: number;
  /** Keys and values before compression. */
  readonly rawBytes: number;
}

export class Tables {
  readonly #directory: string;
  #known = new Map<string, Table>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  of(column: string): TableTotals {
    this.#refresh();
    const totals = { files: 0, bytes: 0, entries: 0, deletions: 0, rawBytes: 0 };
    for (const table of this.#known.values()) {
      if (table.column !== column) continue;
      totals.files++;
      totals.bytes += table.bytes;
      totals.entries += table.entries;
      totals.deletions += table.deletions;
      totals.rawBytes += table.rawBytes;
    }
    return totals;
  }

  #refresh(): void {
    const now = new Map<string, Table>();
    for (const name of readdirSync(this.#directory)) {
      if (!TABLE_FILE.test(name)) continue;
      const table = this.#known.get(name) ?? readTable(join(this.#directory, name));
      if (table !== null) now.set(name, table);
    }
    this.#known = now;
  }
}

/** Null: not finished yet, of another format, or gone while we looked. */
function readTable(path: string): Table | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const bytes = fstatSync(file).size;
    if (bytes < FOOTER_BYTES) return null;
    const footer = Buffer.from(readAt(file, bytes - FOOTER_BYTES, FOOTER_BYTES));
    if (toHex(footer, FOOTER_BYTES - 8) !== MAGIC || footer.readUInt32LE(VERSION_AT) !== FORMAT_VERSION) return null;
    const size = footer.readUInt32LE(METAINDEX_SIZE_AT);
    const metaindex = blockAt(file, bytes - FOOTER_BYTES - TRAILER_BYTES - size, size, path);
    const place = new ByteReader(metaindex.get('rocksdb.properties') ?? NOTHING, `the metaindex of ${path}`);
    return tableOf(blockAt(file, place.varint(), place.varint(), path), bytes, path);
  } finally {
    closeSync(file);
  }
}

const NOTHING = new Uint8Array(0);

function tableOf(properties: ReadonlyMap<string, Uint8Array>, bytes: number, path: string): Table {
  const number = (name: string): number => new ByteReader(properties.get(`rocksdb.${name}`) ?? NOTHING, `${name} of ${path}`).varint();
  return {
    column: new TextDecoder().decode(properties.get('rocksdb.column.family.name')),
    bytes,
    entries: number('num.entries'),
    deletions: number('deleted.keys'),
    rawBytes: number('raw.key.size') + number('raw.value.size'),
  };
}

function blockAt(file: number, at: number, size: number, path: string): Map<string, Uint8Array> {
  const bytes = readAt(file, at, Math.min(size, BLOCK_BYTES_MAX));
  const restarts = Buffer.from(bytes).readUInt32LE(bytes.length - 4);
  const entriesBytes = bytes.length - 4 * (restarts + 1);
  const reader = new ByteReader(bytes.subarray(0, Math.max(0, entriesBytes)), `a block of ${path}`);
  const rows = new Map<string, Uint8Array>();
  for (let key = ''; !reader.isAtEnd; ) {
    const [shared, unshared, length] = [reader.varint(), reader.varint(), reader.varint()];
    key = key.slice(0, shared) + Buffer.from(reader.run(unshared)).toString('latin1');
    rows.set(key, reader.run(length));
  }
  return rows;
}

function readAt(file: number, at: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  readSync(file, bytes, 0, length, at);
  return bytes;
}
