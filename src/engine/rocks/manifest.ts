/**
 * What RocksDB's manifest says of the columns: how far their tables go, and from
 * which log on they are still in the logs; and which tables there are. It is a
 * log of edits (db/version_edit.cc); each is a run of tagged fields and concerns
 * one column.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readRegular } from '../../files/regular.ts';
import { ByteReader } from '../../util/byte-writer.ts';
import { UnspentError } from '../../util/errors.ts';
import { readLog } from './log.ts';

const MANIFEST_NAME = /^MANIFEST-\d+\n$/;

/** CURRENT holds the name of the manifest and nothing else. */
const CURRENT_BYTES_MAX = 1024;

/** Tags from here on hold a length and bytes that an older reader may pass over. */
const IGNORABLE = 1 << 13;

const TAG = {
  comparator: 1,
  logNumber: 2,
  nextFile: 3,
  lastSequence: 4,
  compactCursor: 5,
  deletedFile: 6,
  previousLog: 9,
  minLogToKeep: 10,
  newFile: 103,
  column: 200,
  columnAdd: 201,
  columnDrop: 202,
  columnMax: 203,
  atomicGroup: 300,
} as const;

/** Ends the optional fields of a new file. */
const NEW_FILE_END = 1;

interface ManifestColumn {
  readonly name: string;
  /** What logs before this one hold of the column is in its tables. */
  logNumber: number;
  /** The largest sequence number that was ever in one of its tables (a compaction may set those in the tables to zero). */
  tableSequence: number;
}

export interface RocksManifest {
  readonly columns: readonly ManifestColumn[];
  /** Logs before this one are needed by nobody. */
  readonly minLogToKeep: number;
  /** When the newest edit was written. */
  readonly lastSequence: number;
  /** By log number: the last sequence number there was when the last column was given it. */
  readonly logSequences: ReadonlyMap<number, number>;
  /** Bytes of each table, by its number. */
  readonly tables: ReadonlyMap<number, number>;
  /** False: it ends in the middle of a record, because a crash cut it or it is being written. */
  readonly isWhole: boolean;
}

/** Of the database that CURRENT names. */
export function readManifest(directory: string): RocksManifest {
  return new ManifestReader(directory).read();
}

/** Reads it again and again while RocksDB adds to it: of what it has read before, no more than the last block. */
export class ManifestReader {
  readonly #directory: string;
  #path = '';
  #resumeAt = 0;
  #state = new ManifestState();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** RocksDB reads a manifest that ends in the middle of a record up to there, and so do we. */
  read(): RocksManifest {
    const current = join(this.#directory, 'CURRENT');
    const name = new TextDecoder().decode(readRegular(current, { bytesMax: CURRENT_BYTES_MAX, links: 'follow' }));
    const path = join(this.#directory, name.trimEnd());
    if (!MANIFEST_NAME.test(name) || !existsSync(path)) throw damaged(current, 'names no manifest');
    if (path !== this.#path) {
      [this.#path, this.#resumeAt, this.#state] = [path, 0, new ManifestState()];
    }
    const edits = readLog(path, Number.POSITIVE_INFINITY, this.#resumeAt);
    let next = edits.next();
    for (; !next.done; next = edits.next()) this.#state.apply(readEdit(new ByteReader(next.value, path), path), path);
    const { resumeAt, isBroken } = next.value;
    this.#resumeAt = resumeAt;
    const { minLogToKeep, lastSequence, logSequences, columns, tables } = this.#state;
    return { columns: [...columns.values()], minLogToKeep, lastSequence, logSequences, tables, isWhole: !isBroken };
  }
}

interface Edit {
  column: number;
  added?: string;
  dropped: boolean;
  logNumber?: number;
  minLogToKeep?: number;
  lastSequence?: number;
  tableSequence: number;
  readonly addedTables: NewTable[];
  readonly deletedTables: number[];
}

interface NewTable {
  readonly number: number;
  readonly bytes: number;
  readonly sequence: number;
}

class ManifestState {
  /** By their numbers. */
  readonly columns = new Map<number, ManifestColumn>([[0, newColumn('default')]]);
  readonly logSequences = new Map<number, number>();
  readonly tables = new Map<number, number>();
  minLogToKeep = 0;
  lastSequence = 0;

  apply(edit: Edit, path: string): void {
    this.lastSequence = Math.max(this.lastSequence, edit.lastSequence ?? 0);
    this.minLogToKeep = Math.max(this.minLogToKeep, edit.minLogToKeep ?? 0);
    // An edit may be read twice, and says the same then.
    if (edit.added !== undefined && !this.columns.has(edit.column)) this.columns.set(edit.column, newColumn(edit.added));
    if (edit.dropped) {
      this.columns.delete(edit.column);
      return;
    }
    const column = this.columns.get(edit.column);
    if (column === undefined) throw damaged(path, `changes column ${edit.column}, which there is not`);
    if (edit.logNumber !== undefined) {
      column.logNumber = edit.logNumber;
      this.logSequences.set(edit.logNumber, this.lastSequence);
    }
    column.tableSequence = Math.max(column.tableSequence, edit.tableSequence);
    // In this order: a table that goes to another level is deleted from the one and added to the other.
    for (const number of edit.deletedTables) this.tables.delete(number);
    for (const { number, bytes } of edit.addedTables) this.tables.set(number, bytes);
  }
}

function newColumn(name: string): ManifestColumn {
  return { name, logNumber: 0, tableSequence: 0 };
}

function readEdit(reader: ByteReader, path: string): Edit {
  const edit: Edit = { column: 0, dropped: false, tableSequence: 0, addedTables: [], deletedTables: [] };
  while (!reader.isAtEnd) {
    const tag = reader.varint();
    if (tag === TAG.column) edit.column = reader.varint();
    else if (tag === TAG.columnAdd) edit.added = new TextDecoder().decode(slice(reader));
    else if (tag === TAG.columnDrop) edit.dropped = true;
    else if (tag === TAG.logNumber) edit.logNumber = reader.varint();
    else if (tag === TAG.minLogToKeep) edit.minLogToKeep = reader.varint();
    else if (tag === TAG.lastSequence) edit.lastSequence = reader.varint();
    else if (tag === TAG.newFile) {
      const table = readNewFile(reader);
      edit.addedTables.push(table);
      edit.tableSequence = Math.max(edit.tableSequence, table.sequence);
    } else if (tag === TAG.deletedFile) {
      reader.varint();
      edit.deletedTables.push(reader.varint());
    } else if (tag === TAG.compactCursor) {
      reader.varint();
      slice(reader);
    } else if (tag === TAG.nextFile || tag === TAG.previousLog || tag === TAG.columnMax || tag === TAG.atomicGroup) reader.varint();
    else if (tag === TAG.comparator || tag >= IGNORABLE) slice(reader);
    else throw damaged(path, `has an edit with the unknown field ${tag}`);
  }
  return edit;
}

/** Level, number, size, first key, last key, smallest and largest sequence number, optional fields. */
function readNewFile(reader: ByteReader): NewTable {
  reader.varint();
  const number = reader.varint();
  const bytes = reader.varint();
  slice(reader);
  slice(reader);
  reader.varint();
  const sequence = reader.varint();
  while (reader.varint() !== NEW_FILE_END) slice(reader);
  return { number, bytes, sequence };
}

function slice(reader: ByteReader): Uint8Array {
  return reader.run(reader.varint());
}

function damaged(path: string, what: string): UnspentError {
  return new UnspentError('STORE_DAMAGED', `the store is damaged: ${path} ${what}`, { file: path });
}
