/**
 * The batch of a SQLite store: operations are copied into memory as they come
 * and written in one transaction at commit, column by column and in key order,
 * so that neighbours in the tree are touched one after the other.
 */
import { compareBytes } from '../../util/bytes.ts';
import type { Batch } from '../engine.ts';
import type { SqliteConnection } from './connection.ts';
import { CHECKSUM_BYTES, type SqliteColumn, writeChecksum } from './row.ts';
import { TALLY } from './schema.ts';

/** Memory for keys and values is taken in pieces of this size; the first is kept from one commit to the next. */
const PIECE_BYTES = 1024 * 1024;

interface Operation {
  readonly key: Buffer;
  /** Key, value and room for the checksum; null: the key is deleted. */
  readonly row: Buffer | null;
}

/** Runs the body inside a transaction, and undoes it where something goes wrong. */
export type Transact = (fsync: boolean, body: (connection: SqliteConnection) => void) => void;

export class SqliteBatch implements Batch {
  readonly #columns: ReadonlyMap<string, SqliteColumn>;
  readonly #transact: Transact;
  readonly #assertOpen: () => void;
  #operations = new Map<SqliteColumn, Operation[]>();
  #size = 0;
  readonly #first = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #piece = this.#first;
  #used = 0;

  constructor(columns: ReadonlyMap<string, SqliteColumn>, transact: Transact, assertOpen: () => void) {
    this.#columns = columns;
    this.#transact = transact;
    this.#assertOpen = assertOpen;
  }

  put(name: string, key: Uint8Array, value: Uint8Array): void {
    const row = this.#room(key.length + value.length + CHECKSUM_BYTES);
    row.set(key);
    row.set(value, key.length);
    this.#add(name, { key: row.subarray(0, key.length), row });
  }

  del(name: string, key: Uint8Array): void {
    const copy = this.#room(key.length);
    copy.set(key);
    this.#add(name, { key: copy, row: null });
  }

  get size(): number {
    return this.#size;
  }

  commit(options?: { readonly fsync?: boolean }): void {
    this.#assertOpen();
    try {
      this.#transact(options?.fsync === true, (connection) => {
        for (const [column, operations] of this.#operations) write(connection, column, operations);
      });
    } finally {
      this.clear();
    }
  }

  clear(): void {
    this.#operations = new Map();
    this.#size = 0;
    this.#piece = this.#first;
    this.#used = 0;
  }

  #add(name: string, operation: Operation): void {
    const column = this.#columns.get(name) ?? this.#unknown(name);
    const operations = this.#operations.get(column);
    if (operations === undefined) this.#operations.set(column, [operation]);
    else operations.push(operation);
    this.#size++;
  }

  #room(bytes: number): Buffer {
    if (this.#used + bytes > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, bytes));
      this.#used = 0;
    }
    const room = this.#piece.subarray(this.#used, this.#used + bytes);
    this.#used += bytes;
    return room;
  }

  #unknown(name: string): never {
    this.#assertOpen();
    throw new Error(`assertion failed: there is no column '${name}'`);
  }
}

function write(connection: SqliteConnection, column: SqliteColumn, operations: Operation[]): void {
  const [insert, update, remove] = [column.insert, column.update, column.remove].map((sql) => connection.statement(sql));
  let [rows, puts, putBytes] = [0, 0, 0];
  // Stable: of operations on one key the last stays last, and wins.
  for (const { key, row } of operations.sort((a, b) => compareBytes(a.key, b.key))) {
    if (row === null) {
      rows -= Number(remove.run(key).changes);
      continue;
    }
    writeChecksum(column, row);
    const value = row.subarray(key.length);
    // Not "insert or replace", which does not tell whether the row is new.
    if (insert.run(key, value).changes === 1) rows++;
    else update.run(key, value);
    puts++;
    putBytes += row.length;
  }
  connection.statement(TALLY).run(rows, puts, putBytes, column.spec.name);
}
